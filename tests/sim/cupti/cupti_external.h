// The calling thread's stack of external correlation ids, which CUPTI writes before every API record.
#pragma once
#include <cupti.h>

#include <utility>
#include <vector>

namespace sim {

void push_external(CUpti_ExternalCorrelationKind kind, uint64_t id);
bool pop_external(CUpti_ExternalCorrelationKind kind, uint64_t* id);
std::vector<std::pair<CUpti_ExternalCorrelationKind, uint64_t>> external_ids();  // the top id of each kind

}  // namespace sim
