// Which process launched what on which GPU; names of processes, threads and devices. A file holds several processes when
// traces were merged: device numbers, streams and correlation ids then mean something only within one of them.
#include "analyzer/base/json/json_decimal.h"
#include "analyzer/input/kineto/kineto_model.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace prof::analyzer {

namespace {

// Calls with their process, to be searched by correlation id.
struct Call {
  uint64_t external;
  int64_t begin_ns;
  uint32_t correlation;
  uint32_t process;
};

}  // namespace

// The process in which the arrow to the operation begins; kNone: there is none, or arrows of several processes have its id.
uint32_t KinetoModel::process_by_flows(const GpuOperation& operation) {
  const auto by_place = [](const Flow& a, const Flow& b) {
    return std::tie(a.time_ns, a.pid, a.number) < std::tie(b.time_ns, b.pid, b.number);
  };
  const auto by_id = [](const Flow& a, const Flow& b) { return a.id < b.id; };
  if (!std::exchange(flows_sorted_, true)) {
    std::sort(flow_starts_.begin(), flow_starts_.end(), by_id);
    std::sort(flow_ends_.begin(), flow_ends_.end(), by_place);
  }
  const StreamKey& stream = streams_[operation.stream_index];
  const auto ends = std::equal_range(flow_ends_.begin(), flow_ends_.end(),
                                     Flow{operation.start_ns, 0, stream.pid, stream.number}, by_place);
  uint32_t process = kNone;
  for (auto end = ends.first; end != ends.second; ++end) {
    const auto starts = std::equal_range(flow_starts_.begin(), flow_starts_.end(), *end, by_id);
    for (auto start = starts.first; start != starts.second; ++start) {
      const auto known = processes_.find(start->pid);
      if (known == processes_.end() || (process != kNone && process != known->second)) return kNone;
      process = known->second;
    }
  }
  return process;
}

// The process of each new operation, then of each new sync.
std::vector<uint32_t> KinetoModel::launching_processes() {
  std::vector<Call> calls;
  for (uint32_t row = mark_.host; row < trace_.host.size(); ++row) {
    const HostEvent& event = trace_.host[row];
    if (event.correlation == 0) continue;
    calls.push_back({host_external_[row - mark_.host], event.begin_ns, event.correlation,
                     index(trace_.thread(event.thread).process)});
  }
  std::sort(calls.begin(), calls.end(), [](const Call& a, const Call& b) {
    return a.correlation != b.correlation ? a.correlation < b.correlation : a.begin_ns < b.begin_ns;
  });
  const auto find = [&](uint32_t correlation, uint64_t external, int64_t start_ns, const GpuOperation* operation) {
    const auto same = std::equal_range(calls.begin(), calls.end(), Call{0, 0, correlation, 0},
                                       [](const Call& a, const Call& b) { return a.correlation < b.correlation; });
    const auto first = same.first, last = same.second;
    if (correlation == 0 || first == last) return kNone;
    if (std::all_of(first, last, [&](const Call& call) { return call.process == first->process; }))
      return first->process;
    uint32_t process = kNone;
    bool one = true;
    for (auto call = first; call != last && external != 0; ++call) {
      if (call->external != external) continue;
      one = one && (process == kNone || process == call->process);
      process = call->process;
    }
    if (process != kNone && one) return process;
    process = operation == nullptr ? kNone : process_by_flows(*operation);
    if (process != kNone && std::any_of(first, last, [&](const Call& call) { return call.process == process; }))
      return process;
    aside(KinetoAside::AmbiguousProcess);
    process = first->process;
    for (auto call = first; call != last && call->begin_ns <= start_ns; ++call) process = call->process;
    return process;
  };
  std::vector<uint32_t> processes;
  for (uint32_t row = mark_.operations; row < trace_.operations.size(); ++row) {
    const GpuOperation& operation = trace_.operations[row];
    processes.push_back(
        find(operation.correlation, operation_external_[row - mark_.operations], operation.start_ns, &operation));
  }
  for (uint32_t row = mark_.syncs; row < trace_.syncs.size(); ++row)
    processes.push_back(find(trace_.syncs[row].correlation, 0, trace_.syncs[row].end_ns, nullptr));
  return processes;
}

uint32_t KinetoModel::device_row(uint32_t process, uint32_t ordinal) {
  const auto [device, added] = devices_.try_emplace({process, ordinal}, row_count(trace_.devices));
  if (added) {
    Device& row = trace_.devices.emplace_back();
    row.process = ProcessId{process};
    row.ordinal = ordinal;
  }
  return device->second;
}

uint32_t KinetoModel::stream_row(uint32_t process, uint32_t key) {
  const auto [found, added] = stream_rows_.try_emplace({process, key}, 0);
  if (!added) return found->second;
  const StreamKey& of = streams_[key];
  const uint32_t device = device_row(process, of.device);
  // The pid of a GPU event says no more than its device: the same stream under two pids is one.
  const auto [same, first] = same_stream_.try_emplace({device, of.context, of.number}, row_count(trace_.streams));
  if (!first) return found->second = same->second;
  found->second = row_count(trace_.streams);
  Stream& row = trace_.streams.emplace_back();
  row.device = DeviceId{device};
  row.context = of.context;
  row.number = of.number;
  return found->second;
}

