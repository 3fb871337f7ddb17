// See repeated_sequences.h; sequence_counts.h counts them.
#include "analyzer/analysis/sequences/repeated_sequences.h"

#include "analyzer/analysis/sequences/sequence_counts.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <unordered_map>

namespace prof::analyzer {

namespace {

using Names = std::array<uint32_t, kLongestSequence>;

Names names_at(const SequencePositions& at, uint32_t first, uint32_t length) {
  Names names;
  names.fill(kNone);
  std::copy_n(at.name.begin() + first, length, names.begin());
  return names;
}

struct NamesHash {
  size_t operator()(const Names& names) const {
    uint64_t hash = 0;
    for (const uint32_t name : names) {
      hash = (hash ^ name) * 0x9e3779b97f4a7c15u;
      hash ^= hash >> 29;
    }
    return static_cast<size_t>(hash);
  }
};

// The smallest rotation in lexicographic order. It is equal for all rotations of the body of a loop.
Names least_rotation(const Names& names, uint32_t length) {
  Names least = names, rotated = names;
  for (uint32_t turn = 1; turn < length; ++turn) {
    std::rotate(rotated.begin(), rotated.begin() + 1, rotated.begin() + length);
    least = std::min(least, rotated);
  }
  return least;
}

// The shortest p such that every operation equals the operation p positions before it.
uint32_t period_of(const Names& names, uint32_t length) {
  uint32_t period = 1;
  while (period < length && !std::equal(names.begin() + period, names.begin() + length, names.begin())) ++period;
  return period;
}

// Moves candidates last that may only be a shifted loop: a rotation of one that occurs more often, or a body and a part
// of the next. They get only the positions that the loop itself leaves.
void put_echoes_last(const SequencePositions& at, std::vector<SequenceCandidate>& candidates) {
  std::unordered_map<Names, uint32_t, NamesHash> counts, most_of_rotations;
  for (const SequenceCandidate& each : candidates) {
    const Names names = names_at(at, each.counted.first, each.length);
    counts[names] = each.counted.count;
    uint32_t& most = most_of_rotations[least_rotation(names, each.length)];
    most = std::max(most, each.counted.count);
  }
  std::stable_partition(candidates.begin(), candidates.end(), [&](const SequenceCandidate& each) {
    const Names names = names_at(at, each.counted.first, each.length);
    if (each.counted.count < most_of_rotations[least_rotation(names, each.length)]) return false;
    const uint32_t period = period_of(names, each.length);
    if (period == 1 || period == each.length) return true;
    const auto body = counts.find(names_at(at, each.counted.first, period));
    return body == counts.end() || body->second <= each.counted.count;
  });
}

// Assigns every position to at most one candidate. Returns the number of occurrences that each gets outside those of
// better ones.
std::vector<uint32_t> share_positions(const SequencePositions& at, const std::vector<SequenceCandidate>& candidates) {
  std::unordered_map<Names, uint32_t, NamesHash> rank_of;
  for (uint32_t rank = 0; rank < candidates.size(); ++rank)
    rank_of[names_at(at, candidates[rank].counted.first, candidates[rank].length)] = rank;
  // One bit per length of the candidates that begin with a name. It avoids most of the expensive lookups.
  std::vector<uint16_t> lengths_from(at.is_kernel.size());
  for (const SequenceCandidate& each : candidates) {
    uint16_t& lengths = lengths_from[at.name[each.counted.first]];
    lengths = static_cast<uint16_t>(lengths | 1u << each.length);
  }

  std::vector<uint16_t> best(at.name.size(), UINT16_MAX);
  for (uint32_t i = 0; i < at.name.size(); ++i) {
    const uint32_t lengths = at.name[i] == kNone ? 0 : lengths_from[at.name[i]];
    if (lengths == 0) continue;
    Names names;
    names.fill(kNone);
    names[0] = at.name[i];
    for (uint32_t length = 2; lengths >> length != 0 && i + length <= at.name.size(); ++length) {
      if (at.name[i + length - 1] == kNone) break;
      names[length - 1] = at.name[i + length - 1];
      if ((lengths >> length & 1) == 0) continue;
      if (const auto found = rank_of.find(names); found != rank_of.end())
        best[i] = std::min(best[i], static_cast<uint16_t>(found->second));
    }
  }
  std::vector<uint32_t> given(candidates.size());
  for (uint32_t i = 0; i < best.size();) {
    if (best[i] == UINT16_MAX) {
      ++i;
      continue;
    }
    const uint32_t end = i + candidates[best[i]].length;
    const bool better_inside =
        std::any_of(best.begin() + i + 1, best.begin() + end, [&](uint16_t other) { return other < best[i]; });
    if (!better_inside) ++given[best[i]];
    i = better_inside ? i + 1 : end;
  }
  return given;
}

}  // namespace

Sequences find_sequences(const AnalysisInput& input, const std::vector<Window>& windows) {
  SequenceCounts counts = count_sequences(input, windows);
  std::vector<SequenceCandidate>& candidates = counts.candidates;
  const SequencePositions& at = counts.positions;
  put_echoes_last(at, candidates);
  const std::vector<uint32_t> given = share_positions(at, candidates);
  Sequences result;
  result.set_aside = counts.set_aside;
  for (size_t i = 0; i < candidates.size(); ++i) {
    const CountedSequence& counted = candidates[i].counted;
    if (given[i] < kLeastSequenceCount || 2 * given[i] < counted.count) continue;
    Sequence& sequence = result.found.emplace_back();
    for (uint32_t p = counted.first; p < counted.first + candidates[i].length; ++p)
      sequence.example.push_back(at.row[p]);
    sequence.count = counted.count;
    sequence.gpu_ns = counted.gpu_ns;
    sequence.gap_ns = counted.gap_ns;
    sequence.launch_ns = counted.launch_ns;
    sequence.short_kernels = static_cast<uint32_t>(counted.short_kernels);
  }
  std::stable_sort(result.found.begin(), result.found.end(), [](const Sequence& a, const Sequence& b) {
    return std::tuple(a.gap_ns, a.launch_ns) > std::tuple(b.gap_ns, b.launch_ns);
  });
  return result;
}

}  // namespace prof::analyzer
