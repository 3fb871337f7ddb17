// See sequence_counts.h.
#include "analyzer/analysis/sequences/sequence_counts.h"

#include "analyzer/analysis/select/selected_operations.h"
#include "analyzer/base/saturated.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

namespace prof::analyzer {

namespace {

constexpr uint32_t kMostDistinct = 1u << 20;
constexpr size_t kMostCandidates = 512;  // per length

// Numbers for the names of operations: kernels by name, copies by kind, memsets.
class NameNumbers {
 public:
  explicit NameNumbers(const AnalysisInput& input) : input_(input), of_string_(input.trace.strings.size(), kNone) {}

  uint32_t of(const GpuOperation& operation, SequencePositions& positions) {
    uint32_t* number = &fill_;
    const bool is_kernel = operation.has_kernel();
    if (is_kernel) {
      number = &of_string_[index(input_.trace.kernels[index(input_.views.names().named_by(operation))].name)];
    } else if (operation.kind() == GpuKind::Copy) {
      number = &of_copy_[operation.copy_kind()];
    }
    if (*number == kNone) {
      *number = static_cast<uint32_t>(positions.is_kernel.size());
      positions.is_kernel.push_back(is_kernel ? 1 : 0);
    }
    return *number;
  }

 private:
  const AnalysisInput& input_;
  std::vector<uint32_t> of_string_;
  std::array<uint32_t, 256> of_copy_ = [] {
    std::array<uint32_t, 256> none{};
    none.fill(kNone);
    return none;
  }();
  uint32_t fill_ = kNone;
};

SequencePositions positions_of(const AnalysisInput& input, const std::vector<Window>& windows) {
  const Trace& trace = input.trace;
  const IntervalSet wanted = union_of(windows);
  SequencePositions all;
  NameNumbers numbers(input);
  uint32_t stream = kNone, launch = kNone;
  int64_t until_ns = 0;
  const auto put = [&](uint32_t name, uint32_t row, const SequencePositions::Sums& own) {
    if (all.before.empty()) all.before.emplace_back();
    const SequencePositions::Sums& sums = all.before.back();
    all.name.push_back(name);
    all.row.push_back(row);
    all.before.push_back({add_saturated(sums.gpu_ns, own.gpu_ns), sums.gap_ns + own.gap_ns,
                          add_saturated(sums.launch_ns, own.launch_ns), sums.short_kernels + own.short_kernels});
  };
  for_each_selected(
      input, [](StreamId) { return true; },
      [&](uint32_t row, const GpuOperation& operation) {
        if (!wanted.contains(operation.start_ns)) return;
        const bool same_stream = stream == operation.stream_index;
        const int64_t gap_ns = same_stream ? std::max<int64_t>(operation.start_ns - until_ns, 0) : 0;
        if (!same_stream || gap_ns > kSequencePause) put(kNone, kNone, {});
        SequencePositions::Sums own;
        own.gpu_ns = std::max<int64_t>(operation.duration_ns(), 0);
        own.gap_ns = gap_ns > kSequencePause ? 0 : gap_ns;
        if (operation.linked() && operation.launch != launch)
          own.launch_ns = std::max<int64_t>(trace.host[operation.launch].duration_ns(), 0);
        own.short_kernels = operation.has_kernel() && own.gpu_ns < kShortKernel ? 1 : 0;
        put(numbers.of(operation, all), row, own);
        until_ns = same_stream ? std::max(until_ns, operation.end_ns) : operation.end_ns;
        stream = operation.stream_index;
        launch = operation.launch;
      });
  return all;
}

// Counts sequences of one length by key: a growing hash table with open addressing.
class CountedTable {
 public:
  // kNone: there are too many distinct keys.
  uint32_t find_or_add(uint64_t key) {
    if (2 * (entries_.size() + 1) > slots_.size()) grow();
    for (size_t at = slot(key);; at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at] == kNone) {
        if (entries_.size() == kMostDistinct) return kNone;
        slots_[at] = static_cast<uint32_t>(entries_.size());
        entries_.push_back({key});
        return slots_[at];
      }
      if (entries_[slots_[at]].key == key) return slots_[at];
    }
  }
  std::vector<CountedSequence>& entries() { return entries_; }

