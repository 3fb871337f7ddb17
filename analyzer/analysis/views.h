// What several analyses need of one model, made when first asked for and kept: names, categories of kernels, queue depth,
// busy time of devices, nesting. One thread asks.
#pragma once

#include "analyzer/analysis/kernel_categories.h"
#include "analyzer/model/dependencies.h"
#include "analyzer/model/event_tree.h"
#include "analyzer/model/forward_backward.h"
#include "analyzer/model/graph_origins.h"
#include "analyzer/model/intervals.h"
#include "analyzer/model/names.h"
#include "analyzer/model/queue_depth.h"
#include "analyzer/model/trace.h"

#include <optional>
#include <utility>
#include <vector>

namespace prof::analyzer {

class Views {
 public:
  // `rules`: categories of kernels, tested before the built-in ones.
  explicit Views(const Trace& trace, CategoryRules rules = {}) : trace_(trace), rules_(std::move(rules)) {}

  const KernelNames& names() const;
  const KernelCategories& categories() const;
  const QueueDepth& depth() const;
  // Union of the operations of each DeviceId.
  const std::vector<IntervalSet>& busy() const;
  // HostEvent row -> row of the innermost range (but Python's) its thread was in when it was entered, kNone if in none.
  const Column<uint32_t>& range_of_call() const;
  // Which work waited for which.
  const Dependencies& dependencies() const;
  const EventNames& event_names() const;
  // Without Python's functions, only children of their parent's name merged: what every answer about operators is about.
  const EventTree& tree() const;
  const ForwardBackward& forward_backward() const;
  // Which call captured or added what a CUDA graph replays.
  const GraphOrigins& graph_origins() const;

 private:
  const Trace& trace_;
  CategoryRules rules_;
  mutable std::optional<KernelNames> names_;
  mutable std::optional<KernelCategories> categories_;
  mutable std::optional<QueueDepth> depth_;
  mutable std::optional<std::vector<IntervalSet>> busy_;
  mutable std::optional<Column<uint32_t>> range_of_call_;
  mutable std::optional<Dependencies> dependencies_;
  mutable std::optional<EventNames> event_names_;
  mutable std::optional<EventTree> tree_;
  mutable std::optional<ForwardBackward> forward_backward_;
  mutable std::optional<GraphOrigins> graph_origins_;
};

}  // namespace prof::analyzer
