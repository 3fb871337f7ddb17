// What several analyses need of one model, made when first asked for and kept: names, categories of kernels, queue depth,
// busy time of devices, nesting. Several threads may ask.
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

// A value that is made when first asked for; who asks meanwhile waits.
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
  // `rules`: categories of kernels, tested before the built-in ones.
  explicit Views(const Trace& trace, CategoryRules rules = {}, StackOptions stacks = {})
      : trace_(trace), rules_(std::move(rules)), stack_options_(std::move(stacks)) {}

  const KernelNames& names() const;
  const KernelCategories& categories() const;
  const QueueDepth& depth() const;
  // Union of the operations of each DeviceId.
  const std::vector<IntervalSet>& busy() const;
  // HostEvent row -> row of the innermost range (but Python's) its thread was in when it was entered, kNone if in none.
  const Column<uint32_t>& range_of_call() const;
  // HostEvent row -> the chain of ranges its thread was in when it was entered.
  const Column<PathId>& path_of_call() const;
  // Which launches were timed, where GPU times were taken in bursts.
  const Bursts& bursts() const;
  // Which work waited for which.
  const Dependencies& dependencies() const;
  const EventNames& event_names() const;
  // Without Python's functions, only children of their parent's name merged: what every answer about operators is about.
  const EventTree& tree() const;
  const ForwardBackward& forward_backward() const;
  // Which call captured or added what a CUDA graph replays.
  const GraphOrigins& graph_origins() const;
  // Names of native frames: reads the files of the program when first asked for.
  const Symbols& symbols() const;
  const StackOptions& stack_options() const { return stack_options_; }

  // The one T of this model, made by T(trace, views) when first asked for: for what layers above this one derive and share, which
  // this header does not know. T itself says whether several threads may use it.
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
  Lazy<QueueDepth> depth_;
  Lazy<std::vector<IntervalSet>> busy_;
  Lazy<Column<uint32_t>> range_of_call_;
  Lazy<Column<PathId>> path_of_call_;
  Lazy<Bursts> bursts_;
  Lazy<Dependencies> dependencies_;
  Lazy<EventNames> event_names_;
  Lazy<EventTree> tree_;
  Lazy<ForwardBackward> forward_backward_;
  Lazy<GraphOrigins> graph_origins_;
  Lazy<Symbols> symbols_;
  StackOptions stack_options_;
  mutable std::recursive_mutex derived_mutex_;  // a T may ask for another one
  mutable std::map<std::type_index, std::shared_ptr<void>> derived_;
};

}  // namespace prof::analyzer
