// Names and places of the trace's processes, GPUs, threads and streams.
#include "analyzer/model/process_names.h"
#include "analyzer/output/chrome/chrome_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string_view>
#include <tuple>

namespace prof::analyzer {

namespace {

// The place of each process among all: in order of rank, host and process id, those without a rank last.
std::vector<size_t> places_of_processes(const Trace& trace) {
  std::vector<size_t> order(trace.processes.size()), places(order.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (std::any_of(trace.processes.begin(), trace.processes.end(), [](const Process& each) { return each.rank; })) {
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      const Process &x = trace.processes[a], &y = trace.processes[b];
      const auto key = [](const Process& each) {
        return std::tuple(!each.rank, each.rank.value_or(0), std::string_view(each.host), each.pid);
      };
      return key(x) < key(y);
    });
  }
  for (size_t place = 0; place < order.size(); ++place) places[order[place]] = place;
  return places;
}

// Whether a process lists a GPU that only others use.
bool is_of_others(const Trace& trace, uint32_t d) {
  return trace.devices[d].physical != d && trace.memory.empty() &&
         std::none_of(trace.streams.begin(), trace.streams.end(),
                      [d](const Stream& stream) { return index(stream.device) == d && stream.operations.size() != 0; });
}

}  // namespace

void write_chrome_metadata(const ChromeContext& context) {
  constexpr size_t kProcessStep = 1000;  // a process, then its GPUs
  const Trace& trace = context.trace;
  const ChromeIds& ids = context.ids;
  const std::vector<size_t> places = places_of_processes(trace);
  const bool several = has_several_processes(trace);
  for (size_t p = 0; p < trace.processes.size(); ++p) {
    if (context.copied[p]) continue;
    const Process& process = trace.processes[p];
    const size_t place = places[p] * kProcessStep;
    const std::string rank = process.rank ? fmt::format("rank {}", *process.rank) : "";
    // Names of several processes begin with the rank: viewers cut them at their end.
    const std::string of_rank = several && process.rank ? rank + " · " : "";
    const std::string owner = fmt::format("{} {}{}", process.executable, process.pid,
                                          several && !process.host.empty() ? fmt::format(" on {}", process.host) : "");
    context.events.name_process(ids.process[p],
                                !of_rank.empty() ? of_rank + owner
                                : rank.empty()   ? process.executable
                                                 : fmt::format("{} ({})", process.executable, rank),
                                "CPU", place);
    for (size_t t = 0; t < trace.threads.size(); ++t) {
      const Thread& thread = trace.threads[t];
      if (index(thread.process) != p) continue;
      if (thread.host.size() + thread.ranges.size() + thread.marks.size() == 0 && trace.memory.empty()) continue;
      context.events.name_track(ids.process[p], ids.thread[t], fmt::format("thread {} ({})", thread.tid, thread.name),
                                t, EventList::TrackKind::Thread);
    }
    for (uint32_t d = 0; d < trace.devices.size(); ++d) {
      const Device& device = trace.devices[d];
      if (index(device.process) != p || is_of_others(trace, d)) continue;
      // Perfetto shows no labels, so the name contains the GPU too.
      const std::string label = fmt::format("GPU {}", device.ordinal);
      const std::string named =
          index(device.given_name) == 0 ? label : fmt::format("{} {}", label, trace.text(device.given_name));
      context.events.name_process(ids.device[d], fmt::format("{}{} ({})", of_rank, named, owner), label,
                                  place + 1 + device.ordinal, ids.process[p]);
      for (size_t s = 0; s < trace.streams.size(); ++s) {
        if (index(trace.streams[s].device) != d) continue;
        for (size_t lane = 0; lane < ids.lanes[s].size(); ++lane) {
          std::string name = of_rank.empty() ? ids.stream_names[s] + " "
                                             : fmt::format("{}{} · {} ", of_rank, label, ids.stream_names[s]);
          if (lane != 0) name += fmt::format("overlap {} ", lane);
          if (index(trace.streams[s].name) != 0) (name += trace.text(trace.streams[s].name)) += ' ';
          context.events.name_track(ids.device[d], ids.lanes[s][lane], name,
                                    uint64_t{trace.streams[s].number} * 16 + std::min<size_t>(lane, 15));
        }
      }
    }
  }
}

}  // namespace prof::analyzer
