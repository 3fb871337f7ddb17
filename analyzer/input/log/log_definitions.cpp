// See log_definitions.h.
#include "analyzer/input/log/log_definitions.h"

#include "analyzer/input/log/log_decode.h"
#include "preload/format/secrets.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace prof::analyzer {

namespace {

// A string of which some parts were read. The parts of one id are consecutive in one thread's blocks.
struct PartialString {
  uint64_t total = 0;
  std::string text;
};

struct Loader {
  static constexpr bool kSeldom = true;
  const LogFile& log;
  LogDefinitions& to;
  std::unordered_map<uint32_t, PartialString> parts{};

  // Every definition takes bytes of the log, so a valid id is smaller than the size of the log. A damaged id must not
  // make prof allocate gigabytes.
  template <class Id> bool possible(Id id, RecordPlace place) {
    if (static_cast<uint64_t>(id) < log.log_bytes()) return true;
    to.damage.push_back(
        {DamageKind::BadRecord, place.file_offset(), 0,
         fmt::format("a definition has id {}, more than the log could define", static_cast<uint64_t>(id))});
    return false;
  }
  template <class Id, class T> void keep(ById<Id, T>& table, Id id, const T& def, RecordPlace place) {
    if (place.block->kind == format::BlockKind::Events && static_cast<uint32_t>(id) >= format::kFirstOnceId) {
      table.set_once(id, def);
    } else if (possible(id, place)) {
      table.set(id, def);
    }
  }

