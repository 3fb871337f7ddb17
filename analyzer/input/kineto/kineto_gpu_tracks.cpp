#include "analyzer/input/kineto/kineto_gpu_tracks.h"

#include "analyzer/input/kineto/kineto_category.h"
#include "analyzer/input/kineto/kineto_event.h"
#include "analyzer/input/kineto/kineto_numbers.h"
#include "analyzer/model/call_class.h"

#include <algorithm>
#include <optional>
#include <string_view>

namespace prof::analyzer {

namespace {

// What a thread of the file is, by its name and that of its process.
enum class TrackKind : uint8_t { Host, Stream, Derived };
struct Track {
  TrackKind kind = TrackKind::Host;
  KinetoStreamKey key;
  uint32_t stream = 0;       // number of KinetoStreams
  bool all_foreign = false;  // its process is a device that is not known here
  bool has_stream = false;   // its events of such devices are operations
};

std::optional<uint32_t> device_of(std::string_view process_name) {
  const std::optional<uint32_t> device = number_after(process_name, "/device:GPU:");
  return device ? device : number_after(process_name, "/device:gpu:");
}

std::optional<uint32_t> stream_of(std::string_view thread_name) {
  const std::optional<uint32_t> stream = number_after(thread_name, "Stream #");
  return stream ? stream : number_after(thread_name, "GPU Stream ");
}

// The ordinal in "MTIA 9" or "/device:TPU:3", else in the pid, else 0.
uint32_t foreign_ordinal(std::string_view name, std::string_view pid) {
  uint32_t ordinal = 0;
  const size_t digits = name.find_last_not_of("0123456789");
  const std::string_view tail = digits == std::string_view::npos ? name : name.substr(digits + 1);
  if (!tail.empty()) return number_after(tail, "").value_or(0);
  constexpr uint32_t kMostDevices = 4096;  // a larger number is a pid
  return read_stream_number(pid, ordinal) && ordinal < kMostDevices ? ordinal : 0;
}

// The stream of a thread of a device that is not known here.
std::optional<uint32_t> foreign_stream_of(std::string_view thread_name, std::string_view tid) {
  uint32_t number = 0;
  if (const auto stream = stream_of(thread_name)) return stream;
  if (const auto stream = number_after(thread_name, "Stream ")) return stream;
  const bool named = !thread_name.empty() && thread_name != "XLA Ops";  // XLA's operations of a TPU
  if (named || !read_stream_number(tid, number)) return std::nullopt;
  return number;
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

// Processes with operators, Python functions or calls: they are no devices, whatever their name is.
std::vector<bool> host_processes(const Trace& trace, const ImportMark& mark) {
  std::vector<bool> host(trace.processes.size());
  const auto found = [&](ThreadId thread) { host[index(trace.thread(thread).process)] = true; };
  for (size_t i = mark.host; i < trace.host.size(); ++i) found(trace.host[i].thread);
  for (size_t i = mark.ranges; i < trace.ranges.size(); ++i) {
    const RangeKind kind = trace.ranges[i].kind;
    if (kind == RangeKind::Operator || kind == RangeKind::Python) found(trace.ranges[i].thread);
  }
  return host;
}

// By ThreadId; empty: the file has no such track.
std::vector<Track> find_tracks(const Trace& trace, const ImportMark& mark, const KinetoThreads& threads,
                               KinetoStreams& streams, bool any_foreign) {
  std::vector<Track> tracks(trace.threads.size());
  std::vector<bool> host;  // found when first needed
  bool any = any_foreign;
  for (const KinetoThreads::Track& each : threads.tracks()) {
    const std::string_view process_name = trace.strings[each.process_name];
    const std::string_view thread_name = trace.strings[each.thread_name];
    Track& track = tracks[index(each.thread)];
    if (const std::optional<uint32_t> device = device_of(process_name)) {
      any = true;
      const std::optional<uint32_t> stream = stream_of(thread_name);
      track.kind = stream ? TrackKind::Stream : TrackKind::Derived;
      track.key = {each.pid, *device, 0, stream.value_or(0)};
      continue;
    }
    const std::string_view labels = trace.strings[threads.process_labels(each.pid)];
    const bool by_name = is_device_name(process_name) || process_name.find("/device:TPU:") != std::string_view::npos;
    const bool by_label = is_device_name(labels);
    if (!by_name && !by_label && !any_foreign) continue;
    if (host.empty()) host = host_processes(trace, mark);
    if (host[index(trace.thread(each.thread).process)]) continue;
    const std::optional<uint32_t> stream = foreign_stream_of(thread_name, trace.strings[each.tid]);
    const uint32_t device = foreign_ordinal(by_label && !by_name ? labels : process_name, trace.strings[each.pid]);
    track.key = {each.pid, device, 0, stream.value_or(0), false};
    track.has_stream = stream.has_value();
    track.all_foreign = by_name || by_label;
    any |= track.all_foreign;
  }
  if (!any) return {};
  for (Track& track : tracks) {
    if (track.kind == TrackKind::Stream) track.stream = streams.number(track.key);
  }
  for (Track& track : tracks) {  // after all streams have their numbers
    if (track.kind != TrackKind::Derived) continue;
    track.stream = streams.first_on_device(track.key.device);
    if (track.stream == kNone) track.stream = streams.number(track.key);
  }
  return tracks;
}

void add_operation(Trace& trace, const Range& range, uint32_t stream, KinetoKernels& kernels) {
  const OperatorDetail* const detail = trace.detail(range);
  GpuOperation operation;
  operation.start_ns = range.begin_ns;
  operation.end_ns = range.end_ns;
  operation.correlation = detail == nullptr ? 0 : static_cast<uint32_t>(detail->external_id);
  operation.set_stream(stream);
  const std::string_view name = trace.range_name(range);
  const GpuKind kind = kind_by_name(name);
  operation.set_kind(kind);
  if (kind == GpuKind::Copy) {
    operation.detail = GpuOperation::copy_detail(copy_words(name, "").kind, 0, 0);
  } else if (kind == GpuKind::Kernel) {
    Kernel kernel;
    kernel.name = trace.labels[index(range.label)].text;
    kernel.from_gpu = true;
    if (detail != nullptr) read_kernel_details(trace.strings[detail->other], kernel);
    operation.detail = index(kernels.row(kernel));
  }
  trace.operations.push_back(operation);
}

// False: the range is no call of CUDA that launched something.
bool add_call(Trace& trace, const Range& range, ApiNames& apis) {
  const OperatorDetail* const detail = trace.detail(range);
  const uint32_t correlation = detail == nullptr ? 0 : static_cast<uint32_t>(detail->external_id);
  const std::string_view name = trace.range_name(range);
  if (correlation == 0 || !is_cuda_call(name)) return false;
  HostEvent call;
  call.begin_ns = range.begin_ns;
  call.end_ns = range.end_ns;
  call.thread = range.thread;
  call.correlation = correlation;
  call.word = HostEvent::pack(apis.intern(name), call_kind(name), 0, 0);
  trace.host.push_back(call);
  return true;
}

// A mark or allocation on a removed track stays, with the first thread there is.
void move_threads(Trace& trace, const ImportMark& mark, const std::vector<uint32_t>& thread_to) {
  const auto move = [&](ThreadId& thread) {
    const uint32_t to = thread_to[index(thread)];
    thread = ThreadId{to == kNone ? mark.threads : to};
  };
  if (trace.threads.size() == mark.threads &&
      trace.marks.size() + trace.memory.size() != size_t{mark.marks} + mark.memory)
    trace.threads.emplace_back().process = ProcessId{mark.processes};
  for (size_t i = mark.host; i < trace.host.size(); ++i) move(trace.host[i].thread);
  for (size_t i = mark.ranges; i < trace.ranges.size(); ++i) move(trace.ranges[i].thread);
  for (size_t i = mark.marks; i < trace.marks.size(); ++i) move(trace.marks[i].thread);
  for (size_t i = mark.memory; i < trace.memory.size(); ++i) move(trace.memory[i].thread);
}

}  // namespace

std::vector<uint32_t> convert_gpu_tracks(Trace& trace, const ImportMark& mark, KinetoThreads& threads,
                                         KinetoStreams& streams, KinetoKernels& kernels, ApiNames& apis,
                                         KinetoSummary& summary, bool any_foreign) {
  const std::vector<Track> tracks = find_tracks(trace, mark, threads, streams, any_foreign);
  if (tracks.empty()) return {};
  std::vector<bool> kept_any(tracks.size()), gone(tracks.size());
  const auto foreign = [&](const Range& range, const Track& track) {
    gone[index(range.thread)] = true;
    if (!track.has_stream || range.unfinished) return summary.aside(KinetoAside::ForeignSkipped);
    summary.aside(KinetoAside::ForeignOperation);
    add_operation(trace, range, streams.number(track.key), kernels);
  };
  size_t kept = mark.ranges;
  for (size_t i = mark.ranges; i < trace.ranges.size(); ++i) {
    Range range = trace.ranges[i];
    const Track& track = tracks[index(range.thread)];
    if (range.payload_type == kForeignRange || track.all_foreign) {
      range.payload_type = 0;
      foreign(range, track);
      continue;
    }
    switch (track.kind) {
      case TrackKind::Stream: add_operation(trace, range, track.stream, kernels); break;
      case TrackKind::Derived:
        trace.gpu_annotations.push_back({range.begin_ns, range.end_ns, StreamId{track.stream}, range.label});
        break;
      case TrackKind::Host:
        kept_any[index(range.thread)] = true;
        if (!add_call(trace, range, apis)) trace.ranges[kept++] = range;
        break;
    }
  }
  trace.ranges.resize(kept);
  // A thread of the host stays, whatever else was on its track.
  for (size_t i = mark.host; i < trace.host.size(); ++i) kept_any[index(trace.host[i].thread)] = true;
  for (size_t i = 0; i < tracks.size(); ++i)
    gone[i] = tracks[i].kind != TrackKind::Host || tracks[i].all_foreign || (gone[i] && !kept_any[i]);
  std::vector<uint32_t> thread_to = threads.remove(gone);
  move_threads(trace, mark, thread_to);
  return thread_to;
}

}  // namespace prof::analyzer
