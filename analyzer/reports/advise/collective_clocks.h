// By how much do the clocks of hosts differ, as far as collective operations show it? A collective ends at nearly the
// same time everywhere, so the ends of its kernels show how far apart the clocks are. The k-th communication kernels of
// one name belong together if every process has equally many. Used by late-rank.
#pragma once

#include "analyzer/model/trace.h"

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

namespace prof::analyzer {

// Kernels of one collective end at nearly the same time: within this time, or within half of the shortest kernel.
inline constexpr int64_t kEndTogetherNs = 10'000;

struct CollectiveClocks {
  // By process: what its clock is ahead of the first process with collectives; 0 for processes of one host, for
  // differences of at most kEndTogetherNs, and if the collectives do not show it.
  std::vector<int64_t> ahead_ns;
  int64_t differ_ns = 0;  // the largest difference between two clocks
  // How far the ends of a collective are apart after the difference is taken out, for half of the collectives. If that
  // is not clearly less than the difference, or if there are few collectives, the ends show nothing about clocks.
  int64_t unsure_ns = 0;
  bool unpaired =
      false;  // processes of several hosts have different numbers of collectives, so nothing can be compared

  int64_t of(ProcessId process) const { return ahead_ns[index(process)]; }
};

// `by_name`: communication kernels, rows of Trace::operations in order of their start, by name.
CollectiveClocks collective_clocks(const Trace& trace,
                                   const std::map<std::string_view, std::vector<uint32_t>>& by_name);

}  // namespace prof::analyzer