  void operator()(const format::StringPart& part, RecordPlace place) {
    if (part.offset == 0 && part.text.size() >= part.total_bytes) {
      keep(to.strings, part.id, part.text, place);
      return;
    }
    if (place.block->kind == format::BlockKind::Definitions && !possible(part.id, place)) return;
    PartialString& partial = parts[static_cast<uint32_t>(part.id)];
    partial.total = part.total_bytes;
    if (part.offset != partial.text.size()) return;  // an earlier part is missing: the text is cut there
    partial.text += part.text;
    if (partial.text.size() < partial.total) return;
    to.long_strings.push_back(std::move(partial.text));
    keep(to.strings, part.id, std::string_view(to.long_strings.back()), place);
    parts.erase(static_cast<uint32_t>(part.id));
  }
  void operator()(const format::ThreadDef& def, RecordPlace place) {
    keep(to.threads, def.thread, def, place);
    // Host samples define threads that write no records.
    const auto thread = static_cast<uint32_t>(def.thread);
    if (thread != place.block->thread) to.kept_by.push_back(thread);
  }
  template <KeptEvent T> void operator()(const T&, RecordPlace place) {
    if (to.kept_by.empty() || to.kept_by.back() != place.block->thread) to.kept_by.push_back(place.block->thread);
  }
  void operator()(const format::MetaDef& def, RecordPlace) { to.meta.push_back(def); }
  void operator()(const format::ApiDef& def, RecordPlace place) { keep(to.apis, def.id, def, place); }
  void operator()(const format::ModuleDef& def, RecordPlace place) { keep(to.modules, def.id, def, place); }
  void operator()(const format::FunctionDef& def, RecordPlace place) { keep(to.functions, def.id, def, place); }
  void operator()(const format::ConfigDef& def, RecordPlace place) { keep(to.configs, def.id, def, place); }
  void operator()(const format::DeviceDef& def, RecordPlace place) {
    keep(to.devices, def.ordinal, DefinedDevice{def, {}}, place);
  }
  void operator()(const format::DeviceProperty& def, RecordPlace) { properties.push_back(def); }
  void operator()(const format::ContextDef& def, RecordPlace place) { keep(to.contexts, def.id, def, place); }
  void operator()(const format::StreamDef& def, RecordPlace place) { keep(to.streams, def.id, def, place); }
  void operator()(const format::MemoryPoolDef& def, RecordPlace place) { keep(to.pools, def.id, def, place); }
  void operator()(const format::GraphDef& def, RecordPlace place) { keep(to.graphs, def.id, def, place); }
  void operator()(const format::GpuStreamDef& def, RecordPlace place) { keep(to.gpu_streams, def.id, def, place); }
  void operator()(const format::GpuKernelDef& def, RecordPlace place) { keep(to.gpu_kernels, def.id, def, place); }
  void operator()(const format::NvtxDomainDef& def, RecordPlace place) { keep(to.nvtx_domains, def.id, def, place); }
  void operator()(const format::NvtxLabelDef& def, RecordPlace place) { keep(to.nvtx_labels, def.id, def, place); }
  void operator()(const format::StackDef& def, RecordPlace place) { keep(to.stacks, def.id, def, place); }
  void operator()(const format::PythonFrameDef& def, RecordPlace place) { keep(to.python_frames, def.id, def, place); }
  void operator()(const format::ImageDef& def, RecordPlace place) { keep(to.images, def.id, def, place); }
  void operator()(const format::ImageGone& def, RecordPlace) { to.images_gone.push_back(def); }
  void operator()(const format::NvtxSchemaDef& def, RecordPlace place) {
    keep(to.nvtx_schemas, def.id, DefinedSchema{def, {}}, place);
  }
  void operator()(const format::NvtxSchemaEntry& def, RecordPlace) { schema_entries.push_back(def); }
  void operator()(const format::NvtxCounterDef& def, RecordPlace place) { keep(to.nvtx_counters, def.id, def, place); }
  void operator()(const format::CounterSetDef& def, RecordPlace place) { keep(to.counter_sets, def.id, def, place); }
  void operator()(const format::SampledSetDef& def, RecordPlace place) { keep(to.sampled_sets, def.id, def, place); }
  void operator()(const format::CubinDef& def, RecordPlace place) { keep(to.cubins, def.id, def, place); }
  void operator()(const format::StallReasonsDef& def, RecordPlace) { to.stall_reasons.push_back(def); }
  void operator()(const format::NvtxCategoryDef& def, RecordPlace) { to.nvtx_categories.push_back(def); }
  void operator()(const format::NvtxScopeDef& def, RecordPlace) { to.nvtx_scopes.push_back(def); }
  void operator()(const format::NvtxSemanticsDef& def, RecordPlace) { to.nvtx_semantics.push_back(def); }
  void operator()(const format::NvtxClockDef& def, RecordPlace) { to.nvtx_clocks.push_back(def); }
  void operator()(const format::HostSampling& def, RecordPlace) { to.host_samplings.push_back(def); }
  void operator()(const format::PipeHolder& def, RecordPlace) { to.pipe_holders.push_back(def); }
  void operator()(const format::SymbolDef& def, RecordPlace) { to.symbols.push_back(def); }
  void operator()(const format::UnhookedApi& def, RecordPlace) { to.unhooked_apis.push_back(def.name); }
  void operator()(const format::GpuClock& def, RecordPlace) {
    if (!to.gpu_clock) to.gpu_clock = def;
  }
  void operator()(const format::ClockAnchor& anchor, RecordPlace) { to.clock_anchors.push_back(anchor); }

  std::vector<format::DeviceProperty> properties{};
  std::vector<format::NvtxSchemaEntry> schema_entries{};

  // Entries whose schema is lost are ignored.
  void finish_schemas() {
    for (const format::NvtxSchemaEntry& entry : schema_entries) {
      DefinedSchema* const schema = to.nvtx_schemas.find(entry.schema);
      if (schema != nullptr && entry.index == schema->entries.size()) schema->entries.push_back(entry);
    }
  }

