// The calls of NCCL of each rank of each communicator, in order. From records of their starts (PROF_COLLECTIVES), else
// from the ranges of NCCL's NVTX. Used by rank_blame.h.
#pragma once

#include "analyzer/analysis/collectives/collective_traffic.h"
#include "analyzer/model/trace.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace prof::analyzer {

// A call. Its texts are rows of CollectiveEntries::texts.
struct CollectiveEntry {
  int64_t time_ns = 0;
  int64_t end_ns = INT64_MAX;  // INT64_MAX: it had not returned
  uint64_t number = 0;         // on its communicator; 0: it makes the communicator
  uint32_t thread = 0;
  uint32_t text = 0;  // call with the arguments that are equal on all ranks
};

// The calls of one rank on one communicator.
struct RankCalls {
  uint32_t process = kNone;            // the first row of Trace::processes of this process
  std::optional<int64_t> rank;         // in the communicator
  bool recorded = false;               // from records of starts, so numbers are certain
  bool made = false;                   // the log has the call that made the communicator
  bool several = false;                // calls of several ranks of this process, which cannot be told apart
  bool local = false;                  // the number of the communicator is of the process only
  std::vector<CollectiveEntry> calls;  // in order of numbers
  std::map<int64_t, std::vector<CollectiveEntry>> sends, receives;  // by peer
  bool pairs_from_first = true;                                     // no send or receive is missing at the start
};

struct CommunicatorCalls {
  std::string name;                // "0x1111"
  uint64_t ranks = 0;              // 0: not known
  std::vector<RankCalls> of_rank;  // by rank, then by process
};

class CollectiveEntries {
 public:
  explicit CollectiveEntries(const Trace& trace);

  const std::vector<CommunicatorCalls>& communicators() const { return communicators_; }
  std::string_view text(uint32_t row) const { return texts_[row]; }
  // "all-reduce"
  std::string kind(uint32_t row) const;
  // Of a send or receive: the arguments that are equal at both ends.
  std::string_view pair_arguments(uint32_t row) const {
    const std::string_view text = texts_[row];
    return text.substr(std::min(text.find('('), text.size()));
  }
  uint64_t calls() const { return calls_; }
  // Processes with the same host and pid are one: PROF_PARTS. By row of Trace::processes: the first of them.
  const std::vector<uint32_t>& unit_of() const { return unit_of_; }
  // The rows of Trace::processes of a unit, in order. Empty if `unit` is not the first of a process.
  const std::vector<uint32_t>& parts_of(uint32_t unit) const { return parts_of_[unit]; }
  // Whether starts of calls were recorded; whether ranges of NCCL were. By unit.
  const std::vector<bool>& recorded() const { return recorded_; }
  const std::vector<bool>& has_ranges() const { return has_ranges_; }

 private:
  struct Calls {
    RankCalls calls;
    uint64_t ranks = 0;
  };
  void find_units();
  void take_starts();
  void take_ranges();
  void add_range(const Range& range);
  uint32_t intern(std::string text);
  Calls& of(uint64_t communicator, uint32_t unit, std::optional<int64_t> rank);

  const Trace& trace_;
  std::vector<uint32_t> unit_of_;
  std::vector<std::vector<uint32_t>> parts_of_;
  std::vector<bool> recorded_, has_ranges_;
  std::map<std::string, uint32_t> text_rows_;
  std::vector<std::string> texts_;
  std::map<uint64_t, std::map<std::pair<uint32_t, int64_t>, Calls>> calls_of_;
  std::map<std::pair<uint64_t, uint32_t>, std::pair<int64_t, int64_t>> made_;  // NVTX: rank, ranks
  std::vector<CommunicatorCalls> communicators_;
  uint64_t calls_ = 0;
};

}  // namespace prof::analyzer
