// What may be wrong with a run, and what to do about it: one rule a row. A rule looks for a pattern, says what it saw and names
// the scenario that would undo it; how much that would save is the replay's answer, never the rule's. Used by advise.
#pragma once

#include "analyzer/analysis/run_graph.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace prof::analyzer {

struct AdviceInput {
  const AnalysisInput& input;
  const DependencyGraph& graph;
  const std::vector<NamedNodes>& named;
};

struct Advice {
  std::string finding;   // what is wrong
  std::string evidence;  // how often, how long, where most
  std::string_view action;
  Scenario scenario;
  int64_t floor_ns = 0;  // the run cannot get shorter than this
  // The longest instance: rows of Trace::host and Trace::operations, kNone where there is none.
  uint32_t call = kNone, operation = kNone;
};

struct AdviceRule {
  std::string_view name;
  void (*find)(const AdviceInput& input, std::vector<Advice>& found);
};

std::span<const AdviceRule> advice_rules();

}  // namespace prof::analyzer
