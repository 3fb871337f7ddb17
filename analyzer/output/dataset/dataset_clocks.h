// How far are the clocks of the hosts of a dataset apart? A second stage after the exports of all ranks: it reads the
// tables processes and clock_evidence, and writes the table clocks. The method is that of
// analysis/collectives/host_clocks.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace prof::analyzer::dataset {

struct ClockSummary {
  size_t processes = 0, clocks = 0;
  size_t measured = 0, unknown = 0;  // of the clocks besides the reference
  size_t collectives = 0;            // matched
  std::string reference;             // name of the host
  double bound_ns = 0;               // the largest of the measured ones
};

// At most this many rows of evidence are kept, 64 bytes each. Of more, equal operations of all ranks are chosen.
inline constexpr size_t kMostEvidence = size_t{1} << 24;

// Replaces the table of the run. Throws OutputError if the folder is no dataset of this version with that run, or if
// a file cannot be read or written.
ClockSummary write_clocks(const std::string& folder, const std::string& run, size_t most_evidence = kMostEvidence);

}  // namespace prof::analyzer::dataset
