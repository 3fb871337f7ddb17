#include "analyzer/output/chrome/chrome_arrows.h"

#include "analyzer/output/chrome/chrome_writer.h"

#include <fmt/format.h>

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
    const std::string name = fmt::format(",\"cat\":\"{0}\",\"name\":\"{0}\",", arrows.category);
    for (const EventLink& link : arrows.links) {
      const auto from = tracks_of_.find(key(link.from)), to = tracks_of_.find(key(link.to));
      if (from == tracks_of_.end() || to == tracks_of_.end() || arrows.kept[process_of(link.from)]) continue;
      const int64_t begin = begin_ns(link.from), arrival = arrival_ns(link);
      if (arrival < begin) continue;  // a damaged trace has such times
      const uint64_t id = ChromeIds::correlation(process, ++number);
      for (const bool start : {true, false}) {
        const std::string& track = start ? *from->second : *to->second;
        char* at = events.begin(track.size() + name.size() + 96);
        at = put_decimal(put_bytes(at, start ? "{\"ph\":\"s\",\"id\":" : "{\"ph\":\"f\",\"bp\":\"e\",\"id\":"), id);
        at = put_bytes(put_bytes(at, name), track);
        events.end(put_bytes(put_micros(at, (start ? begin : arrival) + offset_ns), "}"));
      }
    }
  }
}

}  // namespace prof::analyzer
