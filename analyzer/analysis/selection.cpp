#include "analyzer/analysis/selection.h"
#include "analyzer/base/text_parts.h"

#include "analyzer/base/json/json_text.h"
#include "analyzer/table/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>

namespace prof::analyzer {

namespace {

int64_t moment_of_range(const Trace& trace, std::string_view name, bool is_end) {
  uint32_t wanted = 1;
  const size_t hash = name.rfind('#');
  if (hash != std::string_view::npos) {
    const std::string_view number = name.substr(hash + 1);
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), wanted);
    // A range may have the whole text as its name ("ProfilerStep#5"). Otherwise "#2" after a name selects the second
    // range of that name.
    if (error != std::errc() || end != number.data() + number.size() || wanted == 0) wanted = 1;
  }
  const auto find = [&](std::string_view text, uint32_t which) -> const Range* {
    std::vector<const Range*> found;
    for (const Range& range : trace.ranges) {
      const std::string_view recorded = trace.text(trace.labels[index(range.label)].text);
      if (recorded == text || readable_utf8(recorded) == text) found.push_back(&range);  // as typed or as printed
    }
    if (found.size() < which) return nullptr;
    std::sort(found.begin(), found.end(), [](const Range* a, const Range* b) { return a->begin_ns < b->begin_ns; });
    return found[which - 1];
  };
  const Range* range = find(name, 1);
  if (range == nullptr && hash != std::string_view::npos) range = find(name.substr(0, hash), wanted);
  if (range == nullptr) throw std::runtime_error(fmt::format("no NVTX range '{}' in the input", name));
  return is_end ? range->end_ns : range->begin_ns;
}

std::string process_list(const Trace& trace) {
  std::string text;
  for (const Process& process : trace.processes) {
    text += fmt::format("{}{}{}{} {}{}", text.empty() ? "" : ", ", process.host, process.host.empty() ? "" : ":",
                        process.pid, file_name(process.executable),
                        process.rank ? fmt::format(" rank {}", *process.rank) : "");
  }
  return text;
}

// A number that the input does not have is an error: an empty table would mean that nothing happened.
void need(const char* what, const std::vector<uint32_t>& wanted, std::vector<uint32_t> there) {
  std::sort(there.begin(), there.end());
  while (!there.empty() && there.back() == kNone) there.pop_back();  // sorted: kNone is the greatest number
  there.erase(std::unique(there.begin(), there.end()), there.end());
  for (const uint32_t number : wanted) {
    if (std::binary_search(there.begin(), there.end(), number)) continue;
    constexpr size_t kMost = 50;
    const auto shown = there.begin() + static_cast<ptrdiff_t>(std::min(there.size(), kMost));
    std::string list = there.empty() ? "none" : fmt::format("{}", fmt::join(there.begin(), shown, ", "));
    if (there.size() > kMost) list += fmt::format(" and {} more", there.size() - kMost);
    throw std::runtime_error(fmt::format("no {} {} in the input; there are: {}", what, number, list));
  }
}

}  // namespace

void Selection::find_places(const Trace& trace) const {
  if (!devices.empty()) {
    std::vector<uint32_t> there;
    for (const Device& device : trace.devices) there.push_back(device.ordinal);
    // Some devices have memory, counters or streams, but no operations.
    for (const HostStream& stream : trace.host_streams) there.push_back(stream.device);
    for (const MemoryEvent& event : trace.memory) there.push_back(event.device);
    for (const MemoryPool& pool : trace.memory_pools) there.push_back(pool.location == 1 ? pool.place : kNone);
    for (const CounterSet& set : trace.counters.sets) there.push_back(set.device);
    for (const UnifiedMemoryEvent& event : trace.unified)
      there.insert(there.end(), {event.source - 1, event.destination - 1});  // the CPU: kNone
    need("device", devices, std::move(there));
  }
  if (!streams.empty()) {
    std::vector<uint32_t> there;
    for (const Stream& stream : trace.streams) there.push_back(stream.number);
    need("stream", streams, std::move(there));
  }
  if (!threads.empty()) {
    std::vector<uint32_t> there;
    for (const Thread& thread : trace.threads) there.push_back(thread.tid);
    need("thread", threads, std::move(there));
  }
}

void Selection::find_processes(const Trace& trace) {
  if (process_words.empty() && hosts.empty() && ranks.empty()) return;
  processes.assign(trace.processes.size(), true);
  // Keeps the processes for which `is` is true for one of the words.
  const auto keep = [&](const auto& words, const char* what, auto is) {
    std::vector<bool> kept(processes.size());
    for (const auto& word : words) {
      bool found = false;
      for (size_t p = 0; p < kept.size(); ++p) {
        if (is(trace.processes[p], word)) kept[p] = found = true;
      }
      if (!found)
        throw std::runtime_error(
            fmt::format("no {} '{}' in the input; there are: {}", what, word, process_list(trace)));
    }
    for (size_t p = 0; p < kept.size() && !words.empty(); ++p) processes[p] = processes[p] && kept[p];
  };
  keep(process_words, "process", [](const Process& process, const std::string& word) {
    const std::string pid = std::to_string(process.pid);
    return word == pid || word == process.host + ":" + pid || word == process.executable ||
           word == file_name(process.executable);
  });
  keep(hosts, "host", [](const Process& process, const std::string& host) { return process.host == host; });
  keep(ranks, "rank", [](const Process& process, uint32_t rank) { return process.rank == rank; });
}

int64_t parse_moment(const Trace& trace, std::string_view text, bool is_end) {
  if (!text.empty() && text.front() == '@') return moment_of_range(trace, text.substr(1), is_end);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit = text.substr(static_cast<size_t>(end - text.data()));
  const double scale = unit == "s" ? 1e9 : unit == "ms" ? 1e6 : unit == "us" ? 1e3 : unit == "ns" ? 1 : 0;
  if (error != std::errc() || scale == 0 || std::fabs(value * scale) > 9e18) {
    throw std::runtime_error(fmt::format("'{}' is no time; write 1.5s, 300ms, 20us, 17ns or @NVTX-name#k", text));
  }
  return static_cast<int64_t>(std::llround(value * scale));
}

std::string Selection::text() const {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  const Selection everything;
  if (from_ns != everything.from_ns || to_ns != everything.to_ns) {
    add(fmt::format("window {} to {}", from_ns == everything.from_ns ? "start" : scaled_time(from_ns),
                    to_ns == everything.to_ns ? "end" : scaled_time(to_ns)));
  }
  if (!process_words.empty()) add(fmt::format("processes {}", fmt::join(process_words, " ")));
  if (!hosts.empty()) add(fmt::format("hosts {}", fmt::join(hosts, " ")));
  if (!ranks.empty()) add(fmt::format("ranks {}", fmt::join(ranks, " ")));
  if (!devices.empty()) add(fmt::format("devices {}", fmt::join(devices, " ")));
  if (!streams.empty()) add(fmt::format("streams {}", fmt::join(streams, " ")));
  if (!threads.empty()) add(fmt::format("threads {}", fmt::join(threads, " ")));
  if (!nvtx_words.empty()) {
    add(fmt::format("NVTX ranges {}", fmt::join(nvtx_words, " ")));
    if (nvtx.unlinked() != 0)
      add(fmt::format("left out as operations of no range: {} whose launch is not known", nvtx.unlinked()));
  }
  return text;
}

}  // namespace prof::analyzer
