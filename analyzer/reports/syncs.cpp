// syncs: which calls made a thread wait for the GPU, on what, and was the GPU busy meanwhile? It lists synchronisation
// calls, and copies that returned only after they were done. Definitions: docs/reports/syncs.md.
#include "analyzer/analysis/stacks/stack_groups.h"
#include "analyzer/base/saturated.h"
#include "analyzer/dependencies/recorded_events.h"
#include "analyzer/model/event_names.h"
#include "analyzer/reports/reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

namespace prof::analyzer {

namespace {

// What a call waited for. `stream`: row of Trace::streams, or kNone if it is the whole process or unknown.
struct Target {
  enum What : uint8_t { Stream, Event, Device, Copy } what = Device;
  uint32_t stream = kNone;
  bool operator<(const Target& other) const { return std::tie(what, stream) < std::tie(other.what, other.stream); }
};

class Targets {
 public:
  Targets(const Trace& trace, const CallTable& calls) : trace_(trace), calls_(calls) {
    for (const SyncEvent& sync : trace.syncs) {
      if (sync.call != kNone) reported_.try_emplace(sync.call, &sync);
    }
    // A copy that returned after its operations ended has waited for them.
    for (const GpuOperation& operation : trace.operations) {
      if (!operation.linked() || operation.has_kernel()) continue;
      const HostEvent& launch = trace.host[operation.launch];
      if (launch.kind() == HostKind::MemoryLaunch && launch.end_ns >= operation.end_ns &&
          operation.end_ns > operation.start_ns)
        copies_.push_back({operation.launch, operation.stream_index});
    }
    std::sort(copies_.begin(), copies_.end());
    for (const EventWait& wait : event_waits(trace, calls)) {
      if (wait.recorded && calls.role(trace.host[wait.call]) == CallRole::Synchronize) events_[wait.call] = wait.stream;
    }
  }

  // Returns false if the call waits for nothing.
  bool of(uint32_t row, Target& target) const {
    const HostEvent& event = trace_.host[row];
    if (event.is_launch()) {
      const auto found = std::lower_bound(copies_.begin(), copies_.end(), std::pair{row, 0u});
      if (found == copies_.end() || found->first != row) return false;
      target = {Target::Copy, found->second};
      return true;
    }
    if (calls_.role(event) != CallRole::Synchronize) return false;
    if (const auto found = reported_.find(row); found != reported_.end()) {
      const SyncEvent& sync = *found->second;
      switch (sync.kind) {
        case SyncKind::Stream: target = {Target::Stream, sync.stream}; return true;
        case SyncKind::Event:
          target = {Target::Event, sync.waits_for != kNone ? sync.waits_for : sync.stream};
          return true;
        case SyncKind::Context: target = {Target::Device, kNone}; return true;
        default: break;
      }
    }
    const std::string_view api = trace_.api_name(event);
    if (api.find("Stream") != std::string_view::npos) {
      target = {Target::Stream, trace_.host_streams[index(event.stream)].stream};
    } else if (api.find("Event") != std::string_view::npos) {
      const auto found = events_.find(row);
      target = {Target::Event, found == events_.end() ? kNone : found->second};
    } else {
      target = {Target::Device, kNone};
    }
    return true;
  }

 private:
  const Trace& trace_;
  const CallTable& calls_;
  std::unordered_map<uint32_t, const SyncEvent*> reported_;
  std::vector<std::pair<uint32_t, uint32_t>> copies_;  // (call, stream)
  std::unordered_map<uint32_t, uint32_t> events_;      // call -> stream
};

// Outstanding operations of a stream or of all streams of a process, and when they ran. Computed at the first query.
class SyncWork {
 public:
  explicit SyncWork(const AnalysisInput& input) : input_(input) {}

  bool outstanding(uint32_t process, uint32_t stream, int64_t time_ns) {
    const std::vector<DepthStep>& steps = of(process, stream).steps;
    const auto after = std::partition_point(steps.begin(), steps.end(),
                                            [&](const DepthStep& step) { return step.time_ns <= time_ns; });
    return after != steps.begin() && after[-1].outstanding > 0;
  }
  int64_t busy_ns(uint32_t process, int64_t begin_ns, int64_t end_ns) {
    return of(process, kNone).busy.overlap_ns(begin_ns, end_ns);
  }

 private:
  struct Known {
    std::vector<DepthStep> steps;
    IntervalSet busy;  // by all devices of the process
  };
  const Known& of(uint32_t process, uint32_t stream) {
    const auto [found, added] = known_.try_emplace({process, stream});
    Known& known = found->second;
    if (!added) return known;
    const Trace& trace = input_.trace;
    std::vector<StreamId> streams;
    for (uint32_t s = 0; s < trace.streams.size(); ++s) {
      if (trace.streams[s].operations.size() == 0) continue;
      if (stream == kNone ? index(trace.process_of(StreamId{s})) == process : s == stream)
        streams.push_back(StreamId{s});
    }
    input_.views.depth().for_each_step(streams, [&](const DepthStep& step) { known.steps.push_back(step); });
    if (stream != kNone) return known;
    for (uint32_t d = 0; d < trace.devices.size(); ++d) {
      if (index(trace.devices[d].process) == process) known.busy = known.busy.unite(input_.views.busy()[d]);
    }
    return known;
  }