void KinetoModel::give_streams(const KinetoHeader& header) {
  const uint32_t first = mark_.processes;
  std::vector<uint32_t> process_of;
  const bool several = row_count(trace_.processes) - first > 1;
  if (several) process_of = launching_processes();
  // What nobody launched goes to the process that uses that stream most.
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> uses;  // (key, process)
  const size_t operations = trace_.operations.size() - mark_.operations;
  for (size_t i = 0; several && i < operations; ++i) {
    if (process_of[i] != kNone) ++uses[{uint32_t{trace_.operations[mark_.operations + i].stream_index}, process_of[i]}];
  }
  std::vector<uint32_t> owner(streams_.size(), first);
  std::vector<uint64_t> most(streams_.size());
  for (const auto& [use, count] : uses) {
    if (count > most[use.first]) most[use.first] = count, owner[use.first] = use.second;
  }
  for (size_t i = 0; i < operations; ++i) {
    GpuOperation& row = trace_.operations[mark_.operations + i];
    const uint32_t key = row.stream_index;
    uint32_t process = several ? process_of[i] : first;
    if (process == kNone) {
      process = owner[key];
      aside(KinetoAside::NoProcess);
    }
    row.stream_index = stream_row(process, key) & ((1u << 29) - 1);
  }
  for (uint32_t i = mark_.syncs; i < trace_.syncs.size(); ++i) {
    SyncEvent& row = trace_.syncs[i];
    uint32_t process = several ? process_of[operations + i - mark_.syncs] : first;
    const uint32_t key = row.stream != kNone ? row.stream : row.waits_for;
    if (process == kNone) process = key == kNone ? first : owner[key];
    row.process = process;
    if (row.stream != kNone) row.stream = stream_row(process, row.stream);
    if (row.waits_for != kNone) row.waits_for = stream_row(process, row.waits_for);
  }
  // Annotations on a GPU name no context: that of the operations beside them.
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> context_of;  // (device, number) -> key with operations
  for (uint32_t key = 0; key < streams_.size(); ++key) {
    if (most[key] != 0 || stream_rows_.contains({owner[key], key}))
      context_of.try_emplace({streams_[key].device, streams_[key].number}, key);
  }
  for (uint32_t i = mark_.gpu_annotations; i < trace_.gpu_annotations.size(); ++i) {
    GpuAnnotation& row = trace_.gpu_annotations[i];
    uint32_t key = index(row.stream);
    const auto beside = context_of.find({streams_[key].device, streams_[key].number});
    if (beside != context_of.end()) key = beside->second;
    row.stream = StreamId{stream_row(owner[key], key)};
  }
  for (uint32_t d = mark_.devices; d < trace_.devices.size(); ++d) {
    for (const KinetoDevice& device : header.devices) {
      if (device.ordinal != trace_.devices[d].ordinal) continue;
      trace_.devices[d].name = device.name;
      trace_.devices[d].properties = device.properties;
    }
  }
}

void KinetoModel::name_all(const KinetoHeader& header) {
  for (const auto& [pid, process] : processes_) {
    const auto name = process_names_.find(pid);
    if (name != process_names_.end() && trace_.processes[process].executable.empty())
      trace_.processes[process].executable = trace_.strings[StringId{name->second}];
  }
  for (const auto& [key, thread] : threads_) {
    const auto name = thread_names_.find(key);
    if (name != thread_names_.end()) trace_.threads[thread].name = trace_.strings[StringId{name->second}];
    int64_t pid = 0;
    if (trace_.threads[thread].name.empty() &&
        to_int64(trace_.strings[StringId{static_cast<uint32_t>(key >> 32)}], pid) == DecimalResult::Ok && pid < 0)
      trace_.threads[thread].name = "profiler overhead";
  }
  for (uint32_t p = mark_.processes; p < trace_.processes.size(); ++p) trace_.processes[p].facts = header.facts;
}

// What was set aside and what is damaged, in the first process of the file.
void KinetoModel::tell(const KinetoHeader& header, std::vector<KinetoDamage> damage) {
  static constexpr std::string_view kTexts[] = {
#define KINETO_ASIDE(name, text) text,
#include "analyzer/input/kineto/kineto_aside.def"
#undef KINETO_ASIDE
  };
  Process& process = trace_.processes[mark_.processes];
  process.facts.emplace_back("events", std::to_string(events_));
  for (const auto& [category, count] : counts_) process.facts.emplace_back("events " + category, std::to_string(count));
  for (size_t i = 0; i < std::size(kTexts); ++i) {
    if (aside_[i] != 0)
      process.facts.emplace_back("set aside", std::to_string(aside_[i]) + " " + std::string(kTexts[i]));
  }
  for (const std::string& fact : counter_facts_) process.facts.emplace_back("hardware counters", fact);
  std::vector<KinetoDamage> all = std::move(damage);
  for (const std::string& what : header.unread) all.push_back({0, what});
  const uint64_t untold = damaged_ - damage_.size();
  all.insert(all.end(), damage_.begin(), damage_.end());
  std::stable_sort(all.begin(), all.end(),
                   [](const KinetoDamage& a, const KinetoDamage& b) { return a.offset < b.offset; });
  for (const KinetoDamage& each : all)
    process.damage.push_back(path_ + ": " + each.what + " (at offset " + std::to_string(each.offset) + " of the text)");
  if (untold != 0) process.damage.push_back(path_ + ": " + std::to_string(untold) + " more events are no JSON");
  process.finished = all.empty();
}

}  // namespace prof::analyzer
