// See collective_match.h.
#include "analyzer/analysis/collectives/collective_match.h"

#include "analyzer/analysis/bursts.h"
#include "analyzer/model/range_counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <unordered_map>

namespace prof::analyzer {

namespace {

using Entry = CollectiveEvidence;
using OfRanks = std::map<uint32_t, std::vector<Entry>>;  // by device

// The steps of each process, by the time of their start.
class Steps {
 public:
  explicit Steps(const Trace& trace) : trace_(trace), of_process_(trace.processes.size()) {
    const bool profiler = std::any_of(trace.labels.begin(), trace.labels.end(), [&](const Label& label) {
      return trace.text(label.text).starts_with(kProfilerStep);
    });
    if (trace.ranges.empty()) return;
    const RangeCounters counters(trace);
    const uint32_t steps = counters.steps();
    if (!profiler && steps == kNone) return;
    for (const Range& range : trace.ranges) {
      const bool is_step =
          profiler ? trace.range_name(range).starts_with(kProfilerStep) : counters.folded_as(range.label) == steps;
      if (is_step) of_process_[index(trace.thread(range.thread).process)].push_back(&range);
    }
    for (std::vector<const Range*>& ranges : of_process_)
      std::stable_sort(ranges.begin(), ranges.end(),
                       [](const Range* a, const Range* b) { return a->begin_ns < b->begin_ns; });
  }

  // The name of the step around the launch of an operation; empty: none.
  std::string_view of(const GpuOperation& operation) const {
    const std::vector<const Range*>& ranges = of_process_[index(trace_.process_of(operation.stream()))];
    const int64_t time_ns = operation.linked() ? trace_.host[operation.launch].begin_ns : operation.start_ns;
    const auto after = std::partition_point(ranges.begin(), ranges.end(),
                                            [&](const Range* range) { return range->begin_ns <= time_ns; });
    if (after == ranges.begin() || (*(after - 1))->end_ns < time_ns) return {};
    return trace_.range_name(**(after - 1));
  }

 private:
  const Trace& trace_;
  std::vector<std::vector<const Range*>> of_process_;
};

bool alike(const std::vector<Entry>& a, const std::vector<Entry>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Entry& x, const Entry& y) { return x.kind == y.kind && x.size == y.size; });
}

class Collector {
 public:
  Collector(const Trace& trace, const CollectiveCalls& calls) : trace_(trace), calls_(calls), steps_(trace) {}

  CollectiveEvidenceList run() {
    collect();
    return std::move(found_);
  }

 private:
  void collect() {
    std::unordered_map<uint32_t, uint32_t> kernels_of_call;
    std::vector<std::pair<uint32_t, std::optional<CollectiveCall>>> kernels;
    std::vector<bool> left_out(trace_.processes.size()), nccl(trace_.kernels.size());
    for (size_t p = 0; p < left_out.size(); ++p) left_out[p] = !budget_of(trace_.processes[p]).empty();
    for (size_t k = 0; k < nccl.size(); ++k)
      nccl[k] = trace_.text(trace_.kernels[k].name).find("nccl") != std::string_view::npos;
    for (uint32_t row = 0; row < trace_.operations.size(); ++row) {
      const GpuOperation& operation = trace_.operations[row];
      if (operation.kind() != GpuKind::Kernel || left_out[index(trace_.process_of(operation.stream()))]) continue;
      std::optional<CollectiveCall> call = calls_.of(operation);
      if (!call && !nccl[operation.detail]) continue;
      if (call && !call->grouped) ++kernels_of_call[call->range];
      kernels.emplace_back(row, call);
    }
    for (const auto& [row, call] : kernels) {
      if (call && (call->grouped || kernels_of_call[call->range] != 1)) continue;
      add(row, call);
    }
  }

  void add(uint32_t row, const std::optional<CollectiveCall>& call) {
    const GpuOperation& operation = trace_.operations[row];
    const std::string_view name = trace_.text(trace_.kernels[operation.detail].name);
    Entry entry;
    entry.row = row;
    entry.start_ns = operation.start_ns;
    entry.kind = call ? call->kind : collective_kind(name);
    if (entry.kind == CollectiveKind::Other || operation.end_ns < operation.start_ns) return;
    entry.device = index(trace_.stream(operation.stream()).device);
    std::string key;
    if (call) {
      // With uneven parts a rank may exchange nothing with the last one, and does not wait for it.
      if (call->name.find("alltoallv") != std::string_view::npos ||
          call->name.find("all_to_allv") != std::string_view::npos)
        return;
      entry.by = MatchedBy::Call;
      entry.size = call->size.value_or(0);
      entry.ranks = call->known_ranks();
      entry.root = call->rank && call->peer && *call->rank == *call->peer;
      if (entry.kind == CollectiveKind::PointToPoint) {
        if (!call->rank || !call->peer) return;
        entry.root = sends(call->name);
        key = entry.root ? fmt::format("{}>{}|", *call->rank, *call->peer)
                         : fmt::format("{}>{}|", *call->peer, *call->rank);
      }
      key += call->communicator;
      if (call->sequence.value_or(-1) >= 0 && entry.kind != CollectiveKind::PointToPoint) {
        entry.by = MatchedBy::Sequence;
        entry.sequence = *call->sequence;
      }
    } else {
      if (entry.kind == CollectiveKind::PointToPoint) return;
      key = fmt::format("{}|{}", trace_.stream(operation.stream()).number, name);
    }
    entry.key = intern(key);
    if (entry.by != MatchedBy::Sequence) entry.step = intern(steps_.of(operation));
    found_.rows.push_back(entry);
  }

