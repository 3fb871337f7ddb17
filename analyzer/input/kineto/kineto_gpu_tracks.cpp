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
  uint32_t stream = 0;  // number of KinetoStreams
};

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

GpuKind kind_by_name(std::string_view name) {
  if (name.starts_with("Memcpy") || name.starts_with("Copy")) return GpuKind::Copy;
  return name.starts_with("Memset") ? GpuKind::Fill : GpuKind::Kernel;
}

// By ThreadId; empty: the file has no such track.
std::vector<Track> find_tracks(const Trace& trace, const KinetoThreads& threads, KinetoStreams& streams) {
  std::vector<Track> tracks(trace.threads.size());
  bool any = false;
  for (const KinetoThreads::Track& each : threads.tracks()) {
    const std::optional<uint32_t> device = device_of(trace.strings[each.process_name]);
    if (!device) continue;
    any = true;
    const std::optional<uint32_t> stream = stream_of(trace.strings[each.thread_name]);
    Track& track = tracks[index(each.thread)];
    track.kind = stream ? TrackKind::Stream : TrackKind::Derived;
    track.key = {each.pid, *device, 0, stream.value_or(0)};
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
                                         KinetoStreams& streams, KinetoKernels& kernels, ApiNames& apis) {
  const std::vector<Track> tracks = find_tracks(trace, threads, streams);
  if (tracks.empty()) return {};
  size_t kept = mark.ranges;
  for (size_t i = mark.ranges; i < trace.ranges.size(); ++i) {
    const Range range = trace.ranges[i];
    const Track& track = tracks[index(range.thread)];
    switch (track.kind) {
      case TrackKind::Stream: add_operation(trace, range, track.stream, kernels); break;
      case TrackKind::Derived:
        trace.gpu_annotations.push_back({range.begin_ns, range.end_ns, StreamId{track.stream}, range.label});
        break;
      case TrackKind::Host:
        if (!add_call(trace, range, apis)) trace.ranges[kept++] = range;
        break;
    }
  }
  trace.ranges.resize(kept);
  std::vector<bool> gone(tracks.size());
  for (size_t i = 0; i < tracks.size(); ++i) gone[i] = tracks[i].kind != TrackKind::Host;
  std::vector<uint32_t> thread_to = threads.remove(gone);
  move_threads(trace, mark, thread_to);
  return thread_to;
}

}  // namespace prof::analyzer
