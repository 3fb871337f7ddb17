// What did one rank of a job do? The sums of a process, from which the report `ranks` compares ranks. Its memory grows
// with the number of kinds of kernels, not with the number of operations, so the model can be dropped afterwards.
//
// All times are on the rank's own clock, so nothing here depends on how well the clocks of the hosts agree.
#pragma once

#include "analyzer/analysis/analysis.h"
#include "analyzer/analysis/idle/gap_division.h"
#include "analyzer/analysis/median_outliers.h"

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace prof::analyzer {

enum class RankItemKind : uint8_t { Kernel, Copy, Collective, Idle, Clock };
// "kernel", "copy" …
std::string_view rank_item_kind_text(RankItemKind kind);

struct RankItemKey {
  RankItemKind kind{};
  std::string name;   // kernels and collectives: the full name; copies: direction and memory; idle: the cause
  std::string shape;  // kernels and collectives: "128x1x1 of 256x1x1"
  auto operator<=>(const RankItemKey&) const = default;
};

// The typical value of an item on one rank, and its confidence limits (limits_of_median()):
//   Kernel, Collective  median time of a call, in ns
//   Copy                median time of a byte, in ns; copies count by their bytes
//   Idle                median over the steps of the idle time with that cause, in ns; without steps, the share of the
//                       window
//   Clock               median time of a cycle of the SM clock, in ns, of hardware samples
struct RankItem {
  uint64_t count = 0;  // calls; Idle: steps, or 1; Clock: samples
  uint64_t bytes = 0;
  int64_t total_ns = 0;
  double typical = 0, low = 0, high = 0;
};

// A rank keeps at most this many numbers about its steps.
inline constexpr size_t kMostKeptSteps = 1024;

struct RankSums {
  uint32_t process = kNone;  // row of Trace::processes
  uint32_t devices = 0;
  std::string gpu;  // names of its GPUs
  // From the start of the first step to the end of the last; without steps, from the first start to the last end of its
  // GPU operations. With several GPUs, busy_ns and the times after it are sums over them.
  int64_t window_ns = 0;
  int64_t busy_ns = 0, compute_ns = 0, exposed_communication_ns = 0, copies_ns = 0, exposed_copies_ns = 0, idle_ns = 0;
  uint64_t launches = 0, operations = 0;  // in the window
  std::array<int64_t, kGapCharges> idle_by_cause_ns{};

  uint64_t steps = 0;
  int64_t first_step = 0;       // the number in the name of the first one, else 0
  double step_ns = 0;           // median length
  uint64_t steps_a_number = 1;  // a power of two
  // The mean of each `steps_a_number` consecutive steps: the length of the step without exposed communication. All
  // ranks wait for the slowest one in a collective, so their steps have one length; without this wait they differ.
  std::vector<float> own_step_ns;

  std::map<RankItemKey, RankItem> items;
};

// The sums of one process; nullopt if it has no GPU operation that is selected. Steps are the ranges of --window if
// that names ranges, else those of --window step, if there are any. O(n log n).
std::optional<RankSums> sums_of_rank(const AnalysisInput& all, ProcessId process);

}  // namespace prof::analyzer
