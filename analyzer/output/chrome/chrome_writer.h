// The interface inside the trace writer: what its files share, and the functions that write one kind of events each, in
// the form of the EventList.
#pragma once

#include "analyzer/analysis/selection.h"
#include "analyzer/analysis/views.h"
#include "analyzer/base/intervals.h"
#include "analyzer/base/json/json_text.h"
#include "analyzer/output/chrome/augment.h"
#include "analyzer/output/chrome/chrome_arrows.h"
#include "analyzer/output/chrome/chrome_ids.h"
#include "analyzer/output/chrome/chrome_pieces.h"
#include "analyzer/output/chrome/chrome_stacks.h"
#include "analyzer/output/chrome/chrome_trace.h"
#include "analyzer/output/chrome/event_list.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace prof::analyzer {

// Ids of arrows in a table below are different from those of launches, which are numbers of 48 bits.
inline constexpr uint64_t kForwardBackwardFlows = uint64_t{1} << 61, kDependencyFlows = uint64_t{1} << 62;

// The arrows of slices, for a form that has them in the slices. Arrows between launches and their operations are not in
// the table: they need none.
class SliceFlowTable {
 public:
  enum class Of : uint8_t { Operation, Call, Range };
  SliceFlows& of(Of table, uint32_t row) { return flows_[key(table, row)]; }
  const SliceFlows* find(Of table, uint32_t row) const {
    if (flows_.empty()) return nullptr;
    const auto found = flows_.find(key(table, row));
    return found == flows_.end() ? nullptr : &found->second;
  }

 private:
  static uint64_t key(Of table, uint32_t row) { return uint64_t{static_cast<uint8_t>(table)} << 32 | row; }
  std::unordered_map<uint64_t, SliceFlows> flows_;
};

// What all files of the writer share.
struct ChromeContext {
  const Trace& trace;
  const Views& views;
  const ChromeIds& ids;
  EventList& events;
  Augment* augment;                             // null: write only what was recorded
  ChromeArrows* arrows;                         // null: no arrows
  ChromeStacks* stacks;                         // null: no call stacks
  std::vector<bool> copied;                     // by ProcessId: its events are copied from its file or not selected
  std::vector<std::string> device_pids;         // JSON, by DeviceId: pids for counters
  std::vector<std::set<std::string>> counters;  // by ProcessId: counters of its file, as in ChromeCopy::counters()
  int64_t offset_ns = 0;                        // added to times of the model
  const SliceFlowTable* flows = nullptr;        // null: arrows are events of their own

  const Selection* selection = nullptr;  // null: everything

  // By row of the model's tables: whether an event of it is written.
  bool selects_call(uint32_t row) const {
    if (selection == nullptr) return true;
    const HostEvent& event = trace.host[row];
    return selection->has(trace, event.thread, event.begin_ns, event.end_ns) && selection->nvtx.has_call(row);
  }
  bool selects_operation(uint32_t row) const {
    return selection == nullptr || selection->has(trace, trace.operations[row]);
  }
  bool selects_range(uint32_t row) const {
    if (selection == nullptr) return true;
    const Range& range = trace.ranges[row];
    return selection->has(trace, range.thread, range.begin_ns, range.end_ns) && selection->nvtx.has_range(row);
  }
  bool selects_moment(ThreadId thread, int64_t time_ns) const {
    return selection == nullptr ||
           (selection->has(trace, thread, time_ns, time_ns) && selection->nvtx.has_moment(thread, time_ns));
  }
  bool selects_device(DeviceId device) const {
    if (selection == nullptr) return true;
    const Device& of = trace.device(device);
    return selection->has_process(of.process) &&
           (selection->devices.empty() ||
            std::find(selection->devices.begin(), selection->devices.end(), of.ordinal) != selection->devices.end());
  }
  bool in_window(int64_t begin_ns, int64_t end_ns) const {
    return selection == nullptr || selection->in_window(begin_ns, end_ns);
  }

  bool writes(ProcessId process) const { return !copied[index(process)]; }
  bool writes(DeviceId device) const { return writes(trace.device(device).process); }

  // The arrows of a call or operation; null if they are events. `launch`: the id of the arrows of a launch, 0: none.
  const SliceFlows* flows_of(EventRef event, bool has_arrows, uint64_t launch, bool launched, SliceFlows& to) const {
    if (flows == nullptr) return nullptr;
    to.clear();
    const SliceFlows* const found =
        has_arrows ? flows->find(event.is_call ? SliceFlowTable::Of::Call : SliceFlowTable::Of::Operation, event.row)
                   : nullptr;
    if (found != nullptr) to = *found;
    to.launch = launch;
    to.launched = launched;
    return &to;
  }
};

// The slices of one thread or stream that one file writes, by row. A form in which slices are written in the order of
// their begin writes the rows of several such files in turn (chrome_tracks.cpp).
class TrackRows {
 public:
  virtual ~TrackRows() = default;
  virtual void start(uint32_t place) = 0;  // row of the thread or stream; before its rows
  virtual void row(uint32_t row) = 0;
  virtual Rows rows_of(uint32_t place) const = 0;  // by begin, the outer one first
  virtual Interval interval(uint32_t row) const = 0;
};
std::unique_ptr<TrackRows> call_rows(const ChromeContext& context);
std::unique_ptr<TrackRows> range_rows(const ChromeContext& context);
std::unique_ptr<TrackRows> operation_rows(const ChromeContext& context);
std::unique_ptr<TrackRows> annotation_rows(const ChromeContext& context);
void write_tracks_in_order(const ChromeContext& context);

// Kineto's name of the synchronisation kind.
std::string_view sync_name(SyncKind kind);

void write_chrome_metadata(const ChromeContext& context);
void write_chrome_host(const ChromeContext& context);
void write_chrome_host_samples(const ChromeContext& context);
void write_chrome_ranges(const ChromeContext& context);
void write_chrome_forward_backward(const ChromeContext& context);
void add_forward_backward(const ChromeContext& context, SliceFlowTable& to);
void write_chrome_memory(const ChromeContext& context);
void write_chrome_annotations(const ChromeContext& context);  // before the operations, which they enclose
void write_chrome_gpu(const ChromeContext& context);
void write_render_stages(const ChromeContext& context);  // only in a Perfetto trace
void write_chrome_syncs(const ChromeContext& context);
void write_chrome_counter_ranges(const ChromeContext& context);
void write_chrome_counters(const ChromeContext& context);
void write_program_counters(const ChromeContext& context);  // these are recorded, so plain traces have them too

}  // namespace prof::analyzer
