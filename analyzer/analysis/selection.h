// Which part of a recording does a report cover: time window, processes, devices, streams, threads, ranges? An event is
// selected if it overlaps the window and matches every list that is not empty. Used by every analysis; made from
// command line options.
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
  // Processes as given: pids, HOST:PID or names of executables; hosts; ranks. find_processes() derives `processes` from
  // all of them: a selected process matches each list that is not empty.
  std::vector<std::string> process_words, hosts;
  std::vector<uint32_t> ranks;
  std::vector<bool> processes;  // empty: all
  // Ranges as given. find_ranges() derives `nvtx` from them; the caller checks it in addition to the has() functions
  // below.
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
    if (index(stream.device) >= trace.devices.size()) return false;  // its definition is unreadable
    const Device& device = trace.device(stream.device);
    return has_process(device.process) && (devices.empty() || contains(devices, device.ordinal));
  }
  // Whether a GPU operation is selected, including by range.
  bool has(const Trace& trace, const GpuOperation& operation) const {
    return has_stream(trace, trace.stream(operation.stream())) &&
           nvtx.has_operation(static_cast<uint32_t>(&operation - trace.operations.data())) &&
           in_window(operation.start_ns, operation.end_ns);
  }
  // Whether an event of a thread is selected, without ranges.
  bool has(const Trace& trace, ThreadId thread, int64_t begin_ns, int64_t end_ns) const {
    return has_thread(trace.thread(thread)) && in_window(begin_ns, end_ns);
  }
  // Whether an event of managed memory is selected. An event without a device, such as a fault on the CPU, has none
  // that matches.
  bool has_unified(const UnifiedMemoryEvent& event) const {
    const auto is_selected = [&](uint32_t place) { return place != 0 && contains(devices, place - 1); };
    return in_window(event.start_ns, event.end_ns) && has_process(event.process) &&
           (devices.empty() || is_selected(event.source) || is_selected(event.destination));
  }
  bool all() const {
    return from_ns == Selection().from_ns && to_ns == Selection().to_ns && devices.empty() && streams.empty() &&
           threads.empty() && processes.empty() && !nvtx.given();
  }
  // Throws std::runtime_error that lists the existing processes if a given one does not exist.
  void find_processes(const Trace& trace);
  // Throws the same error for devices, streams and threads.
  void find_places(const Trace& trace) const;
  // Throws the same error. `captured`: --captured.
  void find_ranges(const Trace& trace, const Views& views, bool captured) {
    nvtx = NvtxSelection(nvtx_words, trace, views, captured);
  }
  // A header line: "window 1.5ms to 2ms, devices 0, streams 7". Empty if everything is selected.
  std::string text() const;

 private:
  static bool contains(const std::vector<uint32_t>& list, uint32_t value) {
    for (const uint32_t each : list) {
      if (each == value) return true;
    }
    return false;
  }
};

// A moment: "1.5s", "300ms", "20us", "17ns", or "@name#k": the start of the k-th (from 1) NVTX range of that name, or
// its end if `is_end`. Throws std::runtime_error that lists what is allowed, or if no such range exists.
int64_t parse_moment(const Trace& trace, std::string_view text, bool is_end);

}  // namespace prof::analyzer
