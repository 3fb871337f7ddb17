// See payload_values.h.
#include "analyzer/input/log/nvtx/payload_values.h"

#include "analyzer/input/log/nvtx/payload_decoder.h"
#include "preload/format/nvtx_types.h"

#include <charconv>
#include <cmath>
#include <optional>

namespace prof::analyzer {

namespace nvtx = format::nvtx;

namespace {

std::optional<double> number_of(const std::string& json) {
  double value = 0;
  const auto [end, error] = std::from_chars(json.data(), json.data() + json.size(), value);
  if (error != std::errc() || end != json.data() + json.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

}  // namespace

DecodedPayload decode_payloads(const PayloadSchemas& schemas, const std::vector<const RecordedPayload*>& payloads) {
  DecodedPayload decoded;
  PayloadDecoder(schemas, payloads, decoded).run();
  return decoded;
}

DecodedSample decode_sample(const PayloadSchemas& schemas, format::SchemaId schema, uint64_t type,
                            const std::string& data) {
  RecordedPayload payload;
  payload.schema = schema;
  payload.type = type;
  payload.data = data;
  DecodedSample sample;
  for (NamedValue& each : decode_payloads(schemas, {&payload}).values) {
    const std::optional<double> value = number_of(each.json);
    if (!value) continue;
    const uint64_t of_type = each.entry != nullptr ? each.entry->type : 0;
    if (of_type == nvtx::kScope) {
      std::from_chars(each.json.data(), each.json.data() + each.json.size(), sample.scope);
    } else if (of_type == nvtx::kPid32 || of_type == nvtx::kPid64) {
      sample.holder = "CURRENT_SW_PROCESS[" + each.json + "]";
    } else if (of_type == nvtx::kTid32 || of_type == nvtx::kTid64) {
      sample.holder = "CURRENT_SW_THREAD[" + each.json + "]";
    } else if (each.entry == nullptr || (each.entry->flags & nvtx::kMeaningMask) != nvtx::kMeaningTime) {
      std::string name = schema == format::SchemaId{} ? std::string() : std::move(each.name);
      sample.numbers.push_back({std::move(name), *value, each.entry, each.scope});
    }
  }
  return sample;
}

}  // namespace prof::analyzer
