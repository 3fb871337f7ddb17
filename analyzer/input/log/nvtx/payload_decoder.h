// Reads the payloads of one event by their schemas (see payload_values.h): values, and also arrays
// (payload_arrays.cpp). Offline.
#pragma once

#include "analyzer/input/log/nvtx/nvtx_values.h"
#include "analyzer/input/log/nvtx/payload_places.h"
#include "analyzer/input/log/nvtx/payload_shapes.h"
#include "analyzer/input/log/nvtx/payload_values.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace prof::analyzer {

inline constexpr size_t kMaxPayloadValues = 512;       // of one event
inline constexpr uint64_t kMaxPayloadElements = 4096;  // of one array
inline constexpr uint64_t kMaxPayloadDimensions = 8;   // of one array
inline constexpr uint64_t kMaxPayloadWork = 20'000;    // values read for one event

class PayloadDecoder {
 public:
  PayloadDecoder(const PayloadSchemas& schemas, const std::vector<const RecordedPayload*>& payloads, DecodedPayload& to)
      : schemas_(schemas), payloads_(payloads), places_(payloads), to_(to), shapes_(schemas) {}

  void run();

 private:
  // The integers of an entry. Other entries refer to them for a length, dimensions or the member of a union. Empty: it
  // has none.
  using Integers = std::vector<uint64_t>;
  static std::optional<uint64_t> natural_of(const PayloadNumber& number);
  static uint64_t product(const Integers& dimensions);  // UINT64_MAX: too many

  void add(std::string name, std::string json);
  bool have(uint64_t at, uint64_t size) const { return at <= bytes_.size() && bytes_.size() - at >= size; }
  std::string_view piece(uint64_t at, uint64_t size) const {
    return have(at, size) ? bytes_.substr(at, size) : std::string_view();
  }

  // A payload of one value, without a schema.
  void predefined(const RecordedPayload& payload);
  static std::string hex(std::string_view bytes);
  // A text that the recorder copied from the pointer at this offset of the payload.
  std::string copied_text(uint64_t offset) const;
  std::string enum_json(const DefinedSchema& schema, uint64_t at) const;
  // The entries of a schema whose first byte is at `base`. Returns the byte after the last one read; nullopt: unknown.
  // `selected`: for a union, the valid member.
  std::optional<uint64_t> entries(const DefinedSchema& schema, uint64_t base, const std::string& prefix, int depth,
                                  std::optional<uint64_t> selected);
  // The member that a union's own selector names by its index. The width of a selector is not specified. Its lowest
  // byte is read, which is enough for as many members as it can name; little-endian.
  std::optional<uint64_t> selected_inside(const DefinedSchema& schema, uint64_t base) const;
  std::optional<uint64_t> value(const format::NvtxSchemaEntry& entry, uint64_t at, uint64_t one, std::string name,
                                int depth, std::vector<Integers>& integers, size_t index);
  const DefinedSchema* nested_of(const format::NvtxSchemaEntry& entry) const {
    return entry.type == 0 ? schemas_.find(entry.nested) : nullptr;
  }

  // Number of elements of an embedded array or text in each dimension; nullopt: it is none.
  std::optional<Integers> elements(const format::NvtxSchemaEntry& entry, uint64_t at, uint64_t one,
                                   const std::vector<Integers>& integers) const;
  // A payload with only the dimensions of an array of another payload: one entry, or numbers of a predefined type.
  Integers dimensions_in(const RecordedPayload* payload) const;
  std::string array_json(const format::NvtxSchemaEntry& entry, uint64_t at, uint64_t one, const Integers& dimensions,
                         int depth);
  // Row-major: the elements of the last dimension are adjacent.
  std::string rows_json(const format::NvtxSchemaEntry& entry, uint64_t at, uint64_t one, const Integers& dimensions,
                        size_t dimension, int depth);
  std::string element_json(const format::NvtxSchemaEntry& entry, uint64_t at, uint64_t one, int depth);
  // One element of an array of nested schemas.
  std::string object_json(const DefinedSchema& schema, uint64_t at, int depth);
  std::string text_behind(uint64_t at, uint64_t type) const;
  // A value at an offset into the payload, at a pointer into another payload of the same event, or copied from a
  // pointer. Offsets are as wide as pointers. An offset relative to its own place counts from its end.
  void elsewhere(const format::NvtxSchemaEntry& entry, uint64_t at, std::string name, int depth,
                 std::vector<Integers>& integers, size_t index);

  const PayloadSchemas& schemas_;
  const std::vector<const RecordedPayload*>& payloads_;
  PayloadPlaces places_;
  DecodedPayload& to_;
  PayloadShapes shapes_;
  uint64_t work_ = 0;                         // values read: nested schemas can require more work than anyone can do
  const RecordedPayload* payload_ = nullptr;  // the payload that is being read
  std::string_view bytes_;                    // of it, or of what was copied from a pointer in it
  const format::NvtxSchemaEntry* entry_ = nullptr;  // whose value is being read
  uint64_t scope_ = 0;                              // the scope that it or an enclosing entry names
};

}  // namespace prof::analyzer
