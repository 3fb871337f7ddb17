// See nvtx_schemas.h. What a program registers is taken as it says, within limits: names are cut, entries beyond kMaxNvtxEntries and
// schemas that contain themselves are refused, counted.
#include "preload/intercept/nvtx_schemas.h"

#include "preload/format/nvtx_types.h"
#include "preload/intercept/handle_map.h"
#include "preload/intercept/nvtx_layout.h"
#include "preload/log/intern.h"
#include "preload/runtime/recorder.h"

#include <cstring>
#include <new>

namespace prof::preload {
namespace {

namespace nvtx = format::nvtx;

constexpr size_t kMaxName = 250;

HandleMap<4096> g_schemas;        // hash of (domain, number) -> NvtxSchema
HandleMap<1024> g_nvtx_counters;  // likewise -> NvtxCounter
HandleMap<256> g_time_domains;    // likewise -> 1 + StampClock
std::atomic<uint64_t> g_next{0};

void* key_of(const NvtxObject* domain, uint64_t number) {
  const uint64_t key = Hash().add(reinterpret_cast<uint64_t>(domain)).add(number).done();
  return reinterpret_cast<void*>(key < 16 ? key + 16 : key);
}

uint64_t refuse() {
  count(format::Counter::nvtx_schema_refused);
  return 0;
}

const char* copied(const char* text) {
  if (text == nullptr || text[0] == '\0') return "";
  const size_t size = strnlen(text, kMaxName);
  auto* const copy = static_cast<char*>(nvtx_allocate(size + 1));
  if (copy == nullptr) return "";
  std::memcpy(copy, text, size);
  copy[size] = '\0';
  return copy;
}

format::StampClock clock_of(NvtxObject* domain, uint64_t time_domain) {
  switch (time_domain) {
    case 1:  // given by nvtxTimestampGet()
      return format::StampClock::Tick;
    case 10:  // TSC
      return g_clock.source == format::ClockSource::Tsc ? format::StampClock::Tick : format::StampClock::Unknown;
    case 12:  // CLOCK_REALTIME
    case 13:
    case 42:                                       // timespec_get
    case 52: return format::StampClock::Realtime;  // std::chrono::system_clock
    case 14:                                       // CLOCK_MONOTONIC
    case 16:
    case 50: return format::StampClock::Monotonic;  // std::chrono::steady_clock
    default: break;
  }
  const uint64_t known = g_time_domains.find(key_of(domain, time_domain));
  return known != 0 ? static_cast<format::StampClock>(known - 1) : format::StampClock::Unknown;
}

NvtxSchema* new_schema(NvtxObject* domain, uint64_t number, const char* name, size_t entries) {
  void* const memory = nvtx_allocate(sizeof(NvtxSchema) + entries * sizeof(NvtxSchema::Entry));
  if (memory == nullptr) return nullptr;
  auto* const schema = new (memory) NvtxSchema{};
  schema->domain = domain;
  schema->number = number;
  schema->name = copied(name);
  schema->entries = reinterpret_cast<NvtxSchema::Entry*>(schema + 1);
  schema->entry_count = static_cast<uint32_t>(entries);
  schema->key = Hash().add(reinterpret_cast<uint64_t>(schema)).done();
  return schema;
}

uint64_t show(NvtxSchema* schema) {
  if (!g_schemas.put(key_of(schema->domain, schema->number), reinterpret_cast<uint64_t>(schema))) return refuse();
  return schema->number;
}

uint64_t number_of(uint64_t wanted, bool given, uint64_t id) {
  if (wanted != 0) return wanted;
  return given && id != 0 ? id : nvtx_new_number();
}

// Programs register a schema of their own number again and again (each translation unit of NCCL does): one is enough.
bool same(const NvtxSchema* known, const NvtxSchemaGiven& given, size_t entries) {
  if (known == nullptr || known->entry_count != entries || known->type != given.type) return false;
  for (size_t i = 0; i < entries; ++i) {
    const NvtxSchemaEntryGiven& a = given.entries[i];
    const NvtxSchema::Entry& b = known->entries[i];
    if (a.flags != b.flags || a.type != b.type || a.detail != b.detail || a.offset != b.offset) return false;
    if (std::strncmp(a.name != nullptr ? a.name : "", b.name, kMaxName) != 0) return false;
  }
  return true;
}

}  // namespace

format::StampClock nvtx_clock_of(NvtxObject* domain, const NvtxSemantics* semantics) {
  for (int i = 0; semantics != nullptr && i < 16; ++i, semantics = semantics->next) {
    if (semantics->id == kSemanticsTime && semantics->struct_size >= sizeof(NvtxSemanticsTime)) {
      return clock_of(domain, reinterpret_cast<const NvtxSemanticsTime*>(semantics)->time_domain);
    }
  }
  return format::StampClock::Unknown;
}

uint64_t nvtx_new_number() { return nvtx::kFirstDynamic + g_next.fetch_add(1, std::memory_order_relaxed); }

uint64_t nvtx_register_schema(NvtxObject* domain, const NvtxSchemaGiven* given, uint64_t wanted) {
  if (given == nullptr) return refuse();
  const auto has = [&](int bit) { return (given->fields >> bit & 1) != 0; };
  const size_t entries = has(4) && has(5) && given->entries != nullptr ? given->entry_count : 0;
  if (!has(2) || given->type == 0 || given->type > format::kSchemaUnionInside || entries == 0 ||
      entries > kMaxNvtxEntries)
    return refuse();
  const uint64_t number = number_of(wanted, has(8), given->id);
  if (NvtxSchema* const known = nvtx_schema(domain, number); same(known, *given, entries)) return number;
  NvtxSchema* const schema = new_schema(domain, number, has(1) ? given->name : nullptr, entries);
  if (schema == nullptr) return refuse();
  schema->type = static_cast<uint32_t>(given->type);
  schema->flags = has(3) ? static_cast<uint32_t>(given->flags) : 0;
  schema->static_size = has(6) ? given->static_size : 0;
  schema->pack_align = has(7) ? given->pack_align : 0;
  for (size_t i = 0; i < entries; ++i) {
    const NvtxSchemaEntryGiven& entry = given->entries[i];
    schema->entries[i] = {entry.flags, entry.type, entry.detail, entry.offset, copied(entry.name)};
  }
  lay_out_nvtx_schema(*schema, given->entries);
  return show(schema);
}

uint64_t nvtx_register_enum(NvtxObject* domain, const NvtxEnumGiven* given, uint64_t wanted) {
  if (given == nullptr) return refuse();
  const auto has = [&](int bit) { return (given->fields >> bit & 1) != 0; };
  const size_t entries = has(2) && has(3) && given->entries != nullptr ? given->entry_count : 0;
  if (entries == 0 || entries > kMaxNvtxEntries) return refuse();
  const uint64_t number = number_of(wanted, has(5), given->id);
  const uint64_t size = has(4) ? given->size : 4;
  if (size != 1 && size != 2 && size != 4 && size != 8) return refuse();
  if (const NvtxSchema* const known = nvtx_schema(domain, number); known != nullptr && known->entry_count == entries)
    return number;
  NvtxSchema* const schema = new_schema(domain, number, has(1) ? given->name : nullptr, entries);
  if (schema == nullptr) return refuse();
  schema->type = format::kSchemaEnum;
  schema->static_size = size;
  schema->size = schema->align = static_cast<uint32_t>(size);
  for (size_t i = 0; i < entries; ++i) {
    const NvtxEnumEntryGiven& entry = given->entries[i];
    schema->entries[i] = {entry.is_flag != 0 ? uint64_t{1} : 0, 0, entry.value, 0, copied(entry.name)};
  }
  return show(schema);
}

uint64_t nvtx_register_time_domain(NvtxObject* domain, const NvtxTimeDomainGiven* given, uint64_t wanted) {
  if (given == nullptr) return refuse();
  const uint64_t number = number_of(wanted, true, given->id);
  const format::StampClock clock = given->timestamp_type < nvtx::kFirstSchema ? clock_of(domain, given->timestamp_type)
                                                                              : format::StampClock::Unknown;
  g_time_domains.put(key_of(domain, number), 1 + static_cast<uint64_t>(clock));
  return number;
}

uint64_t nvtx_register_counter(NvtxObject* domain, const NvtxCounterGiven* given, uint64_t wanted) {
  if (given == nullptr || given->struct_size < offsetof(NvtxCounterGiven, id)) return refuse();
  const bool has_id = given->struct_size >= sizeof(NvtxCounterGiven);
  const uint64_t number = number_of(wanted, has_id, has_id ? given->id : 0);
  if (nvtx_counter(domain, number) != nullptr) return number;
  void* const memory = nvtx_allocate(sizeof(NvtxCounter));
  if (memory == nullptr) return refuse();
  auto* const counter = new (memory) NvtxCounter{};
  counter->number = number;
  counter->domain = domain;
  counter->schema = given->schema;
  counter->name = copied(given->name);
  counter->clock = nvtx_clock_of(domain, given->semantics);
  const NvtxSemantics* semantics = given->semantics;
  for (int i = 0; semantics != nullptr && i < 16; ++i, semantics = semantics->next) {
    if (semantics->id != kSemanticsCounter || semantics->struct_size < sizeof(NvtxSemanticsCounter)) continue;
    const auto* const details = reinterpret_cast<const NvtxSemanticsCounter*>(semantics);
    counter->flags = details->flags;
    counter->unit = copied(details->unit);
  }
  if (!g_nvtx_counters.put(key_of(domain, number), reinterpret_cast<uint64_t>(counter))) return refuse();
  return number;
}

NvtxSchema* nvtx_schema(NvtxObject* domain, uint64_t number) {
  return reinterpret_cast<NvtxSchema*>(g_schemas.find(key_of(domain, number)));
}
NvtxCounter* nvtx_counter(NvtxObject* domain, uint64_t number) {
  return reinterpret_cast<NvtxCounter*>(g_nvtx_counters.find(key_of(domain, number)));
}

namespace {

// Nested schemas come along. `budget`: a program can make circles of schemas with numbers of its own.
format::SchemaId define_schema(NvtxSchema* schema, int& budget) {
  if (schema == nullptr || --budget < 0) return {};
  const uint64_t known = schema->defined.load(std::memory_order_relaxed);
  if (known >> 32 == (t_local.epoch & 0xffffffff)) return static_cast<format::SchemaId>(known & 0xffffffff);
  const uint32_t id = g_intern.nvtx_schemas.intern(schema->key, [&](uint32_t fresh) {
    format::NvtxSchemaDef definition;
    definition.id = static_cast<format::SchemaId>(fresh);
    definition.domain = nvtx_domain_id(schema->domain);
    definition.number = schema->number;
    definition.type = schema->type;
    definition.flags = schema->flags;
    definition.bytes = schema->static_size;
    definition.pack_align = schema->pack_align;
    definition.entries = schema->entry_count;
    definition.name = schema->name;
    bool ok = define(definition);
    for (uint32_t i = 0; ok && i < schema->entry_count; ++i) {
      const NvtxSchema::Entry& given = schema->entries[i];
      format::NvtxSchemaEntry entry;
      entry.schema = definition.id;
      entry.index = i;
      entry.flags = given.flags;
      entry.type = given.type < nvtx::kFirstSchema ? given.type : 0;
      if (entry.type == 0 && schema->type != format::kSchemaEnum) {
        NvtxSchema* const nested = nvtx_schema(schema->domain, given.type);
        entry.nested = nested != schema ? define_schema(nested, budget) : format::SchemaId{};
      }
      entry.detail = given.detail;
      entry.offset = given.offset;
      entry.name = given.name;
      ok = define(entry);
    }
    return ok;
  });
  if (id != 0) schema->defined.store(t_local.epoch << 32 | id, std::memory_order_relaxed);
  return static_cast<format::SchemaId>(id);
}

}  // namespace

format::SchemaId nvtx_schema_id(NvtxSchema* schema) {
  int budget = 64;
  return define_schema(schema, budget);
}

format::CounterId nvtx_counter_id(NvtxCounter* counter) {
  const uint64_t known = counter->defined.load(std::memory_order_relaxed);
  if (known >> 32 == (t_local.epoch & 0xffffffff)) return static_cast<format::CounterId>(known & 0xffffffff);
  const uint64_t key = Hash().add(reinterpret_cast<uint64_t>(counter)).done();
  const uint32_t id = g_intern.nvtx_counters.intern(key, [&](uint32_t fresh) {
    format::NvtxCounterDef definition;
    definition.id = static_cast<format::CounterId>(fresh);
    definition.domain = nvtx_domain_id(counter->domain);
    definition.type = counter->schema < nvtx::kFirstSchema ? counter->schema : 0;
    if (definition.type == 0) definition.schema = nvtx_schema_id(nvtx_schema(counter->domain, counter->schema));
    definition.flags = counter->flags;
    definition.name = counter->name;
    definition.unit = counter->unit;
    return define(definition);
  });
  if (id != 0) counter->defined.store(t_local.epoch << 32 | id, std::memory_order_relaxed);
  return static_cast<format::CounterId>(id);
}

}  // namespace prof::preload