  uint32_t intern(std::string_view text) {
    if (text.empty()) return 0;
    const auto [found, fresh] = numbers_.try_emplace(std::string(text), static_cast<uint32_t>(found_.texts.size()));
    if (fresh) found_.texts.emplace_back(text);
    return found->second;
  }

  static bool sends(std::string_view name) {
    return name.find("end") != std::string_view::npos && name.find("ecv") == std::string_view::npos;
  }

  const Trace& trace_;
  const CollectiveCalls& calls_;
  const Steps steps_;
  std::unordered_map<std::string, uint32_t> numbers_;
  CollectiveEvidenceList found_;
};

class Matcher {
 public:
  explicit Matcher(const CollectiveEvidenceList& evidence) : texts_(evidence.texts) {
    for (const Entry& entry : evidence.rows) add(entry);
  }

  CollectiveMatches run() {
    for (const auto& [key, ranks] : numbered_) join_numbered(ranks);
    for (auto& [key, steps] : counted_) join_steps(key.first, steps);
    found_.ranks_left = left_.size();
    return std::move(found_);
  }

 private:
  struct StepKernels {
    int64_t first_ns = INT64_MAX;  // of the first rank: orders the steps
    uint32_t rank = kNone;
    OfRanks ranks;
  };
  using StepsOfKey = std::map<std::string_view, StepKernels>;  // by name

  void add(const Entry& entry) {
    if (entry.by == MatchedBy::Sequence) {
      numbered_[{texts_[entry.key], entry.sequence}][entry.device].push_back(entry);
      return;
    }
    StepKernels& step = counted_[{entry.by, texts_[entry.key]}][texts_[entry.step]];
    if (entry.device < step.rank) step.rank = entry.device, step.first_ns = INT64_MAX;
    if (entry.device == step.rank) step.first_ns = std::min(step.first_ns, entry.start_ns);
    step.ranks[entry.device].push_back(entry);
  }

  // A number that a rank uses twice is no number of an operation.
  void join_numbered(const OfRanks& ranks) {
    std::vector<const Entry*> one;
    for (const auto& [rank, entries] : ranks) {
      if (entries.size() == 1 && (one.empty() || entries[0].kind == one[0]->kind)) one.push_back(entries.data());
    }
    join(one, MatchedBy::Sequence);
  }

  void join_steps(MatchedBy by, StepsOfKey& steps) {
    std::vector<StepKernels*> in_order;
    const bool named = steps.size() > (steps.contains("") ? 1u : 0u);
    for (auto& [name, step] : steps) {
      if (!named || !name.empty()) in_order.push_back(&step);  // nothing names the kernels outside steps
    }
    std::stable_sort(in_order.begin(), in_order.end(), [](const StepKernels* a, const StepKernels* b) {
      return std::pair(a->rank, a->first_ns) < std::pair(b->rank, b->first_ns);
    });
    std::set<uint32_t> left;
    for (StepKernels* const step : in_order) join_step(by, step->ranks, left);
    left_.insert(left.begin(), left.end());
  }

  void join_step(MatchedBy by, OfRanks& ranks, std::set<uint32_t>& left) {
    std::erase_if(ranks, [&](const auto& each) { return left.contains(each.first); });
    std::map<size_t, size_t> counts;  // number of kernels -> of ranks
    for (auto& [rank, entries] : ranks) {
      std::stable_sort(entries.begin(), entries.end(),
                       [](const Entry& a, const Entry& b) { return a.start_ns < b.start_ns; });
      ++counts[entries.size()];
    }
    if (counts.empty()) return;
    const size_t most = std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) {
                          return a.second < b.second;
                        })->first;
    const std::vector<Entry>* first = nullptr;
    std::vector<const std::vector<Entry>*> equal;
    for (const auto& [rank, entries] : ranks) {
      if (first == nullptr && entries.size() == most) first = &entries;
    }
    for (const auto& [rank, entries] : ranks) {
      if (alike(entries, *first)) {
        equal.push_back(&entries);
      } else {
        left.insert(rank);
      }
    }
    for (size_t k = 0; k < most; ++k) {
      std::vector<const Entry*> together;
      for (const std::vector<Entry>* const entries : equal) together.push_back(&(*entries)[k]);
      join(together, by);
    }
  }

  void join(const std::vector<const Entry*>& entries, MatchedBy by) {
    if (entries.size() < 2) return;
    MatchedCollective& one = found_.all.emplace_back();
    one.kind = entries.front()->kind;
    one.by = by;
    one.ranks = entries.size();
    for (const Entry* const entry : entries) {
      one.rows.push_back(entry->row);
      one.ranks = std::max(one.ranks, entry->ranks);
      if (entry->root) one.root = entry->row;
    }
    ++found_.of[static_cast<size_t>(by)];
  }

  const std::vector<std::string>& texts_;
  std::map<std::pair<std::string_view, int64_t>, OfRanks> numbered_;  // by key and number
  std::map<std::pair<MatchedBy, std::string_view>, StepsOfKey> counted_;
  std::set<uint32_t> left_;
  CollectiveMatches found_;
};

}  // namespace

CollectiveEvidenceList collective_evidence(const Trace& trace, const CollectiveCalls& calls) {
  return Collector(trace, calls).run();
}

CollectiveMatches match_collectives(const CollectiveEvidenceList& evidence) { return Matcher(evidence).run(); }

}  // namespace prof::analyzer
