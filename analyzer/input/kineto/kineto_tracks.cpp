// GPU work that says so only by the name of its track: XLA's profiler (JAX) writes every event without a category, on
// processes "/device:GPU:0" with threads "Stream #14(Compute)" and derived ones ("XLA Ops", "Steps"); Triton's proton writes
// kernels on threads "GPU Stream 7" of the one process it has.
#include "analyzer/base/json/json_decimal.h"
#include "analyzer/input/kineto/kineto_model.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace prof::analyzer {

namespace {

// The number behind a word: "Stream #14(Compute)", "Stream #" -> 14.
std::optional<uint32_t> number_after(std::string_view text, std::string_view word) {
  const size_t at = text.find(word);
  if (at == std::string_view::npos) return std::nullopt;
  uint32_t number = 0;
  const char* const begin = text.data() + at + word.size();
  const char* const end = text.data() + text.size();
  if (std::from_chars(begin, end, number).ec != std::errc()) return std::nullopt;
  return number;
}

std::optional<uint32_t> device_of(std::string_view process_name) {
  const std::optional<uint32_t> device = number_after(process_name, "/device:GPU:");
  return device ? device : number_after(process_name, "/device:gpu:");
}

std::optional<uint32_t> stream_of(std::string_view thread_name) {
  const std::optional<uint32_t> stream = number_after(thread_name, "Stream #");
  return stream ? stream : number_after(thread_name, "GPU Stream ");
}

bool is_cuda_call(std::string_view name) {
  for (const std::string_view prefix : {"cuda", "cu", "hip"}) {
    if (name.starts_with(prefix) && name.size() > prefix.size() && name[prefix.size()] >= 'A' &&
        name[prefix.size()] <= 'Z' && name.find(' ') == std::string_view::npos)
      return true;
  }
  return false;
}

// "regs:32 static_shared:0 dynamic_shared:64 grid:4,1,1 block:128,1,1 occ_pct:100"
void read_kernel_details(std::string_view text, Kernel& kernel) {
  const auto shape = [&](std::string_view key, uint32_t(&to)[3]) {
    const size_t at = text.find(key);
    if (at == std::string_view::npos) return;
    const std::string_view rest = text.substr(at + key.size());
    if (!read_shape(rest.substr(0, rest.find_first_not_of("0123456789,")), to)) std::fill(to, to + 3, 0);
  };
  shape("grid:", kernel.grid);
  shape("block:", kernel.block);
  kernel.registers = number_after(text, "regs:").value_or(0);
  kernel.static_shared_bytes = number_after(text, "static_shared:").value_or(0);
  kernel.dynamic_shared_bytes = number_after(text, "dynamic_shared:").value_or(0);
}

}  // namespace

// proton's kernels name a lane; the lane's name has the stream.
void KinetoModel::name_streams() {
  std::map<std::pair<uint32_t, int64_t>, uint32_t> stream_of_lane;  // (pid text, lane) -> stream
  for (const auto& [track, name] : thread_names_) {
    int64_t lane = 0;
    const std::optional<uint32_t> stream = number_after(trace_.strings[StringId{name}], "GPU Stream ");
    if (stream && to_int64(trace_.strings[StringId{static_cast<uint32_t>(track)}], lane) == DecimalResult::Ok)
      stream_of_lane[{static_cast<uint32_t>(track >> 32), lane}] = *stream;
  }
  for (StreamKey& key : streams_) {
    const auto found = stream_of_lane.find({key.pid, int64_t{key.number}});
    if (found != stream_of_lane.end()) key.number = found->second;
  }
}

void KinetoModel::take_gpu_tracks() {
  std::vector<Track> tracks(trace_.threads.size());
  bool any = false;
  for (const auto& [key, thread] : threads_) {
    const auto process_name = process_names_.find(static_cast<uint32_t>(key >> 32));
    if (process_name == process_names_.end()) continue;
    const std::optional<uint32_t> device = device_of(trace_.strings[StringId{process_name->second}]);
    if (!device) continue;
    any = true;
    const auto name = thread_names_.find(key);
    const std::optional<uint32_t> stream =
        name == thread_names_.end() ? std::nullopt : stream_of(trace_.strings[StringId{name->second}]);
    tracks[thread].kind = stream ? Track::Stream : Track::Derived;
    tracks[thread].key = {static_cast<uint32_t>(key >> 32), *device, 0, stream.value_or(0)};
  }
  if (!any) return;
  for (Track& track : tracks) {
    if (track.kind == Track::Stream) track.stream = stream_key(track.key);
  }
  for (Track& track : tracks) {  // what is derived for a whole device goes with its first stream
    if (track.kind != Track::Derived) continue;
    const auto same_device = [&](const StreamKey& key) { return key.device == track.key.device; };
    const auto found = std::find_if(streams_.begin(), streams_.end(), same_device);
    track.stream = found == streams_.end() ? stream_key(track.key) : static_cast<uint32_t>(found - streams_.begin());
  }
  size_t kept = mark_.ranges;
  for (size_t i = mark_.ranges; i < trace_.ranges.size(); ++i) {
    const Range row = trace_.ranges[i];
    if (!take_range(row, tracks[index(row.thread)])) trace_.ranges[kept++] = row;
  }
  trace_.ranges.resize(kept);
  drop_gpu_threads(tracks);
}

