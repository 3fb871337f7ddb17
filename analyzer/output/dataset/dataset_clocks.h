// How far are the clocks of the hosts of a dataset apart? A second stage after the exports of all ranks: it reads the
// tables processes and clock_evidence, and writes the table clocks. The method is that of
// analysis/collectives/host_clocks.h.
#pragma once

#include "analyzer/analysis/collectives/collective_match.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace prof::analyzer::dataset {

struct ClockSummary {
  size_t processes = 0, clocks = 0;
  size_t measured = 0, unknown = 0;  // of the clocks besides the reference
  size_t collectives = 0;            // matched
  std::string reference;             // name of the host
  double bound_ns = 0;               // the largest of the measured ones
};

// At most this many rows of evidence are kept: 1.3 GB of memory while they are matched.
inline constexpr size_t kMostEvidence = size_t{1} << 22;

// Evidence of all processes. Of too much, operations are chosen by a hash of what all ranks share, so that the kernels
// of an operation are kept or left out together. Rows without a step and a number are counted, so all are kept.
class EvidenceChoice {
 public:
  explicit EvidenceChoice(size_t most) : most_(most) {}

  // Sets the row, key and step of `evidence`.
  void add(CollectiveEvidence evidence, int64_t duration_ns, std::string_view key, std::string_view step);
  // Rows have the numbers of their places.
  const CollectiveEvidenceList& list();
  int64_t duration_ns(uint32_t row) const { return durations_[row]; }

 private:
  uint64_t chance_of(const CollectiveEvidence& each) const;
  void keep_half();
  uint32_t intern(std::string_view text);

  std::unordered_map<std::string, uint32_t> texts_;
  std::vector<uint64_t> hashes_{0};  // of the texts
  CollectiveEvidenceList list_;
  std::vector<int64_t> durations_;
  size_t most_;
  uint64_t threshold_ = UINT64_MAX;
};

// Replaces the table of the run. Throws OutputError if the folder is no dataset of this version with that run, or if
// a file cannot be read or written.
ClockSummary write_clocks(const std::string& folder, const std::string& run, size_t most_evidence = kMostEvidence);

}  // namespace prof::analyzer::dataset
