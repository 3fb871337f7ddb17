// May a change pass? Each rule of `--fail-if` names a quantity and by how much it may grow. The answer is yes, no, or
// that the runs do not decide it; a rule never passes because something could not be tested. docs/diff.md has the
// definitions.
#pragma once

#include "analyzer/analysis/diff/run_diff.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace prof::analyzer {

struct GateRule {
  enum class What : uint8_t { Slower, Kernel, Wall, Busy, Idle, Memory };
  What what = What::Slower;
  std::string kernel;  // Kernel: its short or full name
  double percent = 0;  // by how much the quantity may grow
  std::string text;    // as the user wrote it
};

// "slower:3%", "kernel:NAME:3%", "wall:3%", "busy:3%", "idle:3%", "memory:3%". Throws std::runtime_error for other
// words.
GateRule parse_gate_rule(const std::string& word);

enum class GateStatus : uint8_t { Passed, Failed, Undecided };
std::string_view gate_status_name(GateStatus status);

struct GateVerdict {
  GateRule rule;
  GateStatus status = GateStatus::Undecided;
  std::string reason;  // one line
  // Of the row or total that decides: change in percent, and its interval (kConfidence). Empty: not tested.
  std::optional<double> change_percent, low_percent, high_percent;
  uint64_t tested = 0, failing = 0, open = 0;  // rows of Slower and Kernel; a total counts as one
};

// What a row or total may do to the whole before it can leave a rule undecided: DiffLimits::of_busy.
GateVerdict judge(const GateRule& rule, const RunDiff& diff, const DiffLimits& limits = {});

}  // namespace prof::analyzer
