// What did the program define through NVTX? These definitions (see definitions.h) are domains, labels, categories,
// scopes, layouts of extended payloads, counters and clocks. The recorder writes them and the reader reads them.
#pragma once

#include "preload/format/ids.h"
#include "preload/format/nvtx_events.h"

#include <cstdint>
#include <string_view>

namespace prof::format {

struct NvtxDomainDef {
  static constexpr uint32_t kKind = 46;
  static constexpr std::string_view kName = "nvtx_domain";
  DomainId id{};
  StringId name{};
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.value("id", s.id);
    v.value("name", s.name);
  }
};

struct NvtxLabelDef {
  static constexpr uint32_t kKind = 47;
  static constexpr std::string_view kName = "nvtx_label";
  LabelId id{};
  DomainId domain{};
  StringId text{};
  uint32_t category = 0;
  uint32_t has_color = 0;
  uint32_t color = 0;  // ARGB
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.value("id", s.id);
    v.value("domain", s.domain);
    v.value("text", s.text);
    v.value("category", s.category);
    v.value("has_color", s.has_color);
    v.value("color", s.color);
  }
};

// The layout of the bytes of extended NVTX payloads. If the type is kSchemaEnum, it is the meaning of the numbers of an
// enumeration. kSchemaEnum is a number of this log format; the other types are NVTX's numbers.
inline constexpr uint32_t kSchemaStatic = 1, kSchemaDynamic = 2, kSchemaUnion = 3, kSchemaUnionInside = 4;
inline constexpr uint32_t kSchemaEnum = 16;
struct NvtxSchemaDef {
  static constexpr uint32_t kKind = 56;
  static constexpr std::string_view kName = "nvtx_schema";
  SchemaId id{};
  DomainId domain{};
  uint64_t number = 0;  // as the program knows it
  uint32_t type = 0;
  uint32_t flags = 0;
  uint64_t bytes = 0;       // size of a payload, or of a number of the enumeration; 0: computed from the entries
  uint64_t pack_align = 0;  // 0: natural alignment
  uint32_t entries = 0;     // number of records of kind nvtx_schema_entry that follow
  std::string_view name;
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.value("id", s.id);
    v.value("domain", s.domain);
    v.value("number", s.number);
    v.value("type", s.type);
    v.value("flags", s.flags);
    v.value("bytes", s.bytes);
    v.value("pack_align", s.pack_align);
    v.value("entries", s.entries);
    v.text("name", s.name);
  }
};

struct NvtxSchemaEntry {
  static constexpr uint32_t kKind = 57;
  static constexpr std::string_view kName = "nvtx_schema_entry";
  SchemaId schema{};
  uint32_t index = 0;
  uint64_t flags = 0;   // NVTX_PAYLOAD_ENTRY_FLAG_…; enumerations: 1 means a set of bits
  uint64_t type = 0;    // predefined type; 0: the type is `nested`
  SchemaId nested{};    // 0: unknown
  uint64_t detail = 0;  // array length, index of the entry that has the length, or selector; enumerations: the number
  uint64_t offset = 0;  // 0: after the previous entry, aligned
  std::string_view name;
  uint64_t scope = 0;  // number of the scope that its values belong to
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.value("schema", s.schema);
    v.value("index", s.index);
    v.value("flags", s.flags);
    v.value("type", s.type);
    v.value("detail", s.detail);
    v.value("offset", s.offset);
    v.text("name", s.name);
    v.optional("nested", s.nested);
    v.optional("scope", s.scope);
  }
};

// A counter, or a group of counters, that the program registered through NVTX.
struct NvtxCounterDef {
  static constexpr uint32_t kKind = 58;
  static constexpr std::string_view kName = "nvtx_counter";
  NvtxCounterId id{};
  DomainId domain{};
  SchemaId schema{};  // layout of the samples of a group; 0: one number of `type`
  uint64_t type = 0;
  uint64_t flags = 0;  // NVTX_COUNTER_FLAG_…
  std::string_view name, unit;
  uint64_t scope = 0;  // number of the scope that it belongs to
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.value("id", s.id);
    v.value("domain", s.domain);
    v.value("schema", s.schema);
    v.value("type", s.type);
    v.value("flags", s.flags);
    v.text("name", s.name);
    v.text("unit", s.unit);
    v.optional("scope", s.scope);
  }
};

// The name of a category of NVTX events.
struct NvtxCategoryDef {
  static constexpr uint32_t kKind = 59;
  static constexpr std::string_view kName = "nvtx_category";
  DomainId domain{};
  uint32_t category = 0;
  std::string_view name;
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.value("domain", s.domain);
    v.value("category", s.category);
    v.text("name", s.name);
  }
};

// What events and counters belong to, if not to the thread that reports them: a path below another scope. Other records
// refer to a scope by (domain, number). Numbers below nvtx::kFirstSchema are NVTX's own (NVTX_SCOPE_…).
struct NvtxScopeDef {
  static constexpr uint32_t kKind = 66;
  static constexpr std::string_view kName = "nvtx_scope";
  DomainId domain{};
  uint64_t number = 0;
  uint64_t parent = 0;    // number of the scope at which the path starts; 0: none
  std::string_view path;  // nodes separated by '/', as the program wrote them
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.value("domain", s.domain);
    v.value("number", s.number);
    v.value("parent", s.parent);
    v.text("path", s.path);
  }
};

// How to interpret the numbers of a counter (`counter`), or those of one entry of a schema.
struct NvtxSemanticsDef {
  static constexpr uint32_t kKind = 67;
  static constexpr std::string_view kName = "nvtx_semantics";
  NvtxCounterId counter{};  // 0: the semantics are those of the entry
  SchemaId schema{};
  uint32_t entry = 0;                       // index of the entry in `schema`
  uint64_t flags = 0;                       // NVTX_COUNTER_FLAG_…
  uint64_t numerator = 1, denominator = 1;  // a number times this fraction is a number in `unit`
  uint64_t limit_type = 0;                  // NVTX_COUNTER_LIMIT_…
  uint64_t min = 0, max = 0;                // 64 bits of each limit
  std::string_view unit;
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.value("counter", s.counter);
    v.value("schema", s.schema);
    v.value("entry", s.entry);
    v.value("flags", s.flags);
    v.value("numerator", s.numerator);
    v.value("denominator", s.denominator);
    v.value("limit_type", s.limit_type);
    v.value("min", s.min);
    v.value("max", s.max);
    v.text("unit", s.unit);
  }
};

// A clock of the program. The program submits time stamps of this clock.
struct NvtxClockDef {
  static constexpr uint32_t kKind = 68;
  static constexpr std::string_view kName = "nvtx_clock";
  StampClock id{};  // kFirstProgramClock or more
  DomainId domain{};
  // As the program knows it in this domain. A number below nvtx::kFirstSchema is NVTX's type of time stamps, in all
  // domains.
  uint64_t number = 0;
  uint64_t type = 0;        // NVTX_TIMESTAMP_TYPE_…; 0: not known
  uint64_t scope = 0;       // number of the scope that it belongs to
  uint64_t flags = 0;       // NVTX_TIMER_FLAG_…
  uint64_t resolution = 0;  // ticks per second; 0: not known
  uint64_t start = 0;       // NVTX_TIMER_START_…: the time at which the clock was 0
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.value("id", s.id);
    v.value("domain", s.domain);
    v.value("number", s.number);
    v.value("type", s.type);
    v.value("scope", s.scope);
    v.value("flags", s.flags);
    v.value("resolution", s.resolution);
    v.value("start", s.start);
  }
};

}  // namespace prof::format
