#include "analyzer/analysis/collectives/process_ranks.h"
#include "analyzer/base/text_parts.h"

#include "analyzer/analysis/cost/library_call_text.h"
#include "analyzer/base/json/json_text.h"
#include "analyzer/model/process_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <unordered_map>
#include <utility>

namespace prof::analyzer {

namespace {

std::optional<uint32_t> whole_number(std::string_view text) {
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

// The digits at that place and what follows them.
std::string_view digits_at(std::string_view text, size_t at) {
  size_t end = at;
  while (end < text.size() && is_digit(text[end])) ++end;
  return text.substr(at, end - at);
}

// A rank and the size of its communicator.
struct Membership {
  std::optional<uint32_t> rank, size;
};

// What a call recorded by `prof record --libs` has about a communicator: "ncclAllReduce(…, rank=3, ranks=8)".
Membership membership_of_call(std::string_view text) {
  const CallArguments call(text);
  return {whole_number(call.value("rank")), whole_number(call.value("ranks"))};
}

// What NCCL's own range has about a communicator that is made. The rank of a split one is that in its parent.
Membership membership_of_payload(const Trace& trace, const Range& range) {
  Membership found;
  const Rows values = trace.payload_of(range);
  for (uint32_t i = values.first; i < values.last; ++i) {
    const std::string_view name = trace.text(trace.payload_values[i].name);
    const std::string_view value = unquoted(trace.text(trace.payload_values[i].json));
    if (name == "Parent NCCL communicator ID") return {};
    if (name == "Rank") found.rank = whole_number(value);
    if (name == "No. of ranks") found.size = whole_number(value);
  }
  return found;
}

// The rank of each process in its largest communicator; nullopt if it has several ranks in it. By ProcessId.
std::vector<std::optional<uint32_t>> ranks_of_communicators(const Trace& trace) {
  std::unordered_map<uint32_t, Membership> of_label;  // LabelId of a library call -> what its text has
  std::vector<bool> of_nccl(trace.labels.size());     // labels of NCCL's own ranges
  for (uint32_t label = 0; label < trace.labels.size(); ++label) {
    const std::string_view domain = trace.text(trace.labels[label].domain), text = trace.text(trace.labels[label].text);
    of_nccl[label] = domain == "NCCL";
    if (domain != "library" || !text.starts_with("nccl")) continue;
    const Membership found = membership_of_call(text);
    if (found.rank && found.size) of_label.emplace(label, found);
  }
  std::vector<std::optional<uint32_t>> ranks(trace.processes.size());
  const bool payloads = !trace.payload_values.empty();
  if (of_label.empty() && !payloads) return ranks;
  std::vector<uint32_t> sizes(trace.processes.size());
  for (const Range& range : trace.ranges) {
    Membership found;
    if (const auto call = of_label.find(index(range.label)); call != of_label.end()) {
      found = call->second;
    } else if (payloads && of_nccl[index(range.label)]) {
      found = membership_of_payload(trace, range);
    }
    if (!found.rank || !found.size || *found.size < 2) continue;
    const uint32_t process = index(trace.thread(range.thread).process);
    if (*found.size < sizes[process]) continue;
    const bool another = *found.size == sizes[process] && ranks[process] != found.rank;
    ranks[process] = another ? std::nullopt : found.rank;
    sizes[process] = *found.size;
  }
  // If two processes have the same rank, these are communicators of parts of the job.
  std::map<uint32_t, uint32_t> first;
  for (uint32_t p = 0; p < ranks.size(); ++p) {
    if (!ranks[p]) continue;
    const uint32_t other = first.try_emplace(*ranks[p], p).first->second;
    if (!is_same_process(trace.processes[other], trace.processes[p]))
      return std::vector<std::optional<uint32_t>>(trace.processes.size());
  }
  return ranks;
}

// The time of the first record of a process. INT64_MAX: it has none.
int64_t begin_of(const Trace& trace, ProcessId process) {
  int64_t begin_ns = INT64_MAX;
  for (const Thread& thread : trace.threads) {
    if (thread.process != process) continue;
    if (thread.host.size() != 0) begin_ns = std::min(begin_ns, trace.host[thread.host.first].begin_ns);
    if (thread.ranges.size() != 0) begin_ns = std::min(begin_ns, trace.ranges[thread.ranges.first].begin_ns);
  }
  return begin_ns;
}

bool used_gpu(const Trace& trace, ProcessId process) {
  return std::any_of(trace.streams.begin(), trace.streams.end(), [&](const Stream& stream) {
    return stream.operations.size() != 0 && trace.device(stream.device).process == process;
  });
}

// Whether two processes with one rank are of one rank of one job, as far as the input shows.
bool may_be_one_rank(const Trace& trace, uint32_t a, uint32_t b) {
  const Process &x = trace.processes[a], &y = trace.processes[b];
  // A profiler may write several traces of one process, and traces of other tools have no host.
  if ((x.pid == y.pid && x.host == y.host) || x.source == y.source) return true;
  if (x.host.empty() || x.host != y.host) return false;
  const bool overlap = begin_of(trace, ProcessId{a}) <= y.last_ns && begin_of(trace, ProcessId{b}) <= x.last_ns;
  if (!overlap) return false;
  // A forked child of a process that uses a GPU cannot use one.
  return x.command_line != y.command_line || !used_gpu(trace, ProcessId{a}) || !used_gpu(trace, ProcessId{b});
}

void take_rank_of_file_name(Process& process) {
  process.rank = rank_in_file_name(process.source);
  process.rank_from = process.rank ? RankFrom::FileName : RankFrom::Unknown;
}

// The first numbers of a list, and how many more there are: "0, 1, 2 and 5 more".
std::string shortened(const std::vector<uint32_t>& numbers) {
  constexpr size_t kMost = 5;
  const size_t shown = std::min(numbers.size(), kMost);
  std::string text =
      fmt::format("{}", fmt::join(numbers.begin(), numbers.begin() + static_cast<ptrdiff_t>(shown), ", "));
  if (shown < numbers.size()) text += fmt::format(" and {} more", numbers.size() - shown);
  return text;
}

}  // namespace

std::optional<uint32_t> rank_in_file_name(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
  constexpr std::string_view kWord = "rank";
  for (size_t at = lower.find(kWord); at != std::string::npos; at = lower.find(kWord, at + 1)) {
    size_t digits = at + kWord.size();
    if (digits < lower.size() && std::string_view("-_.=").find(lower[digits]) != std::string_view::npos) ++digits;
    if (const auto rank = whole_number(digits_at(lower, digits))) return rank;
  }
  // "r8" as a word of its own
  for (size_t at = lower.find('r'); at != std::string::npos; at = lower.find('r', at + 1)) {
    const std::string_view digits = digits_at(lower, at + 1);
    const size_t end = at + 1 + digits.size();
    const bool begins = at == 0 || (!is_letter(lower[at - 1]) && !is_digit(lower[at - 1]));
    if (begins && (end == lower.size() || !is_letter(lower[end]))) {
      if (const auto rank = whole_number(digits)) return rank;
    }
  }
  return std::nullopt;
}

std::optional<uint32_t> world_size(const Process& process) { return whole_number(process.fact("world_size")); }

void find_ranks(Trace& trace) {
  bool all = true;
  for (Process& process : trace.processes) {
    process.rank = whole_number(process.fact("rank"));
    if (process.rank) process.rank_from = RankFrom::Recorded;
    all = all && process.rank.has_value();
  }
  if (all) return;
  const std::vector<std::optional<uint32_t>> of_communicators = ranks_of_communicators(trace);
  for (uint32_t p = 0; p < trace.processes.size(); ++p) {
    Process& process = trace.processes[p];
    if (process.rank) continue;
    process.rank = of_communicators[p];
    process.rank_from = RankFrom::Communicator;
    if (!process.rank) take_rank_of_file_name(process);
  }
}

void drop_ambiguous_ranks(Trace& trace) {
  std::map<uint32_t, uint32_t> first;
  bool ambiguous = false;
  for (uint32_t p = 0; p < trace.processes.size(); ++p) {
    const Process& process = trace.processes[p];
    if (process.rank_from != RankFrom::Communicator || !process.rank) continue;
    const uint32_t other = first.try_emplace(*process.rank, p).first->second;
    ambiguous |= !is_same_process(trace.processes[other], process);
  }
  if (!ambiguous) return;
  for (Process& process : trace.processes) {
    if (process.rank_from == RankFrom::Communicator) take_rank_of_file_name(process);
  }
}

std::vector<std::string> rank_problems(const Trace& trace) {
  std::vector<std::string> lines;
  std::map<uint32_t, std::vector<uint32_t>> of_rank;
  std::map<std::string, uint32_t> sizes;
  for (uint32_t p = 0; p < trace.processes.size(); ++p) {
    const Process& process = trace.processes[p];
    if (process.rank) of_rank[*process.rank].push_back(p);
    if (const std::string size = process.fact("world_size"); !size.empty()) ++sizes[size];
  }
  std::vector<uint32_t> ranks;
  std::pair<uint32_t, uint32_t> example;
  for (const auto& [rank, processes] : of_rank) {
    // Processes that overlap are connected: a child may outlive one sibling and precede another.
    std::vector<uint32_t> group(processes.size());
    for (size_t i = 0; i < group.size(); ++i) group[i] = static_cast<uint32_t>(i);
    for (size_t i = 0; i < group.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        if (group[i] == group[j] || !may_be_one_rank(trace, processes[i], processes[j])) continue;
        std::replace(group.begin(), group.end(), std::max(group[i], group[j]), std::min(group[i], group[j]));
      }
    }
    const auto other = std::find_if(group.begin(), group.end(), [&](uint32_t each) { return each != group[0]; });
    if (other == group.end()) continue;
    if (ranks.empty()) example = {processes[0], processes[static_cast<size_t>(other - group.begin())]};
    ranks.push_back(rank);
  }
  if (!ranks.empty()) {
    const Process &a = trace.processes[example.first], &b = trace.processes[example.second];
    lines.push_back(fmt::format(
        "{} {} claimed by several processes, such as {} ({}) and {} ({}); if these are several jobs, give the files of "
        "one, or select with --host or --process HOST:PID",
        ranks.size() == 1 ? "rank" : "ranks", shortened(ranks) + (ranks.size() == 1 ? " is" : " are"),
        process_and_host(a), a.source, process_and_host(b), b.source));
  }
  if (sizes.size() > 1) {
    std::string text;
    for (const auto& [size, count] : sizes)
      text += fmt::format("{}{} ({} {})", text.empty() ? "" : ", ", size, count, count == 1 ? "process" : "processes");
    lines.push_back(
        fmt::format("the input has several jobs, whose numbers of ranks are {}; give the files of one job", text));
  }
  return lines;
}

}  // namespace prof::analyzer
