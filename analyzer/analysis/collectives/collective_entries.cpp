#include "analyzer/analysis/collectives/collective_entries.h"

#include "analyzer/analysis/cost/library_call_text.h"
#include "analyzer/base/json/json_text.h"
#include "analyzer/model/process_names.h"
#include "preload/format/events.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace prof::analyzer {

namespace {

constexpr int64_t kNoRank = -1;

template <class Number> std::optional<Number> number_in(std::string_view text) {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<int64_t> rank_number(const std::optional<uint64_t>& value) {
  if (!value || *value > INT32_MAX) return std::nullopt;
  return static_cast<int64_t>(*value);
}

// Without what differs between the ranks: "ncclAllReduce(count=1000, type=bf16, op=sum)".
std::string common_text(std::string_view text) {
  size_t cut = text.find(", ranks=");
  if (cut == std::string_view::npos) cut = text.find("ranks=");
  if (cut == std::string_view::npos) cut = text.find(", rank=");
  if (cut == std::string_view::npos) cut = text.find("rank=");
  if (cut == std::string_view::npos) return std::string(text);
  std::string common(text.substr(0, cut));
  if (common.ends_with('(')) {
    common.pop_back();
  } else {
    common += ')';
  }
  return common;
}

// Of a send or receive: without the peer too, which its other end has as its own rank.
std::string pair_text(const CallArguments& call) {
  return fmt::format("(count={}, type={})", call.value("count"), call.value("type"));
}

bool makes_communicator(std::string_view name) {
  return name.starts_with("ncclCommInit") || name == "ncclCommSplit" || name == "ncclCommShrink";
}

}  // namespace

CollectiveEntries::CollectiveEntries(const Trace& trace)
    : trace_(trace),
      unit_of_(trace.processes.size()),
      parts_of_(trace.processes.size()),
      recorded_(trace.processes.size()),
      has_ranges_(trace.processes.size()) {
  find_units();
  take_starts();
  take_ranges();
  for (auto& [number, ranks] : calls_of_) {
    CommunicatorCalls& communicator = communicators_.emplace_back();
    communicator.name = fmt::format("0x{:x}", number);
    for (auto& [key, one] : ranks) {
      communicator.ranks = std::max(communicator.ranks, one.ranks);
      std::stable_sort(one.calls.calls.begin(), one.calls.calls.end(),
                       [](const CollectiveEntry& a, const CollectiveEntry& b) { return a.number < b.number; });
      communicator.of_rank.push_back(std::move(one.calls));
    }
    std::stable_sort(
        communicator.of_rank.begin(), communicator.of_rank.end(), [](const RankCalls& a, const RankCalls& b) {
          return std::pair(a.rank.value_or(INT64_MAX), a.process) < std::pair(b.rank.value_or(INT64_MAX), b.process);
        });
  }
  calls_of_.clear();
}

void CollectiveEntries::find_units() {
  std::map<std::pair<std::string, uint32_t>, std::vector<uint32_t>> known;
  for (uint32_t p = 0; p < trace_.processes.size(); ++p) {
    const Process& process = trace_.processes[p];
    std::vector<uint32_t>& alike = known[{process.host, process.pid}];
    unit_of_[p] = p;
    for (const uint32_t other : alike) {
      if (is_same_process(trace_.processes[other], process)) {
        unit_of_[p] = other;
        break;
      }
    }
    if (unit_of_[p] == p) alike.push_back(p);
    parts_of_[unit_of_[p]].push_back(p);
  }
}

uint32_t CollectiveEntries::intern(std::string text) {
  const auto [found, fresh] = text_rows_.try_emplace(std::move(text), static_cast<uint32_t>(texts_.size()));
  if (fresh) texts_.push_back(found->first);
  return found->second;
}

CollectiveEntries::Calls& CollectiveEntries::of(uint64_t communicator, uint32_t unit, std::optional<int64_t> rank) {
  Calls& calls = calls_of_[communicator][{unit, rank.value_or(kNoRank)}];
  calls.calls.process = unit;
  calls.calls.rank = rank;
  return calls;
}

// A call that returned has a library_call with the same start.
void CollectiveEntries::take_starts() {
  if (trace_.collectives.empty()) return;
  std::map<std::pair<uint32_t, int64_t>, int64_t> ends;  // thread and start -> end
  std::vector<int8_t> is_library(trace_.labels.size(), -1);
  for (const Range& range : trace_.ranges) {
    int8_t& known = is_library[index(range.label)];
    if (known < 0) known = trace_.text(trace_.labels[index(range.label)].domain) == "library" ? 1 : 0;
    if (known == 0 || !trace_.range_name(range).starts_with("nccl")) continue;
    ends.try_emplace({index(range.thread), range.begin_ns}, range.end_ns);
  }
  for (const CollectiveStart& start : trace_.collectives) {
    const uint32_t unit = unit_of_[index(trace_.thread(start.thread).process)];
    recorded_[unit] = true;
    const CallArguments call(trace_.text(start.text));
    CollectiveEntry entry;
    entry.time_ns = start.time_ns;
    entry.number = start.sequence;
    entry.thread = index(start.thread);
    if (const auto end = ends.find({entry.thread, entry.time_ns}); end != ends.end()) entry.end_ns = end->second;
    if (start.communicator == 0) continue;  // start or end of a group
    ++calls_;
    Calls& to = of(start.communicator, unit, rank_number(call.number("rank")));
    to.calls.recorded = true;
    to.calls.local = (start.flags & format::kCollectiveLocal) != 0;
    to.ranks = std::max(to.ranks, call.number("ranks").value_or(0));
    if ((start.flags & format::kCollectivePair) != 0) {
      const std::optional<int64_t> peer = rank_number(call.number("peer"));
      const bool sends = call.name == "ncclSend";
      auto& list = sends ? to.calls.sends : to.calls.receives;
      if (to.calls.sends.empty() && to.calls.receives.empty() && start.sequence != 1) to.calls.pairs_from_first = false;
      entry.text = intern(fmt::format("{}{}", sends ? "ncclSend" : "ncclRecv", pair_text(call)));
      list[peer.value_or(kNoRank)].push_back(entry);
      continue;
    }
    if (start.sequence == 0) to.calls.made = true;
    entry.text = intern(start.sequence == 0 ? std::string(call.name) : common_text(trace_.text(start.text)));
    to.calls.calls.push_back(entry);
  }
}

// A process with starts of calls has the same calls in NCCL's ranges, under the same numbers of communicators or not.
void CollectiveEntries::take_ranges() {
  if (trace_.payload_values.empty()) return;
  std::vector<int8_t> of_nccl(trace_.labels.size(), -1);
  for (const Range& range : trace_.ranges) {
    int8_t& known = of_nccl[index(range.label)];
    if (known < 0) known = trace_.text(trace_.labels[index(range.label)].domain) == "NCCL" ? 1 : 0;
    if (known == 0) continue;
    const uint32_t unit = unit_of_[index(trace_.thread(range.thread).process)];
    has_ranges_[unit] = true;
    if (!recorded_[unit]) add_range(range);
  }
  // A call that makes a communicator may come after it is known by number only; ranks are those of its payload.
  for (auto& [communicator, ranks] : calls_of_) {
    std::map<std::pair<uint32_t, int64_t>, Calls> named;
    for (auto& [key, one] : ranks) {
      const auto made = made_.find({communicator, key.first});
      if (!one.calls.recorded && made != made_.end() && !one.calls.several) {
        one.calls.rank = made->second.first;
        one.ranks = static_cast<uint64_t>(made->second.second);
        one.calls.made = true;
      }
      named[{key.first, one.calls.rank.value_or(kNoRank)}] = std::move(one);
    }
    ranks = std::move(named);
  }
}

void CollectiveEntries::add_range(const Range& range) {
  const auto value_of = [&](std::string_view key) -> std::string_view {
    const Rows values = trace_.payload_of(range);
    for (uint32_t i = values.first; i < values.last; ++i) {
      if (trace_.text(trace_.payload_values[i].name) == key)
        return unquoted(trace_.text(trace_.payload_values[i].json));
    }
    return {};
  };
  const std::string_view communicator = value_of("NCCL communicator ID"), bytes = value_of("Message size [bytes]"),
                         reduction = value_of("Reduction operation"), root = value_of("Root"),
                         peer = value_of("Peer rank"), rank = value_of("Rank"), ranks = value_of("No. of ranks");
  const bool split = !value_of("Parent NCCL communicator ID").empty();
  const std::string_view name = trace_.range_name(range);
  const std::optional<uint64_t> number = number_in<uint64_t>(communicator);
  if (!number || *number == 0) return;
  const uint32_t unit = unit_of_[index(trace_.thread(range.thread).process)];
  if (makes_communicator(name)) {
    Calls& made = of(*number, unit, std::nullopt);
    made.calls.made = true;
    const std::optional<int64_t> of_rank = number_in<int64_t>(rank), of_ranks = number_in<int64_t>(ranks),
                                 devices = number_in<int64_t>(value_of("No. of devices"));
    if (devices && *devices > 1) made.calls.several = true;
    if (!split && of_rank && of_ranks) {
      const auto [known, first] = made_.try_emplace({*number, unit}, *of_rank, *of_ranks);
      if (!first && known->second.first != *of_rank) made.calls.several = true;
      made.ranks = std::max(made.ranks, static_cast<uint64_t>(std::max<int64_t>(0, *of_ranks)));
    }
    return;
  }
  const CollectiveKind kind = collective_kind(name);
  if (kind == CollectiveKind::Other || name == "ncclCommDestroy") return;
  ++calls_;
  Calls& to = of(*number, unit, std::nullopt);
  CollectiveEntry entry;
  entry.time_ns = range.begin_ns;
  entry.end_ns = range.unfinished ? INT64_MAX : range.end_ns;
  entry.thread = index(range.thread);
  if (kind == CollectiveKind::PointToPoint) {
    auto& list = name == "ncclSend" ? to.calls.sends : to.calls.receives;
    std::vector<CollectiveEntry>& of_peer = list[number_in<int64_t>(peer).value_or(kNoRank)];
    entry.number = of_peer.size() + 1;
    entry.text = intern(fmt::format("{}(bytes={})", name, bytes));
    of_peer.push_back(entry);
    return;
  }
  entry.number = to.calls.calls.size() + 1;
  std::string text = fmt::format("{}(bytes={}", name, bytes);
  if (!reduction.empty()) text += fmt::format(", op={}", reduction);
  if (!root.empty()) text += fmt::format(", root={}", root);
  entry.text = intern(text + ")");
  to.calls.calls.push_back(entry);
}

std::string CollectiveEntries::kind(uint32_t row) const {
  const std::string& text = texts_[row];
  std::string name = text.substr(0, text.find('('));
  if (name == "ncclSend") return "send";
  if (name == "ncclRecv") return "receive";
  const CollectiveKind kind = collective_kind(name);
  return kind == CollectiveKind::Other || kind == CollectiveKind::PointToPoint
             ? name
             : std::string(collective_kind_text(kind));
}

}  // namespace prof::analyzer