 private:
  size_t slot(uint64_t key) const {
    const uint64_t mixed = (key ^ key >> 31) * 0x9e3779b97f4a7c15u;
    return static_cast<size_t>(mixed >> 20) & (slots_.size() - 1);
  }
  void grow() {
    slots_.assign(std::max<size_t>(slots_.size() * 2, 1024), kNone);
    for (uint32_t i = 0; i < entries_.size(); ++i) {
      size_t at = slot(entries_[i].key);
      while (slots_[at] != kNone) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = i;
    }
  }
  std::vector<uint32_t> slots_;
  std::vector<CountedSequence> entries_;
};

bool worth_more(const SequenceCandidate& a, const SequenceCandidate& b) {
  return std::tuple(b.counted.gap_ns, b.counted.launch_ns, a.length, a.counted.first) <
         std::tuple(a.counted.gap_ns, a.counted.launch_ns, b.length, b.counted.first);
}

class Search {
 public:
  Search(const AnalysisInput& input, const std::vector<Window>& windows) : at_(positions_of(input, windows)) {}

  SequenceCounts run() {
    std::vector<uint32_t> ids = at_.name;
    std::vector<CountedSequence> shorter;
    for (uint32_t length = kShortestSequence; length <= kLongestSequence; ++length) {
      std::vector<CountedSequence> longer = count(ids, length);
      for (const CountedSequence& each : longer) {
        if (each.count < kLeastSequenceCount || length == kShortestSequence) continue;
        for (const uint64_t part : {each.key >> 32, each.key & UINT32_MAX}) {
          if (shorter[part].count == each.count) shorter[part].covered = true;
        }
      }
      keep(shorter, length - 1);
      shorter = std::move(longer);
    }
    keep(shorter, kLongestSequence);
    std::sort(candidates_.begin(), candidates_.end(), worth_more);
    return {std::move(at_), std::move(candidates_), set_aside_};
  }

 private:
  // ids: the sequence of `length` − 1 at each position, kNone if it is not frequent. On return the sequence of
  // `length`.
  std::vector<CountedSequence> count(std::vector<uint32_t>& ids, uint32_t length) {
    CountedTable table;
    for (size_t i = 0; i < ids.size(); ++i) {
      const bool possible = i + 1 < ids.size() && ids[i] != kNone && ids[i + 1] != kNone;
      if (!possible) {
        ids[i] = kNone;
        continue;
      }
      const uint32_t id = table.find_or_add(uint64_t{ids[i]} << 32 | ids[i + 1]);
      ids[i] = id;
      if (id == kNone) {
        ++set_aside_;
        continue;
      }
      CountedSequence& entry = table.entries()[id];
      if (entry.count != 0 && i < entry.end) continue;
      if (entry.count++ == 0) entry.first = static_cast<uint32_t>(i);
      entry.end = static_cast<uint32_t>(i + length);
      const SequencePositions::Sums &before = at_.before[i], &after = at_.before[i + length];
      entry.gpu_ns = add_saturated(entry.gpu_ns, after.gpu_ns - before.gpu_ns);
      entry.gap_ns += after.gap_ns - at_.before[i + 1].gap_ns;  // without the gap before the first operation
      entry.launch_ns = add_saturated(entry.launch_ns, after.launch_ns - before.launch_ns);
      entry.short_kernels += after.short_kernels - before.short_kernels;
    }
    for (uint32_t& id : ids) {
      if (id != kNone && table.entries()[id].count < kLeastSequenceCount) id = kNone;
    }
    return std::move(table.entries());
  }

  void keep(const std::vector<CountedSequence>& all, uint32_t length) {
    std::vector<SequenceCandidate> kept;
    for (const CountedSequence& each : all) {
      if (each.count >= kLeastSequenceCount && !each.covered && has_kernel(each.first, length))
        kept.push_back({length, each});
    }
    if (kept.size() > kMostCandidates) {
      std::nth_element(kept.begin(), kept.begin() + kMostCandidates, kept.end(), worth_more);
      kept.resize(kMostCandidates);
    }
    candidates_.insert(candidates_.end(), kept.begin(), kept.end());
  }
  bool has_kernel(uint32_t first, uint32_t length) const {
    for (uint32_t i = first; i < first + length; ++i) {
      if (at_.is_kernel[at_.name[i]] != 0) return true;
    }
    return false;
  }

  SequencePositions at_;
  std::vector<SequenceCandidate> candidates_;
  uint64_t set_aside_ = 0;
};

}  // namespace

SequenceCounts count_sequences(const AnalysisInput& input, const std::vector<Window>& windows) {
  return Search(input, windows).run();
}

}  // namespace prof::analyzer
