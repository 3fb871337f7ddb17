// What do several analyses derive from one model? Names, categories of kernels, queue depth, busy time of devices,
// nesting: created on first use and kept. Thread-safe.
#pragma once

#include "analyzer/analysis/bursts.h"
#include "analyzer/analysis/kernel_categories.h"
#include "analyzer/analysis/stack_options.h"
#include "analyzer/base/intervals.h"
#include "analyzer/dependencies/dependencies.h"
#include "analyzer/model/event_tree.h"
#include "analyzer/model/forward_backward.h"
#include "analyzer/model/graph_origins.h"
#include "analyzer/model/names.h"
#include "analyzer/model/trace.h"
#include "analyzer/model/waiting_operations.h"

#include <map>
#include <memory>
#include <mutex>
#include <typeindex>
#include <utility>
#include <vector>

namespace prof::analyzer {

// A value that is created on first use. Concurrent callers wait for it.
template <class T> class Lazy {
 public:
  template <class Make> const T& get(Make&& make) const {
    std::call_once(once_, [&] { value_.reset(new T(make())); });
    return *value_;
  }

 private:
  mutable std::once_flag once_;
  mutable std::unique_ptr<const T> value_;
};

class Views {
 public:
  // `rules`: categories of kernels, matched before the built-in ones.
  explicit Views(const Trace& trace, CategoryRules rules = {}, StackOptions stacks = {})
      : trace_(trace), rules_(std::move(rules)), stack_options_(std::move(stacks)) {}

  const KernelNames& names() const;
  const KernelCategories& categories() const;
  const WaitingOperations& depth() const;
  // Union of the operations of each DeviceId.
  const std::vector<IntervalSet>& busy() const;
  // HostEvent row -> row of the innermost range (without Python's) around the start of the call; kNone if there is
  // none.
  const Column<uint32_t>& range_of_call() const;
  // HostEvent row -> the chain of ranges around the start of the call.
  const Column<PathId>& path_of_call() const;
  // Which launches were timed, if GPU times were taken in bursts.
  const Bursts& bursts() const;
  // Which operations and calls waited for which.
  const Dependencies& dependencies() const;
  const EventNames& event_names() const;
  // Which numbers in the names of ranges only count repetitions.
  const RangeCounters& range_counters() const;
  // event_names() without these counters.
  const EventNames& range_names() const;
  // Without Python's functions; only children with their parent's name are merged. All reports about operators use it.
  const EventTree& tree() const;
  const ForwardBackward& forward_backward() const;
  // Which call captured or added the nodes that a CUDA graph replays.
  const GraphOrigins& graph_origins() const;
  // Names of native frames. Reads the program's files on first use.
  const Symbols& symbols() const;
  const StackOptions& stack_options() const { return stack_options_; }

  // The single T of this model, created by T(trace, views) on first use. For what higher layers derive and share; this
  // header does not know them. Each T documents whether it is thread-safe.
  template <class T> T& derived() const {
    const std::lock_guard lock(derived_mutex_);
    std::shared_ptr<void>& kept = derived_[typeid(T)];
    if (!kept) kept = std::make_shared<T>(trace_, *this);
    return *static_cast<T*>(kept.get());
  }

 private:
  const Trace& trace_;
  CategoryRules rules_;
  Lazy<KernelNames> names_;
  Lazy<KernelCategories> categories_;
  Lazy<WaitingOperations> depth_;
  Lazy<std::vector<IntervalSet>> busy_;
  Lazy<Column<uint32_t>> range_of_call_;
  Lazy<Column<PathId>> path_of_call_;
  Lazy<Bursts> bursts_;
  Lazy<Dependencies> dependencies_;
  Lazy<EventNames> event_names_, range_names_;
  Lazy<RangeCounters> range_counters_;
  Lazy<EventTree> tree_;
  Lazy<ForwardBackward> forward_backward_;
  Lazy<GraphOrigins> graph_origins_;
  Lazy<Symbols> symbols_;
  StackOptions stack_options_;
  mutable std::recursive_mutex derived_mutex_;  // creating a T may require another one
  mutable std::map<std::type_index, std::shared_ptr<void>> derived_;
};

}  // namespace prof::analyzer
