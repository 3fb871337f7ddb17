// Kineto traces for tests. Imports a text, and prints a model as lines that do not depend on the numbering of rows.
// Contains one text with every kind of event.
#pragma once

#include "analyzer/input/kineto/kineto_import.h"
#include "analyzer/model/trace.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <memory>
#include <string>
#include <string_view>

namespace prof::tests {

using namespace analyzer;

inline std::unique_ptr<Trace> import_text(std::string_view text, size_t stretch_bytes = kKinetoStretch,
                                          unsigned workers = 1) {
  auto trace = std::make_unique<Trace>();
  ImportOptions options;
  options.workers = workers;
  import_kineto(TextSource::of_memory(text), "t", *trace, options, stretch_bytes);
  return trace;
}

inline std::string gzip(std::string_view text) {
  z_stream stream{};
  deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

inline std::string describe(const Trace& trace) {
  std::string out = fmt::format("zero {}\n", trace.start_realtime_ns);
  for (const Process& process : trace.processes) {
    out += fmt::format("process {} {} last {}\n", process.pid, process.executable, process.last_ns);
    for (const auto& [key, value] : process.facts) out += fmt::format("  {} = {}\n", key, value);
    for (const std::string& each : process.damage) out += "  damage " + each + "\n";
  }
  const auto detail = [&](const Range& range) -> std::string {
    const OperatorDetail* const d = trace.detail(range);
    if (d == nullptr) return "";
    return fmt::format(" external {} sequence {} forward {} flops {} dims {} types {} concrete {} stack {} other {}",
                       d->external_id, d->sequence, d->forward_thread, d->flops, trace.text(d->dims),
                       trace.text(d->types), trace.text(d->concrete), trace.text(d->stack), trace.text(d->other));
  };
  const auto put_range = [&](const Range& range, const char* what) {
    out += fmt::format("  {} {} kind {} {}..{} level {} children {} path {}{}{}\n", what, trace.range_name(range),
                       static_cast<int>(range.kind), range.begin_ns, range.end_ns, range.level, range.children,
                       path_text(trace, range.path), range.unfinished ? " unfinished" : "", detail(range));
  };
  for (const Thread& thread : trace.threads) {
    out += fmt::format("thread {} {} of {}\n", thread.tid, thread.name, trace.processes[index(thread.process)].pid);
    for (uint32_t i = thread.host.first; i < thread.host.last; ++i) {
      const HostEvent& e = trace.host[i];
      out += fmt::format("  call {} kind {} {}..{} correlation {}{}\n", trace.api_name(e), static_cast<int>(e.kind()),
                         e.begin_ns, e.end_ns, e.correlation, e.has(kHostHasGpu) ? " gpu" : "");
    }
    for (uint32_t i = thread.ranges.first; i < thread.ranges.last; ++i) put_range(trace.ranges[i], "range");
    for (uint32_t i = thread.marks.first; i < thread.marks.last; ++i) put_range(trace.marks[i], "mark");
  }
  for (const Process& process : trace.processes) {
    for (uint32_t i = process.start_end_ranges.first; i < process.start_end_ranges.last; ++i)
      put_range(trace.ranges[i], "start-end");
  }
  for (const Stream& stream : trace.streams) {
    const Device& device = trace.device(stream.device);
    out += fmt::format("stream {} context {} device {} {} of {}\n", stream.number, stream.context, device.ordinal,
                       device.name, trace.processes[index(device.process)].pid);
    for (uint32_t i = stream.operations.first; i < stream.operations.last; ++i) {
      const GpuOperation& o = trace.operations[i];
      const bool kernel = o.kind() == GpuKind::Kernel;
      const Kernel& k = trace.kernels[kernel ? o.detail : 0];
      out += fmt::format("  {} {}..{} correlation {} launch {} bytes {} graph {} {}\n",
                         kernel                      ? trace.text(k.name)
                         : o.kind() == GpuKind::Copy ? "copy"
                                                     : "fill",
                         o.start_ns, o.end_ns, o.correlation, o.linked() ? trace.host[o.launch].begin_ns : -1,
                         uint64_t{o.bytes}, o.graph_node,
                         kernel ? fmt::format("{}x{}x{} {}x{}x{} {} {}", k.grid[0], k.grid[1], k.grid[2], k.block[0],
                                              k.block[1], k.block[2], k.registers, k.dynamic_shared_bytes)
                                : fmt::format("{:x}", o.detail));
    }
  }
  const auto stream_text = [&](uint32_t row) {
    return row == kNone ? std::string("none") : std::to_string(trace.streams[row].number);
  };
  for (const SyncEvent& s : trace.syncs)
    out += fmt::format("sync {} {}..{} stream {} waits for {} record {} event {} call {}\n", static_cast<int>(s.kind),
                       s.begin_ns, s.end_ns, stream_text(s.stream), stream_text(s.waits_for), s.record_correlation,
                       s.event_id, s.call == kNone ? -1 : trace.host[s.call].begin_ns);
  for (const MemoryEvent& m : trace.memory)
    out += fmt::format("memory {} {} at {} of {} {} device {}\n", m.time_ns, m.bytes, m.address, m.allocated,
                       m.reserved, m.device == kNone ? -1 : static_cast<int>(m.device));
  for (const GpuAnnotation& a : trace.gpu_annotations)
    out += fmt::format("gpu annotation {} {}..{} stream {}\n", trace.text(trace.labels[index(a.label)].text),
                       a.start_ns, a.end_ns, trace.stream(a.stream).number);
  return out;
}

// Why events were skipped or changed, of the reasons that contain `part`: "2 events …"; empty if none was.
inline std::string set_aside(const Trace& trace, std::string_view part) {
  for (const auto& [key, value] : trace.processes[0].facts) {
    if ((key == "skipped" || key == "changed") && value.find(part) != std::string::npos) return value;
  }
  return {};
}

inline bool has_line(const Trace& trace, const std::string& line) {
  const bool found = describe(trace).find(line + "\n") != std::string::npos;
  if (!found) ADD_FAILURE() << "no line '" << line << "' in\n" << describe(trace);
  return found;
}

// Every kind of event that torch.profiler writes, with members in unusual order and texts that need care.
inline constexpr const char* kEverything = R"json({"schemaVersion": 1, "displayTimeUnit": "ms", "traceEvents": [
  {"ph": "X", "cat": "cpu_op", "name": "aten::mm \"}, {\"ph\": [", "pid": 10, "tid": 11, "ts": 100.001, "dur": 50,
   "args": {"External id": 5, "Sequence number": 7, "Fwd thread id": 1, "Input Dims": [[2, 3], [3, 4]],
            "Input type": ["float", "c10::Half"], "Concrete Inputs": ["", "{[\\"], "Unread": {"a": [{}]},
            "kernel_file": "/tmp/a \"b\".py", "num_warps": 4, "Call stack": "x.py(1): f;y.py(2): g"}},
  {"ph": "X", "cat": "python_function", "name": "f", "pid": 10, "tid": 11, "ts": 90, "dur": 70, "args": {"Python id": 1}},
  {"args": {"correlation": 3, "External id": 5}, "dur": 5, "ts": 110, "tid": "11", "pid": "10", "name": "cudaLaunchKernel",
   "cat": "cuda_runtime", "ph": "X"},
  {"ph": "X", "cat": "kernel", "name": "k\u00e9", "pid": 0, "tid": 7, "ts": 120, "dur": 2.5, "args": {"device": 0, "context": 1,
   "stream": 7, "correlation": 3, "grid": [4, 2, 1], "block": [128, 1, 1], "registers per thread": 32, "shared memory": 64}},
  {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD (Pinned -> Device)", "pid": 0, "tid": 7, "ts": 130, "dur": 1,
   "args": {"device": 0, "context": 1, "stream": 7, "correlation": 4, "bytes": 4096}},
  {"ph": "X", "cat": "gpu_memset", "name": "Memset (Device)", "pid": 0, "tid": 7, "ts": 132, "dur": 1,
   "args": {"device": 0, "context": 1, "stream": 7, "correlation": 99, "bytes": 8, "graph id": 2, "graph node id": 3}},
  {"ph": "X", "cat": "cuda_sync", "name": "Event Sync", "pid": 0, "tid": -1, "ts": 140, "dur": 1, "args": {"cuda_sync_kind":
   "Event Sync", "wait_on_stream": 7, "wait_on_cuda_event_record_corr_id": 2, "wait_on_cuda_event_id": 8, "stream": -1,
   "correlation": 3, "device": 0, "context": 1}},
  {"ph": "X", "cat": "gpu_user_annotation", "name": "step", "pid": 0, "tid": 7, "ts": 120, "dur": 13, "args": {"External id": 1}},
  {"ph": "X", "cat": "user_annotation", "name": "step", "pid": 10, "tid": 11, "ts": 80, "dur": 100, "args": {"External id": 1}},
  {"ph": "X", "cat": "overhead", "name": "Activity Buffer Request", "pid": -1, "tid": 0, "ts": 95, "dur": 1},
  {"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": 10, "tid": 11, "ts": 101, "args": {"Bytes": -512,
   "Addr": 140024020467712, "Total Allocated": 1024, "Total Reserved": 2048, "Device Id": 0, "Device Type": 1}},
  {"ph": "s", "id": 3, "pid": 10, "tid": 11, "ts": 110, "cat": "ac2g", "name": "ac2g"},
  {"ph": "M", "name": "process_name", "pid": 10, "tid": 0, "args": {"name": "python3"}},
  {"ph": "M", "name": "thread_name", "pid": 10, "tid": 11, "args": {"name": "main"}},
  {"ph": "M", "name": "process_sort_index", "pid": 10, "tid": 0, "args": {"sort_index": 10}},
  {"ph": "X", "cat": "Trace", "ts": 0, "dur": 1000, "pid": "Spans", "tid": "PyTorch Profiler", "name": "PyTorch Profiler (0)"},
  {"name": "Record Window End", "ph": "i", "s": "g", "pid": "", "tid": "", "ts": 1000}
], "deviceProperties": [{"id": 0, "name": "GPU of a test", "numSms": 132}], "baseTimeNanoseconds": 1700000000000000000,
"distributedInfo": {"rank": 3, "world_size": 8}})json";

}  // namespace prof::tests
