// Kineto traces in tests: imports a text, and writes a model as lines that do not depend on how rows are numbered.
#pragma once

#include "analyzer/input/kineto_import.h"
#include "analyzer/model/trace.h"

#include <fmt/format.h>
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

}  // namespace prof::tests
