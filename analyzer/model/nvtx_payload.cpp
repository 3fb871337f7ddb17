// See nvtx_payload.h.
#include "analyzer/model/nvtx_payload.h"

#include "analyzer/model/payload_decoder.h"

#include <charconv>
#include <cmath>
#include <optional>

namespace prof::analyzer {

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

std::vector<NamedNumber> decode_numbers(const PayloadSchemas& schemas, format::SchemaId schema, uint64_t type,
                                        const std::string& data) {
  RecordedPayload payload;
  payload.schema = schema;
  payload.type = type;
  payload.data = data;
  std::vector<NamedNumber> numbers;
  for (NamedValue& each : decode_payloads(schemas, {&payload}).values) {
    const std::optional<double> value = number_of(each.json);
    if (value) numbers.push_back({schema == format::SchemaId{} ? std::string() : std::move(each.name), *value});
  }
  return numbers;
}

}  // namespace prof::analyzer
