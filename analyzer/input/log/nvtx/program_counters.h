// How are the numbers read that the program sampled as counters through NVTX? Offline, inside the builder only.
#pragma once

#include "analyzer/model/range_rows.h"
#include "preload/format/nvtx_definitions.h"

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace prof::analyzer {

// nvtx_semantics records: of entries of schemas, and of counters, which apply if the entry has none.
class CounterSemantics {
 public:
  CounterSemantics() = default;
  explicit CounterSemantics(const std::vector<format::NvtxSemanticsDef>& definitions);

  // `entry` null: the counter is one number.
  format::NvtxSemanticsDef of(const format::NvtxCounterDef& counter, const format::NvtxSchemaEntry* entry) const;

 private:
  std::map<format::NvtxCounterId, format::NvtxSemanticsDef> counters_;
  std::map<std::pair<format::SchemaId, uint32_t>, format::NvtxSemanticsDef> entries_;
};

// A sampled number in the counter's unit: times numerator / denominator. A number that is to be normalised, and is an
// integer of b bits, first becomes c / (2^b − 1), or for a signed type max(c / (2^(b−1) − 1), −1). NVTX defines
// the ranges, [0, 1] and [−1, 1]; the formulas are those of normalised fixed-point numbers in OpenGL 4.6 (section
// 2.3.5).
double counter_number(const format::NvtxSemanticsDef& semantics, uint64_t type, double sampled);

// Limits in the counter's unit; nullopt: none.
struct CounterLimits {
  std::optional<double> min, max;
};
CounterLimits counter_limits(const format::NvtxSemanticsDef& semantics);

}  // namespace prof::analyzer