  const AnalysisInput& input_;
  std::map<std::pair<uint32_t, uint32_t>, Known> known_;
};

struct SyncSum {
  uint64_t calls = 0, blocked = 0;
  int64_t time_ns = 0, longest_ns = 0, busy_ns = 0;
  std::unordered_map<uint32_t, int64_t> ranges;  // name of the innermost range -> time
};

std::string target_text(const Trace& trace, const Target& target) {
  constexpr std::string_view kWhat[] = {"stream", "event", "device", "copy"};
  const std::string_view what = kWhat[target.what];
  if (target.stream == kNone) return std::string(what);
  const uint32_t number = trace.streams[target.stream].number;
  return target.what == Target::Stream ? fmt::format("stream {}", number)
                                       : fmt::format("{} on stream {}", what, number);
}

}  // namespace

Table report_syncs(const AnalysisInput& input) {
  const Trace& trace = input.trace;
  StackGroups stacks(input.views, StackGroups::parse_only("syncs", input.options.group_by));
  Table table("syncs", "Calls that waited for the GPU");
  table.add_columns({ColumnId::pid, ColumnId::tid, ColumnId::call, ColumnId::waits_for, ColumnId::calls,
                     ColumnId::blocked, ColumnId::time, ColumnId::mean, ColumnId::max, ColumnId::gpu_busy,
                     ColumnId::gpu_idle, ColumnId::top_range});
  stacks.add_column(table);
  table.notes.push_back(
      "blocked: what it waits for had unfinished work when the call was entered; GPU busy and idle: all devices of the "
      "process");

  const CallTable calls(trace);
  const Targets targets(trace, calls);
  const EventNames& names = input.views.event_names();
  SyncWork work(input);
  using Key =
      std::tuple<uint32_t, StringId, Target, uint32_t>;  // (thread, name of the call, target, group of its stack)
  std::map<Key, SyncSum> sums;
  for (uint32_t row = 0; row < trace.host.size(); ++row) {
    const HostEvent& event = trace.host[row];
    Target target;
    if (event.has(kHostNested) || !targets.of(row, target)) continue;  // the enclosing call waited
    const Thread& thread = trace.thread(event.thread);
    if (!input.selection.has_thread(thread) || !input.selection.in_window(event.begin_ns, event.end_ns)) continue;
    if (!input.selection.nvtx.has_call(row)) continue;
    const bool narrowed = !input.selection.devices.empty() || !input.selection.streams.empty();
    if (narrowed && (target.stream == kNone || !input.selection.has_stream(trace, trace.streams[target.stream])))
      continue;
    SyncSum& sum = sums[{index(event.thread), names.of(event), target, stacks.of_call(row)}];
    const int64_t ns = std::max<int64_t>(0, event.duration_ns());
    ++sum.calls;
    sum.time_ns = add_saturated(sum.time_ns, ns);
    sum.longest_ns = std::max(sum.longest_ns, ns);
    const uint32_t process = index(thread.process);
    const bool blocked = target.what == Target::Copy || work.outstanding(process, target.stream, event.begin_ns);
    sum.blocked += blocked ? 1 : 0;
    sum.busy_ns = add_saturated(sum.busy_ns, work.busy_ns(process, event.begin_ns, event.end_ns));
    const uint32_t range = input.views.range_of_call()[row];
    if (range != kNone) sum.ranges[static_cast<uint32_t>(names.of(trace.ranges[range]))] += ns;
  }
  std::vector<std::pair<Key, const SyncSum*>> rows;
  for (const auto& [key, sum] : sums) rows.emplace_back(key, &sum);
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.second->time_ns > b.second->time_ns; });
  for (const auto& [key, sum] : rows) {
    const auto& [thread, call, target, stack] = key;
    Table::Row row = table.row();
    row.add_owner(trace.threads[thread].process).add(trace.threads[thread].tid);
    row.add(names.text(call)).add(std::string_view(target_text(trace, target)));
    row.add(sum->calls).add(sum->blocked).add(sum->time_ns);
    const int64_t mean_ns = sum->time_ns / static_cast<int64_t>(sum->calls);
    row.add(static_cast<double>(mean_ns));
    row.add(sum->longest_ns).add(sum->busy_ns).add(sum->time_ns - sum->busy_ns);
    std::pair<uint32_t, int64_t> most{kNone, -1};
    for (const auto& [name, ns] : sum->ranges) {
      if (ns > most.second || (ns == most.second && name < most.first)) most = {name, ns};
    }
    if (most.first != kNone) {
      row.add(names.text(StringId{most.first}));
    } else {
      row.empty();
    }
    stacks.add_cell(row, stack);
  }
  return table;
}

}  // namespace prof::analyzer