  void finish() {
    finish_schemas();
    for (auto& [id, partial] : parts) {
      ++to.incomplete_strings;
      to.long_strings.push_back(std::move(partial.text));
      if (id < format::kFirstOnceId || id < log.log_bytes())
        to.strings.set(static_cast<format::StringId>(id), to.long_strings.back());
    }
    ById<uint32_t, DefinedDevice> devices_with_properties;
    to.devices.for_each([&](uint32_t ordinal, const DefinedDevice& device) {
      DefinedDevice whole = device;
      for (const format::DeviceProperty& property : properties) {
        if (property.ordinal == ordinal) whole.properties.emplace_back(property.key, property.value);
      }
      devices_with_properties.set(ordinal, whole);
    });
    to.devices = std::move(devices_with_properties);
    std::stable_sort(to.clock_anchors.begin(), to.clock_anchors.end(),
                     [](const format::ClockAnchor& a, const format::ClockAnchor& b) { return a.tick < b.tick; });
  }
};

// The definitions in event blocks: threads and clock anchors, if they are wanted, and those for one use.
struct FromEvents {
  static constexpr bool kSeldom = true;
  Loader& loader;
  bool anchors_and_threads;
  void operator()(const format::ClockAnchor& anchor, RecordPlace place) {
    if (anchors_and_threads) loader(anchor, place);
  }
  void operator()(const format::ThreadDef& def, RecordPlace place) {
    if (anchors_and_threads) loader(def, place);
  }
  template <class T>
  requires format::TakesIdsForOneUse<T>
  void operator()(const T& def, RecordPlace place) {
    if (static_cast<uint32_t>(def.id) >= format::kFirstOnceId) loader(def, place);
  }
};

bool has_definitions_for_one_use(const LogFile& log) {
  for (const LogCounter& counter : log.counters()) {
    if (counter.name == "definitions_inline") return counter.value != 0;
  }
  return false;
}

// Clock anchors are rare and may be in any thread's blocks. Their tag has two bytes. A block without these two
// consecutive bytes has no anchor and need not be decoded. Returns false also if the log numbers its kinds differently.
bool surely_without_anchors(const LogFile& log, const BlockRef& block) {
  constexpr uint32_t kTag = format::ClockAnchor::kKind << 3;
  static_assert(kTag >= 0x80 && kTag < 0x4000);
  const KindSignature* const kind = log.kinds().find(format::ClockAnchor::kKind);
  if (kind == nullptr || kind->plan != KindPlan::Same) return false;
  const uint8_t tag[2] = {static_cast<uint8_t>(kTag | 0x80), static_cast<uint8_t>(kTag >> 7)};
  return memmem(log.payload(block), block.readable, tag, sizeof tag) == nullptr;
}

}  // namespace

std::string_view LogDefinitions::meta_value(std::string_view key) const {
  for (const format::MetaDef& def : meta) {
    if (def.key == key) return def.value;
  }
  return {};
}

std::string LogDefinitions::shown_value(const format::MetaDef& fact) const {
  std::string text(fact.value);
  const bool may_contain_secrets = fact.key == "command_line" || fact.key == "environment";
  if (!may_contain_secrets || meta_value("secrets") == "kept") return text;
  text.resize(format::mask_secrets(fact.value, fact.key == "environment" ? '\0' : ' ', text.data()));
  return text;
}

std::string LogDefinitions::shown_command_line() const {
  for (const format::MetaDef& fact : meta) {
    if (fact.key == "command_line") return shown_value(fact);
  }
  return {};
}

LogDefinitions load_definitions(const LogFile& log, ReadFrom from) {
  LogDefinitions definitions;
  Loader loader{log, definitions};
  FromEvents from_events{loader, from == ReadFrom::AllBlocks};
  const bool once = has_definitions_for_one_use(log);
  uint32_t last_thread = 0;  // its definition is in the first event block that exists
  for (const BlockRef& block : log.blocks()) {
    if (block.kind == format::BlockKind::Definitions) {
      const DecodeResult result = decode_block(log, block, loader);
      if (result.bad_record) definitions.damage.push_back(record_damage(block, result));
    } else if (once) {
      decode_block(log, block, from_events);
    } else if (from == ReadFrom::DefinitionBlocks) {
      continue;
    } else if (std::exchange(last_thread, block.thread) != block.thread || !surely_without_anchors(log, block)) {
      decode_block(log, block, from_events);  // damage of event blocks is reported where they are decoded for events
    }
  }
  loader.finish();
  return definitions;
}

}  // namespace prof::analyzer
