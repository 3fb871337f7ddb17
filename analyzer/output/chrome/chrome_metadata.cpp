// Names and places of the Chrome trace's processes, GPUs, threads and streams.
#include "analyzer/output/chrome/chrome_writer.h"

#include <fmt/format.h>

#include <algorithm>

namespace prof::analyzer {

namespace {

void add_metadata(const ChromeContext& context, const char* name, uint64_t pid, uint64_t tid, const std::string& args) {
  context.events.add(fmt::format("{{\"name\":\"{}\",\"ph\":\"M\",\"ts\":0.000,\"pid\":{},\"tid\":{},\"args\":{{{}}}}}",
                                 name, pid, tid, args));
}

}  // namespace

void write_chrome_thread(const ChromeContext& context, uint64_t pid, uint64_t tid, std::string_view name,
                         uint64_t sort) {
  add_metadata(context, "thread_name", pid, tid, "\"name\":" + json_string(name));
  add_metadata(context, "thread_sort_index", pid, tid, fmt::format("\"sort_index\":{}", sort));
}

void write_chrome_metadata(const ChromeContext& context) {
  const auto process_rows = [&](uint64_t pid, std::string_view name, const std::string& label, size_t sort) {
    add_metadata(context, "process_name", pid, 0, "\"name\":" + json_string(name));
    add_metadata(context, "process_labels", pid, 0, "\"labels\":" + json_string(label));
    add_metadata(context, "process_sort_index", pid, 0, fmt::format("\"sort_index\":{}", sort));
  };
  constexpr size_t kProcessStep = 1000;  // a process, then its GPUs
  const Trace& trace = context.trace;
  const ChromeIds& ids = context.ids;
  for (size_t p = 0; p < trace.processes.size(); ++p) {
    if (context.copied[p]) continue;
    const Process& process = trace.processes[p];
    const std::string rank = process.fact("rank");
    process_rows(ids.process[p],
                 rank.empty() ? process.executable : fmt::format("{} (rank {})", process.executable, rank), "CPU",
                 p * kProcessStep);
    for (size_t t = 0; t < trace.threads.size(); ++t) {
      const Thread& thread = trace.threads[t];
      if (index(thread.process) != p) continue;
      if (thread.host.size() + thread.ranges.size() + thread.marks.size() == 0 && trace.memory.empty()) continue;
      write_chrome_thread(context, ids.process[p], ids.thread[t],
                          fmt::format("thread {} ({})", thread.tid, thread.name), t);
    }
    for (size_t d = 0; d < trace.devices.size(); ++d) {
      const Device& device = trace.devices[d];
      if (index(device.process) != p) continue;
      // Perfetto shows no labels, so the name contains the GPU too.
      const std::string label = fmt::format("GPU {}", device.ordinal);
      const std::string named =
          index(device.given_name) == 0 ? label : fmt::format("{} {}", label, trace.text(device.given_name));
      process_rows(ids.device[d], fmt::format("{} ({} {})", named, process.executable, process.pid), label,
                   p * kProcessStep + 1 + device.ordinal);
      for (size_t s = 0; s < trace.streams.size(); ++s) {
        if (index(trace.streams[s].device) != d) continue;
        for (size_t lane = 0; lane < ids.lanes[s].size(); ++lane) {
          std::string name =
              lane == 0 ? ids.stream_names[s] + " " : fmt::format("{} overlap {} ", ids.stream_names[s], lane);
          if (index(trace.streams[s].name) != 0) (name += trace.text(trace.streams[s].name)) += ' ';
          write_chrome_thread(context, ids.device[d], ids.lanes[s][lane], name,
                              uint64_t{trace.streams[s].number} * 16 + std::min<size_t>(lane, 15));
        }
      }
    }
  }
}

}  // namespace prof::analyzer
