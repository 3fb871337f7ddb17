// The texts of a Perfetto trace, each written once as interned data before its first use. The result is the encoded
// field that refers to the text.
#pragma once

#include "analyzer/output/perfetto/packet_writer.h"
#include "analyzer/output/perfetto/perfetto_fields.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace prof::analyzer {

class InternedTexts {
 public:
  explicit InternedTexts(PacketWriter& packets) : packets_(packets) {}

  std::string category(std::string_view text);         // of a TrackEvent
  std::string name(std::string_view text);             // of a TrackEvent
  std::string annotation_name(std::string_view text);  // of a DebugAnnotation
  std::string annotation_text(std::string_view text);  // value of a DebugAnnotation

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  struct Table {
    uint32_t kind;  // the field of InternedData
    std::unordered_map<std::string, uint64_t, Hash, std::equal_to<>> iids;
  };
  uint64_t iid(Table& table, std::string_view text);

  PacketWriter& packets_;
  Table categories_{perfetto::interned::kCategories, {}}, names_{perfetto::interned::kNames, {}},
      annotation_names_{perfetto::interned::kAnnotationNames, {}}, annotation_texts_{perfetto::interned::kTexts, {}};
};

}  // namespace prof::analyzer
