#include "analyzer/output/chrome/chrome_arrows.h"

#include "analyzer/output/chrome/chrome_writer.h"

#include <algorithm>

namespace prof::analyzer {

ChromeArrows::ChromeArrows(const Trace& trace, const EventBounds& bounds, ArrowKinds kinds) : trace_(trace) {
  if (kinds != ArrowKinds::None) arrows_.push_back({"critical path", bounds.path_links(), {}});
  if (kinds == ArrowKinds::All) arrows_.push_back({"dependency", bounds.dependencies(), {}});
  for (Arrows& arrows : arrows_) {
    arrows.kept.resize(trace.processes.size());
    if (arrows.links.empty()) continue;
    calls_.resize(trace.host.size());
    operations_.resize(trace.operations.size());
    for (const EventLink& link : arrows.links) {
      for (const EventRef event : {link.from, link.to}) (event.is_call ? calls_ : operations_)[event.row] = true;
    }
  }
}

void ChromeArrows::put(EventRef event, const std::string& track) {
  tracks_of_.emplace(key(event), &*tracks_.insert(track).first);
}

void ChromeArrows::keep(std::string_view category, Rows processes) {
  for (Arrows& arrows : arrows_) {
    if (arrows.category == category) {
      std::fill(arrows.kept.begin() + processes.first, arrows.kept.begin() + processes.last, true);
    }
  }
}

uint32_t ChromeArrows::process_of(EventRef event) const {
  return index(event.is_call ? trace_.thread(trace_.host[event.row].thread).process
                             : trace_.process_of(trace_.operations[event.row].stream()));
}

int64_t ChromeArrows::begin_ns(EventRef event) const {
  return event.is_call ? trace_.host[event.row].begin_ns : trace_.operations[event.row].start_ns;
}

// The arrow ends at the start of its target. If the target is a waiting call that started earlier, it ends one
// nanosecond before the end of that call. Readers select the slice that is open at this moment.
int64_t ChromeArrows::arrival_ns(const EventLink& link) const {
  const int64_t begin = begin_ns(link.to), from = begin_ns(link.from);
  if (begin >= from || !link.to.is_call) return begin;
  return std::max(trace_.host[link.to.row].end_ns - 1, from);
}

void ChromeArrows::write(EventList& events, int64_t offset_ns) const {
  // No process has this number, so these ids are different from those of all other flows.
  const ProcessId process{static_cast<uint32_t>(trace_.processes.size())};
  uint32_t number = 0;
  for (const Arrows& arrows : arrows_) {
    for (const EventLink& link : arrows.links) {
      const auto from = tracks_of_.find(key(link.from)), to = tracks_of_.find(key(link.to));
      if (from == tracks_of_.end() || to == tracks_of_.end() || arrows.kept[process_of(link.from)]) continue;
      const int64_t begin = begin_ns(link.from), arrival = arrival_ns(link);
      if (arrival < begin) continue;  // a damaged trace has such times
      const uint64_t id = ChromeIds::correlation(process, ++number);
      events.flow(true, id, arrows.category, *from->second, begin + offset_ns);
      events.flow(false, id, arrows.category, *to->second, arrival + offset_ns);
    }
  }
}

void ChromeArrows::add_to(SliceFlowTable& flows, const ChromeContext& context) const {
  const auto flows_of = [&](EventRef event) -> SliceFlows& {
    return flows.of(event.is_call ? SliceFlowTable::Of::Call : SliceFlowTable::Of::Operation, event.row);
  };
  const auto selected = [&](EventRef event) {
    return event.is_call ? context.selects_call(event.row) : context.selects_operation(event.row);
  };
  uint64_t number = 0;
  for (const Arrows& arrows : arrows_) {
    for (const EventLink& link : arrows.links) {
      const int64_t begin = begin_ns(link.from), arrival = arrival_ns(link);
      if (arrival < begin || !context.writes(ProcessId{process_of(link.from)}) ||
          !context.writes(ProcessId{process_of(link.to)}))
        continue;
      if (!selected(link.from) || !selected(link.to)) continue;
      const uint64_t id = kDependencyFlows | ++number;
      flows_of(link.from).out.push_back(id);
      SliceFlows& to = flows_of(link.to);
      (arrival == begin_ns(link.to) ? to.in : to.in_at_end).push_back(id);
    }
  }
}

}  // namespace prof::analyzer
