#include "analyzer/input/log/nvtx/program_counters.h"

#include "preload/format/nvtx_types.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace prof::analyzer {

namespace {

namespace nvtx = format::nvtx;

double scaled(const format::NvtxSemanticsDef& semantics, double value) {
  if (semantics.numerator == 0 || semantics.denominator == 0) return value;  // no fraction: none was given
  return value * static_cast<double>(semantics.numerator) / static_cast<double>(semantics.denominator);
}

}  // namespace

CounterSemantics::CounterSemantics(const std::vector<format::NvtxSemanticsDef>& definitions) {
  for (const format::NvtxSemanticsDef& def : definitions) {
    if (def.counter != format::NvtxCounterId{}) {
      counters_.try_emplace(def.counter, def);
    } else {
      entries_.try_emplace({def.schema, def.entry}, def);
    }
  }
}

format::NvtxSemanticsDef CounterSemantics::of(const format::NvtxCounterDef& counter,
                                              const format::NvtxSchemaEntry* entry) const {
  if (entry != nullptr) {
    if (const auto own = entries_.find({entry->schema, entry->index}); own != entries_.end()) return own->second;
  }
  if (const auto whole = counters_.find(counter.id); whole != counters_.end()) return whole->second;
  format::NvtxSemanticsDef plain;  // logs without such records have these two
  plain.flags = counter.flags;
  plain.unit = counter.unit;
  return plain;
}

double counter_number(const format::NvtxSemanticsDef& semantics, uint64_t type, double sampled) {
  if ((semantics.flags & kCounterNormalized) != 0 && nvtx::is_integer(type)) {
    const int bits = 8 * static_cast<int>(nvtx::type_bytes(type));
    sampled = nvtx::is_signed(type) ? std::max(sampled / (std::ldexp(1, bits - 1) - 1), -1.0)
                                    : sampled / (std::ldexp(1, bits) - 1);
  }
  return scaled(semantics, sampled);
}

CounterLimits counter_limits(const format::NvtxSemanticsDef& semantics) {
  const auto limit = [&](uint64_t flag, uint64_t bits) -> std::optional<double> {
    if ((semantics.flags & flag) == 0) return std::nullopt;
    double value = 0;
    switch (semantics.limit_type) {
      case 1: value = static_cast<double>(static_cast<int64_t>(bits)); break;
      case 2: value = static_cast<double>(bits); break;
      case 3: value = std::bit_cast<double>(bits); break;
      default: return std::nullopt;
    }
    value = scaled(semantics, value);
    return std::isfinite(value) ? std::optional(value) : std::nullopt;
  };
  return {limit(kCounterLimitMin, semantics.min), limit(kCounterLimitMax, semantics.max)};
}

}  // namespace prof::analyzer
