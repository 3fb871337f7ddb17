// What do the bytes of an extended NVTX payload say? Reads them by the schema that the program registered: static and dynamic
// layouts, arrays, unions, nested schemas, enumerations, texts that were copied when the event was recorded.
//
// The schema and the bytes are a program's word and may contradict each other: nothing is read outside the recorded bytes, nesting
// and the number of values are bounded, and what cannot be read is counted.
#pragma once

#include "analyzer/input/log_definitions.h"

#include <cstdint>
#include <string>
#include <vector>

namespace prof::analyzer {

using PayloadSchemas = ById<format::SchemaId, DefinedSchema>;

// One nvtx_payload record.
struct RecordedPayload {
  uint64_t tick = 0;
  format::SchemaId schema{};
  uint64_t type = 0;
  uint64_t bytes = 0;  // of the whole payload
  uint64_t address = 0;
  std::string data, texts;
};

struct NamedValue {
  std::string name;  // members of nested schemas as outer.inner
  std::string json;
};

struct DecodedPayload {
  std::vector<NamedValue> values;
  uint64_t unread = 0;  // payloads and entries whose layout is not known, or that lie behind the recorded bytes
};

// All payloads of one event: a pointer in one may lead into another.
DecodedPayload decode_payloads(const PayloadSchemas& schemas, const std::vector<const RecordedPayload*>& payloads);

// Numbers of a counter's sample. `type`: where there is no schema.
struct NamedNumber {
  std::string name;
  double value = 0;
};
std::vector<NamedNumber> decode_numbers(const PayloadSchemas& schemas, format::SchemaId schema, uint64_t type,
                                        const std::string& data);

}  // namespace prof::analyzer
