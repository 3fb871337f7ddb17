// What are the values in the bytes of an extended NVTX payload? Reads them by the schema that the program registered:
// static and dynamic layouts, arrays, unions, nested schemas, enumerations, texts that were copied when the event was
// recorded.
//
// The schema and the bytes come from the program and may contradict each other. Nothing outside the recorded bytes is
// read, nesting and the number of values are limited, and everything unreadable is counted.
#pragma once

#include "analyzer/input/log/log_definitions.h"

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
  const format::NvtxSchemaEntry* entry = nullptr;  // the entry by which it was read; null: without a schema
  uint64_t scope = 0;  // number of the scope that the entry, or an enclosing one, names; 0: none
};

struct DecodedPayload {
  std::vector<NamedValue> values;
  uint64_t unread = 0;  // payloads and entries of unknown layout, or outside the recorded bytes
};

// All payloads of one event: a pointer in one may point into another.
DecodedPayload decode_payloads(const PayloadSchemas& schemas, const std::vector<const RecordedPayload*>& payloads);

// A counter's sample: its numbers, and the parts that identify their scope. Time stamps are not among its numbers.
struct NamedNumber {
  std::string name;
  double value = 0;
  const format::NvtxSchemaEntry* entry = nullptr;  // as above
  uint64_t scope = 0;
};
struct DecodedSample {
  std::vector<NamedNumber> numbers;
  uint64_t scope = 0;  // number of the scope in an entry of the sample; 0: none
  std::string holder;  // the path of the process or thread whose id is in an entry
};
// `type`: used if there is no schema.
DecodedSample decode_sample(const PayloadSchemas& schemas, format::SchemaId schema, uint64_t type,
                            const std::string& data);

}  // namespace prof::analyzer
