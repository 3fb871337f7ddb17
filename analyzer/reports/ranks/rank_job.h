// Which ranks of a job hold it back, and by what? Compares the sums of all ranks (rank_sums.h). Used by the report
// `ranks`, by its picture, and by the reader that drops each log after its sums are known.
#pragma once

#include "analyzer/reports/ranks/rank_sums.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace prof::analyzer {

struct RankRow {
  RankSums sums;                                     // without items
  std::vector<std::pair<uint32_t, RankItem>> items;  // by number in RankJob::keys(), ascending
};

class RankJob {
 public:
  void add(RankSums sums);
  // After the last add(), when the ranks of all processes are known: joins logs of one process (PROF_PARTS), whose
  // typical values become means by calls, and puts the rows in order of rank, host and process id. The order of add()
  // does not change the result.
  void finish(const Trace& trace);

  // The rows of a finished job whose processes are wanted.
  template <class Wanted> void take_rows(const RankJob& job, Wanted&& wanted) {
    keys_ = job.keys_;
    for (const RankRow& row : job.rows_) {
      if (wanted(row.sums.process)) rows_.push_back(row);
    }
  }

  const std::vector<RankRow>& rows() const { return rows_; }
  const std::vector<RankItemKey>& keys() const { return keys_; }
  uint32_t without_gpu = 0;  // processes without GPU operations: no rows

 private:
  std::vector<RankRow> rows_;
  std::map<RankItemKey, uint32_t> numbers_;
  std::vector<RankItemKey> keys_;
};

// An item in which a rank is worse than the others.
struct RankFinding {
  uint32_t row = 0;              // of RankJob::rows()
  uint32_t key = kNone;          // of RankJob::keys(); kNone: most kernels of the rank
  uint64_t kernels = 0;          // then: number of kinds of kernels that are slow
  uint64_t count = 0;            // calls, copies or steps of this rank
  double value = 0, median = 0;  // as RankItem::typical; over the ranks. Most kernels: the median ratio, and 1
  double z = 0, limit = 0;
  // By how much this rank takes longer than a typical rank: per step, or in its window if it has no steps. The job
  // loses at most that, because other ranks may be late for other reasons, and copies may overlap kernels.
  int64_t cost_ns = 0;
  double ratio() const { return median > 0 ? value / median : 0; }
};

struct RankComparison {
  std::vector<RankFinding> findings;  // the largest cost first
  size_t pairs = 0;                   // of rank and item that were tested
  uint64_t too_few_calls = 0;         // pairs that were not tested, because the rank has fewer than kFewestCalls
  uint64_t small = 0;                 // findings that cost less than kSmallShare of a step or window
  uint64_t explained = 0;             // late in collectives because of other findings of the rank
  bool too_few_ranks = false;         // fewer than kFewestOutlierRanks with one kind of GPU
};

inline constexpr uint64_t kFewestCalls = 8;
inline constexpr double kSmallShare = 0.001;

// Compares ranks with equal GPUs. A rank that is late has short collectives, because it does not wait in them. If its
// other findings cost at least half of that time, they explain it, and the collectives are no finding.
// O(ranks × items).
RankComparison compare_ranks(const RankJob& job);

// What makes the answer incomplete or the ranks hard to compare, one line each: missing ranks, ranks with fewer steps,
// ranks on another kind of GPU. Contradictory ranks are lines of rank_problems().
std::vector<std::string> job_problems(const Trace& trace, const RankJob& job);

}  // namespace prof::analyzer
