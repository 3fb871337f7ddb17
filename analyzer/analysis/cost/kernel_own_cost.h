// What is known of a kernel itself, whatever launched it: what hardware counters measured of its launch, and what its
// event in a trace has.
#pragma once

#include "analyzer/analysis/cost/kernel_cost_table.h"
#include "analyzer/analysis/cost/kernel_role.h"
#include "analyzer/model/trace.h"

namespace prof::analyzer {

// "kernel_flop" and "kernel_num_gb" of kernels without an entry in the table: if an operator or a library call has the
// kernel, a tool that writes these numbers has given each kernel of the operator all of it. `assumed`: the type of
// elements.
void add_event_costs(const Trace& trace, DataType assumed, KernelRoles& roles, KernelCostTable& table);

// Values of hardware counters replace the numbers of all kernels that have them.
void add_counter_costs(const Trace& trace, KernelCostTable& table);

}  // namespace prof::analyzer
