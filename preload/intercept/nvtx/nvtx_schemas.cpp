// See nvtx_schemas.h. Registrations are stored as the program gives them, within limits. Names are cut. Schemas that
// contain themselves or have more than kMaxNvtxEntries entries are refused and counted.
#include "preload/intercept/nvtx/nvtx_schemas.h"

#include "preload/driver/handle_map.h"
#include "preload/format/nvtx_types.h"
#include "preload/intercept/nvtx/nvtx_clocks.h"
#include "preload/intercept/nvtx/nvtx_layout.h"
#include "preload/intercept/nvtx/nvtx_registry.h"
#include "preload/intercept/nvtx/nvtx_scopes.h"
#include "preload/record/append.h"
#include "preload/record/intern.h"
#include "preload/record/thread_local.h"

#include <cstring>
#include <new>

namespace prof::preload {
namespace {

namespace nvtx = format::nvtx;

constexpr size_t kMaxName = 250;

HandleMap<4096> g_schemas;        // hash of (domain, number) -> NvtxSchema
HandleMap<1024> g_nvtx_counters;  // hash of (domain, number) -> NvtxCounter
std::atomic<uint64_t> g_next{0};

const char* copied(const char* text) { return nvtx_copied(text, kMaxName); }

// What the semantics of an entry or a counter define about its numbers. If the list has several, the last one counts.
NvtxNumbers numbers_of(const NvtxSemantics* semantics) {
  NvtxNumbers numbers;
  for (int i = 0; semantics != nullptr && i < 16; ++i, semantics = semantics->next) {
    if (semantics->id != kSemanticsCounter || semantics->struct_size < offsetof(NvtxSemanticsCounter, numerator))
      continue;
    NvtxSemanticsCounter given{};  // older headers have a shorter struct
    std::memcpy(&given, semantics, semantics->struct_size < sizeof given ? semantics->struct_size : sizeof given);
    numbers.given = true;
    numbers.flags = given.flags;
    numbers.unit = given.unit != nullptr ? given.unit : "";
    numbers.numerator = given.numerator != 0 ? given.numerator : 1;
    numbers.denominator = given.denominator != 0 ? given.denominator : 1;
    numbers.limit_type = static_cast<uint64_t>(given.limit_type);
    numbers.min = given.min;
    numbers.max = given.max;
  }
  return numbers;
}
NvtxNumbers* kept_numbers(const NvtxSemantics* semantics) {
  const NvtxNumbers given = numbers_of(semantics);
  void* const memory = given.given ? nvtx_allocate(sizeof given) : nullptr;
  if (memory == nullptr) return nullptr;
  auto* const numbers = new (memory) NvtxNumbers(given);
  numbers->unit = copied(given.unit);
  return numbers;
}
bool same(const NvtxNumbers* known, const NvtxSemantics* semantics) {
  const NvtxNumbers given = numbers_of(semantics);
  if (known == nullptr || !given.given) return known == nullptr && !given.given;
  return known->flags == given.flags && known->numerator == given.numerator && known->min == given.min &&
         known->denominator == given.denominator && known->limit_type == given.limit_type && known->max == given.max &&
         std::strncmp(known->unit, given.unit, kMaxName) == 0;
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
  if (!g_schemas.put(nvtx_key(schema->domain, schema->number), reinterpret_cast<uint64_t>(schema)))
    return nvtx_refuse();
  return schema->number;
}

// Programs register a schema with the same number again and again (each translation unit of NCCL does). One copy is
// enough.
bool same(const NvtxSchema* known, const NvtxSchemaGiven& given, size_t entries) {
  if (known == nullptr || known->entry_count != entries || known->type != given.type) return false;
  for (size_t i = 0; i < entries; ++i) {
    const NvtxSchemaEntryGiven& a = given.entries[i];
    const NvtxSchema::Entry& b = known->entries[i];
    if (a.flags != b.flags || a.type != b.type || a.detail != b.detail || a.offset != b.offset) return false;
    if (nvtx_scope_of(a.semantics) != b.scope || !same(b.numbers, a.semantics)) return false;
    if (std::strncmp(a.name != nullptr ? a.name : "", b.name, kMaxName) != 0) return false;
  }
  return true;
}

}  // namespace

uint64_t nvtx_new_number() { return nvtx::kFirstDynamic + g_next.fetch_add(1, std::memory_order_relaxed); }

uint64_t nvtx_register_schema(NvtxObject* domain, const NvtxSchemaGiven* given, uint64_t wanted) {
  if (given == nullptr) return nvtx_refuse();
  const auto has = [&](int bit) { return (given->fields >> bit & 1) != 0; };
  const size_t entries = has(4) && has(5) && given->entries != nullptr ? given->entry_count : 0;
  if (!has(2) || given->type == 0 || given->type > format::kSchemaUnionInside || entries == 0 ||
      entries > kMaxNvtxEntries)
    return nvtx_refuse();
  const uint64_t number = nvtx_number_of(wanted, has(8) ? given->id : 0);
  if (NvtxSchema* const known = nvtx_schema(domain, number); same(known, *given, entries)) return number;
  NvtxSchema* const schema = new_schema(domain, number, has(1) ? given->name : nullptr, entries);
  if (schema == nullptr) return nvtx_refuse();
  schema->type = static_cast<uint32_t>(given->type);
  schema->flags = has(3) ? static_cast<uint32_t>(given->flags) : 0;
  schema->static_size = has(6) ? given->static_size : 0;
  schema->pack_align = has(7) ? given->pack_align : 0;
  for (size_t i = 0; i < entries; ++i) {
    const NvtxSchemaEntryGiven& entry = given->entries[i];
    schema->entries[i] = {entry.flags,
                          entry.type,
                          entry.detail,
                          entry.offset,
                          copied(entry.name),
                          nvtx_scope_of(entry.semantics),
                          kept_numbers(entry.semantics)};
  }
  lay_out_nvtx_schema(*schema, given->entries);
  return show(schema);
}

uint64_t nvtx_register_enum(NvtxObject* domain, const NvtxEnumGiven* given, uint64_t wanted) {
  if (given == nullptr) return nvtx_refuse();
  const auto has = [&](int bit) { return (given->fields >> bit & 1) != 0; };
  const size_t entries = has(2) && has(3) && given->entries != nullptr ? given->entry_count : 0;
  if (entries == 0 || entries > kMaxNvtxEntries) return nvtx_refuse();
  const uint64_t number = nvtx_number_of(wanted, has(5) ? given->id : 0);
  const uint64_t size = has(4) ? given->size : 4;
  if (size != 1 && size != 2 && size != 4 && size != 8) return nvtx_refuse();
  if (const NvtxSchema* const known = nvtx_schema(domain, number); known != nullptr && known->entry_count == entries)
    return number;
  NvtxSchema* const schema = new_schema(domain, number, has(1) ? given->name : nullptr, entries);
  if (schema == nullptr) return nvtx_refuse();
  schema->type = format::kSchemaEnum;
  schema->static_size = size;
  schema->size = schema->align = static_cast<uint32_t>(size);
  for (size_t i = 0; i < entries; ++i) {
    const NvtxEnumEntryGiven& entry = given->entries[i];
    schema->entries[i] = {entry.is_flag != 0 ? uint64_t{1} : 0, 0, entry.value, 0, copied(entry.name), 0, nullptr};
  }
  return show(schema);
}

uint64_t nvtx_register_counter(NvtxObject* domain, const NvtxCounterGiven* given, uint64_t wanted) {
  if (given == nullptr || given->struct_size < offsetof(NvtxCounterGiven, id)) return nvtx_refuse();
  const bool has_id = given->struct_size >= sizeof(NvtxCounterGiven);
  const uint64_t number = nvtx_number_of(wanted, has_id ? given->id : 0);
  if (nvtx_counter(domain, number) != nullptr) return number;
  void* const memory = nvtx_allocate(sizeof(NvtxCounter));
  if (memory == nullptr) return nvtx_refuse();
  auto* const counter = new (memory) NvtxCounter{};
  counter->number = number;
  counter->domain = domain;
  counter->schema = given->schema;
  counter->scope = given->scope;
  counter->name = copied(given->name);
  counter->time_domain = nvtx_time_domain_of(given->semantics);
  counter->numbers = kept_numbers(given->semantics);
  if (!g_nvtx_counters.put(nvtx_key(domain, number), reinterpret_cast<uint64_t>(counter))) return nvtx_refuse();
  return number;
}

NvtxSchema* nvtx_schema(NvtxObject* domain, uint64_t number) {
  return reinterpret_cast<NvtxSchema*>(g_schemas.find(nvtx_key(domain, number)));
}
NvtxCounter* nvtx_counter(NvtxObject* domain, uint64_t number) {
  return reinterpret_cast<NvtxCounter*>(g_nvtx_counters.find(nvtx_key(domain, number)));
}

namespace {

void define_numbers(const NvtxNumbers& numbers, format::NvtxCounterId counter, format::SchemaId schema,
                    uint32_t entry) {
  define(format::NvtxSemanticsDef{counter, schema, entry, numbers.flags, numbers.numerator, numbers.denominator,
                                  numbers.limit_type, numbers.min, numbers.max, numbers.unit});
}

// Defines a schema together with its nested schemas. `budget`: a program may build cycles of schemas with its own
// numbers.
format::SchemaId define_schema(NvtxSchema* schema, int& budget) {
  if (schema == nullptr || --budget < 0) return {};
  const uint64_t known = schema->defined.load(std::memory_order_relaxed);
  if (known >> 32 == (t_local.epoch & 0xffffffff)) return static_cast<format::SchemaId>(known & 0xffffffff);
  const uint32_t id = g_intern.nvtx_schemas.intern_lasting(schema->key, [&](uint32_t fresh) {
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
      entry.scope = given.scope;
      nvtx_define_scope(schema->domain, given.scope);
      ok = define(entry);
      if (given.numbers != nullptr) define_numbers(*given.numbers, {}, definition.id, i);
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

format::NvtxCounterId nvtx_counter_id(NvtxCounter* counter) {
  const uint64_t known = counter->defined.load(std::memory_order_relaxed);
  if (known >> 32 == (t_local.epoch & 0xffffffff)) return static_cast<format::NvtxCounterId>(known & 0xffffffff);
  const uint64_t key = Hash().add(reinterpret_cast<uint64_t>(counter)).done();
  const uint32_t id = g_intern.nvtx_counters.intern_lasting(key, [&](uint32_t fresh) {
    format::NvtxCounterDef definition;
    definition.id = static_cast<format::NvtxCounterId>(fresh);
    definition.domain = nvtx_domain_id(counter->domain);
    definition.type = counter->schema < nvtx::kFirstSchema ? counter->schema : 0;
    if (definition.type == 0) definition.schema = nvtx_schema_id(nvtx_schema(counter->domain, counter->schema));
    definition.scope = counter->scope;
    nvtx_define_scope(counter->domain, counter->scope);
    definition.name = counter->name;
    if (counter->numbers != nullptr) {
      definition.flags = counter->numbers->flags;
      definition.unit = counter->numbers->unit;
      define_numbers(*counter->numbers, definition.id, {}, 0);
    }
    return define(definition);
  });
  if (id != 0) counter->defined.store(t_local.epoch << 32 | id, std::memory_order_relaxed);
  return static_cast<format::NvtxCounterId>(id);
}

}  // namespace prof::preload
