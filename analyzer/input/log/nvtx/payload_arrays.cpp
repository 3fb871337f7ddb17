// The arrays of payloads: see payload_decoder.h.
#include "analyzer/input/log/nvtx/payload_decoder.h"

#include "analyzer/base/json/json_text.h"
#include "preload/format/nvtx_types.h"

#include <algorithm>

namespace prof::analyzer {

namespace nvtx = format::nvtx;

uint64_t PayloadDecoder::product(const Integers& dimensions) {
  if (dimensions.empty()) return UINT64_MAX;
  uint64_t all = 1;
  for (const uint64_t each : dimensions) {
    if (each > kMaxPayloadElements || all > kMaxPayloadElements) return UINT64_MAX;
    all *= each;
  }
  return all;
}

std::optional<PayloadDecoder::Integers> PayloadDecoder::elements(const format::NvtxSchemaEntry& entry, uint64_t at,
                                                                 uint64_t one,
                                                                 const std::vector<Integers>& integers) const {
  Integers unknown = {UINT64_MAX};
  switch (entry.flags & nvtx::kArrayMask) {
    case 0: return nvtx::is_string(entry.type) ? std::optional(Integers{entry.detail}) : std::nullopt;
    case nvtx::kArrayFixed: return Integers{entry.detail};
    case nvtx::kArrayLengthIndex:
      return entry.detail < integers.size() && !integers[entry.detail].empty() ? integers[entry.detail] : unknown;
    case nvtx::kArrayLengthPayload: return dimensions_in(places_.of(entry.detail));
    case nvtx::kArrayZeroEnded: {
      uint64_t count = 0;
      if (one == 0) return unknown;
      for (;; ++count) {
        const std::string_view element = piece(at + count * one, one);
        if (element.empty()) return unknown;  // no end within the recorded bytes
        if (std::all_of(element.begin(), element.end(), [](char c) { return c == 0; })) return Integers{count};
      }
    }
    default: return unknown;
  }
}

PayloadDecoder::Integers PayloadDecoder::dimensions_in(const RecordedPayload* payload) const {
  if (payload == nullptr) return {UINT64_MAX};
  uint64_t type = payload->type;
  if (const DefinedSchema* const schema = schemas_.find(payload->schema); schema != nullptr)
    type = schema->entries.size() == 1 ? schema->entries[0].type : 0;
  const uint64_t one = nvtx::type_bytes(type);
  Integers numbers;
  for (uint64_t at = 0;
       one != 0 && one <= 8 && at + one <= payload->data.size() && numbers.size() < kMaxPayloadDimensions; at += one) {
    const auto number = natural_of(payload_number(std::string_view(payload->data).substr(at, one), type));
    numbers.push_back(number.value_or(UINT64_MAX));
  }
  return numbers.empty() ? Integers{UINT64_MAX} : numbers;
}

std::string PayloadDecoder::array_json(const format::NvtxSchemaEntry& entry, uint64_t at, uint64_t one,
                                       const Integers& dimensions, int depth) {
  const uint64_t count = product(dimensions);
  const uint32_t character = nvtx::is_string(entry.type) ? nvtx::char_bytes(entry.type) : 0;
  if (one == character && character != 0) return json_string(payload_text(piece(at, count * one), character));
  if (entry.type == nvtx::kByte) return hex(piece(at, count * one));
  if (is_payload_character(entry.type) && dimensions.size() == 1)
    return json_string(payload_text(piece(at, count * one), static_cast<uint32_t>(one)));
  return rows_json(entry, at, one, dimensions, 0, depth);
}

std::string PayloadDecoder::rows_json(const format::NvtxSchemaEntry& entry, uint64_t at, uint64_t one,
                                      const Integers& dimensions, size_t dimension, int depth) {
  const bool last = dimension + 1 == dimensions.size();
  uint64_t stride = one;
  for (size_t i = dimension + 1; i < dimensions.size(); ++i) stride *= dimensions[i];
  std::string json = "[";
  for (uint64_t i = 0; i < dimensions[dimension] && work_ <= kMaxPayloadWork; ++i) {
    json += i == 0 ? "" : ",";
    json += last ? element_json(entry, at + i * one, one, depth)
                 : rows_json(entry, at + i * stride, one, dimensions, dimension + 1, depth);
  }
  json += ']';
  return json;
}

std::string PayloadDecoder::element_json(const format::NvtxSchemaEntry& entry, uint64_t at, uint64_t one, int depth) {
  if (nvtx::is_string(entry.type)) return json_string(payload_text(piece(at, one), nvtx::char_bytes(entry.type)));
  const DefinedSchema* const nested = nested_of(entry);
  if (nested == nullptr) return payload_number(piece(at, one), entry.type).json();
  return nested->def.type == format::kSchemaEnum ? enum_json(*nested, at) : object_json(*nested, at, depth);
}

std::string PayloadDecoder::object_json(const DefinedSchema& schema, uint64_t at, int depth) {
  const size_t before = to_.values.size();
  entries(schema, at, "", depth + 1, std::nullopt);
  std::string json = "{";
  for (size_t i = before; i < to_.values.size(); ++i) {
    json += i == before ? "" : ",";
    json += json_string(to_.values[i].name) + ":" + to_.values[i].json;
  }
  to_.values.resize(before);
  json += '}';
  return json;
}

}  // namespace prof::analyzer