// True if the range is something else: GPU work, an annotation of it, or a call that launched it.
bool KinetoModel::take_range(const Range& row, const Track& track) {
  const std::string_view name = trace_.range_name(row);
  const OperatorDetail* const detail = trace_.detail(row);
  const uint32_t correlation = detail == nullptr ? 0 : static_cast<uint32_t>(detail->external_id);
  if (track.kind == Track::Derived) {
    trace_.gpu_annotations.push_back({row.begin_ns, row.end_ns, StreamId{track.stream}, row.label});
    return true;
  }
  if (track.kind == Track::Stream) {
    GpuOperation operation;
    operation.start_ns = row.begin_ns, operation.end_ns = row.end_ns;
    operation.correlation = correlation;
    operation.stream_index = track.stream & ((1u << 29) - 1);
    const bool copy = name.starts_with("Memcpy") || name.starts_with("Copy"), fill = name.starts_with("Memset");
    operation.kind_bits = static_cast<uint32_t>(copy ? GpuKind::Copy : fill ? GpuKind::Fill : GpuKind::Kernel) & 7;
    if (copy) {
      operation.detail = copy_words(name, "").kind;
    } else if (!fill) {
      Kernel kernel;
      kernel.name = trace_.labels[index(row.label)].text;
      kernel.from_gpu = true;
      if (detail != nullptr) read_kernel_details(trace_.strings[detail->other], kernel);
      operation.detail = kernel_of(kernel);
    }
    trace_.operations.push_back(operation);
    operation_external_.push_back(0);
    return true;
  }
  if (correlation == 0 || !is_cuda_call(name)) return false;
  HostEvent call;
  call.begin_ns = row.begin_ns, call.end_ns = row.end_ns;
  call.thread = row.thread;
  call.correlation = correlation;
  call.word = HostEvent::pack(apis_.intern(name), call_kind(name), 0, 0);
  trace_.host.push_back(call);
  host_external_.push_back(0);
  return true;
}

// The threads and processes that only named GPU tracks are none.
void KinetoModel::drop_gpu_threads(const std::vector<Track>& tracks) {
  std::vector<uint32_t> thread_to(trace_.threads.size(), kNone), process_to(trace_.processes.size(), kNone);
  for (uint32_t i = 0; i < trace_.processes.size() && i < mark_.processes; ++i) process_to[i] = i;
  std::vector<Thread> threads;
  std::vector<Process> processes;
  for (uint32_t i = 0; i < trace_.processes.size(); ++i) {
    bool used = i < mark_.processes;
    for (uint32_t t = mark_.threads; t < trace_.threads.size(); ++t)
      used = used || (index(trace_.threads[t].process) == i && tracks[t].kind == Track::Host);
    if (!used) continue;
    process_to[i] = static_cast<uint32_t>(processes.size());
    processes.push_back(std::move(trace_.processes[i]));
  }
  if (processes.size() == mark_.processes) {  // nothing but GPU work
    process_to[mark_.processes] = mark_.processes;
    processes.push_back(std::move(trace_.processes[mark_.processes]));
  }
  for (uint32_t i = 0; i < trace_.threads.size(); ++i) {
    if (i >= mark_.threads && tracks[i].kind != Track::Host) continue;
    thread_to[i] = static_cast<uint32_t>(threads.size());
    threads.push_back(std::move(trace_.threads[i]));
    threads.back().process = ProcessId{process_to[index(threads.back().process)]};
  }
  trace_.threads = std::move(threads);
  trace_.processes = std::move(processes);
  std::erase_if(threads_, [&](const auto& entry) { return thread_to[entry.second] == kNone; });
  std::erase_if(processes_, [&](const auto& entry) { return process_to[entry.second] == kNone; });
  for (auto& [key, thread] : threads_) thread = thread_to[thread];
  for (auto& [key, process] : processes_) process = process_to[process];
  for (Counted& counted : counted_) {
    if (counted.of == Counted::Range) counted.owner = thread_to[counted.owner];
  }
  // A mark or allocation on a GPU track stays with the first thread there is.
  const auto moved = [&](ThreadId& thread) {
    const uint32_t to = thread_to[index(thread)];
    thread = ThreadId{to == kNone ? mark_.threads : to};
  };
  if (trace_.threads.size() == mark_.threads &&
      trace_.marks.size() + trace_.memory.size() != size_t{mark_.marks} + mark_.memory)
    trace_.threads.emplace_back().process = ProcessId{mark_.processes};
  for (size_t i = mark_.host; i < trace_.host.size(); ++i) moved(trace_.host[i].thread);
  for (size_t i = mark_.ranges; i < trace_.ranges.size(); ++i) moved(trace_.ranges[i].thread);
  for (size_t i = mark_.marks; i < trace_.marks.size(); ++i) moved(trace_.marks[i].thread);
  for (size_t i = mark_.memory; i < trace_.memory.size(); ++i) moved(trace_.memory[i].thread);
}

}  // namespace prof::analyzer
