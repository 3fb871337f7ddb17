#include "analyzer/analysis/cost/kernel_costs.h"

#include "analyzer/analysis/cost/kernel_claims.h"
#include "analyzer/analysis/cost/kernel_own_cost.h"
#include "analyzer/analysis/cost/kernel_role.h"
#include "analyzer/analysis/cost/kernel_shares.h"
#include "analyzer/analysis/cost/library_calls.h"
#include "analyzer/analysis/cost/range_cost.h"

#include <algorithm>
#include <span>

namespace prof::analyzer {

namespace {

bool has_shapes(const Trace& trace) {
  return std::any_of(trace.details.begin(), trace.details.end(),
                     [](const OperatorDetail& detail) { return detail.dims != StringId{}; });
}

void add_range_costs(const Trace& trace, const Views& views, DataType assumed, KernelRoles& roles,
                     KernelCostTable& table) {
  const LibraryCalls calls(trace);
  RangeCosts costs(trace, calls, assumed);
  const KernelClaims claims(trace, views, calls, costs);
  for (uint32_t row = 0; row < trace.operations.size(); ++row) {
    if (claims.in_range(row)) table.set_in_range(row);
  }
  KernelShares shares(trace, views.names(), roles, table);
  claims.for_each_run([&](std::span<const KernelClaim> run) {
    const uint32_t range = run.front().range;
    shares.share(run, costs.with_operator(range), claims.counted_inside(range));
  });
}

}  // namespace

KernelCosts::KernelCosts(const Trace& trace, const Views& views, DataType assumed)
    : trace_(trace), table_(trace.operations.size(), has_shapes(trace) ? NoCost::NoFormula : NoCost::NoShapes) {
  if (trace.operations.empty()) return;
  KernelRoles roles(trace, views.names());
  if (!trace.ranges.empty()) add_range_costs(trace, views, assumed, roles, table_);
  add_event_costs(trace, assumed, roles, table_);
  add_counter_costs(trace, table_);
}

std::string_view KernelCosts::remedy() const {
  if (any() || trace_.operations.empty()) return "";
  if (table_.in_range_reason() == NoCost::NoFormula)
    return "no kernel has a number: of no operator that launched one a formula is known";
  return trace_.details.empty()
             ? "no kernel has a number: record with PROF_LIBS=1 (library calls) or --counters roofline (measured)"
             : "no kernel has a number: the operators have no shapes (torch.profiler: record_shapes=True)";
}

}  // namespace prof::analyzer
