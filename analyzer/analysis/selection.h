// Which part of a recording is asked for: a time window, processes, devices, streams, threads, ranges. An event belongs to it when
// it overlaps the window and matches every list that is not empty. Called by every analysis; made from the command line's words.
#pragma once

#include "analyzer/analysis/nvtx_selection.h"
#include "analyzer/model/trace.h"

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace prof::analyzer {

struct Selection {
  int64_t from_ns = std::numeric_limits<int64_t>::min();
  int64_t to_ns = std::numeric_limits<int64_t>::max();
  std::vector<uint32_t> devices;  // ordinals
  std::vector<uint32_t> streams;  // numbers
  std::vector<uint32_t> threads;  // system thread ids
  // Processes as asked for: pids or names of executables; ranks. find_processes() makes of both which ProcessIds are taken.
  std::vector<std::string> process_words;
  std::vector<uint32_t> ranks;
  std::vector<bool> processes;  // empty: all
  // Ranges as asked for. find_ranges() makes of them what belongs: to be asked beside everything below.
  std::vector<std::string> nvtx_words;
  NvtxSelection nvtx;

  bool in_window(int64_t begin_ns, int64_t end_ns) const {
    return begin_ns < to_ns && (end_ns > from_ns || begin_ns >= from_ns);
  }
  bool has_process(ProcessId process) const { return processes.empty() || processes[index(process)]; }
  bool has_thread(const Thread& thread) const {
    return has_process(thread.process) && (threads.empty() || contains(threads, thread.tid));
  }
  bool has_stream(const Trace& trace, const Stream& stream) const {
    if (!streams.empty() && !contains(streams, stream.number)) return false;
    if (devices.empty() && processes.empty()) return true;
    if (index(stream.device) >= trace.devices.size()) return false;  // its definition was not readable
    const Device& device = trace.device(stream.device);
    return has_process(device.process) && (devices.empty() || contains(devices, device.ordinal));
  }
  // An operation of the GPU, with the ranges asked for.
  bool has(const Trace& trace, const GpuOperation& operation) const {
    return has_stream(trace, trace.stream(operation.stream())) &&
           nvtx.has_operation(static_cast<uint32_t>(&operation - trace.operations.data())) &&
           in_window(operation.start_ns, operation.end_ns);
  }
  // What a thread did meanwhile.
  bool has(const Trace& trace, ThreadId thread, int64_t begin_ns, int64_t end_ns) const {
    return has_thread(trace.thread(thread)) && in_window(begin_ns, end_ns);
  }
  // Of managed memory: what no device is told of, as a fault on the CPU, is of none.
  bool has_unified(const UnifiedMemoryEvent& event) const {
    const auto is_selected = [&](uint32_t place) { return place != 0 && contains(devices, place - 1); };
    return in_window(event.start_ns, event.end_ns) && has_process(event.process) &&
           (devices.empty() || is_selected(event.source) || is_selected(event.destination));
  }
  bool all() const {
    return from_ns == Selection().from_ns && to_ns == Selection().to_ns && devices.empty() && streams.empty() &&
           threads.empty() && processes.empty() && !nvtx.given();
  }
  // Throws std::runtime_error that says which processes there are if one asked for is not among them.
  void find_processes(const Trace& trace);
  // Throws likewise for devices, streams and threads.
  void find_places(const Trace& trace) const;
  // Throws likewise. `captured`: --captured.
  void find_ranges(const Trace& trace, const Views& views, bool captured) {
    nvtx = NvtxSelection(nvtx_words, trace, views, captured);
  }
  // "window 1.5ms to 2ms, devices 0, streams 7": a header line; empty if everything is selected.
  std::string text() const;

 private:
  static bool contains(const std::vector<uint32_t>& list, uint32_t value) {
    for (const uint32_t each : list) {
      if (each == value) return true;
    }
    return false;
  }
};

// A moment: "1.5s", "300ms", "20us", "17ns", or "@name#k": where the k-th (1) NVTX range of that name begins, or ends when
// it is the end of a window. Throws std::runtime_error that says what is allowed or that there is no such range.
int64_t parse_moment(const Trace& trace, std::string_view text, bool is_end);

}  // namespace prof::analyzer
