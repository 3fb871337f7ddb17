// Arrows of the Chrome trace beyond those of launches and of autograd. Category "dependency": between a wait and what
// it waited for. Category "critical path": where the critical path goes from one thread or stream to another. They are
// written after all events, because both ends must be known. Everything that writes or copies events reports the track
// of each event that has an arrow.
#pragma once

#include "analyzer/analysis/critical/event_bounds.h"
#include "analyzer/model/trace.h"

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace prof::analyzer {

class EventList;
class SliceFlowTable;
struct ChromeContext;

enum class ArrowKinds : uint8_t { None, CriticalPath, All };

class ChromeArrows {
 public:
  ChromeArrows(const Trace& trace, const EventBounds& bounds, ArrowKinds kinds);

  bool wants_call(uint32_t row) const { return !calls_.empty() && calls_[row]; }
  bool wants_operation(uint32_t row) const { return !operations_.empty() && operations_[row]; }
  // Reports that the event of the row was written on this track: EventList::track().
  void put(EventRef event, const std::string& track);
  // No arrows of this category are added for these processes. Their file already has such flows, because `prof trace`
  // wrote it.
  void keep(std::string_view category, Rows processes);

  // Writes the arrows whose ends were both reported with put(). `offset_ns` is added to times of the model.
  void write(EventList& events, int64_t offset_ns) const;
  // Adds the arrows between slices that are written from the model, before these are written.
  void add_to(SliceFlowTable& flows, const ChromeContext& context) const;

 private:
  struct Arrows {
    std::string_view category;
    std::vector<EventLink> links;
    std::vector<bool> kept;  // by ProcessId
  };
  static uint64_t key(EventRef event) { return uint64_t{event.is_call} << 32 | event.row; }
  uint32_t process_of(EventRef event) const;
  int64_t begin_ns(EventRef event) const;
  int64_t arrival_ns(const EventLink& link) const;

  const Trace& trace_;
  std::vector<Arrows> arrows_;
  std::vector<bool> calls_, operations_;  // rows with arrows; empty if there are none
  std::unordered_map<uint64_t, const std::string*> tracks_of_;
  std::set<std::string> tracks_;
};

}  // namespace prof::analyzer
