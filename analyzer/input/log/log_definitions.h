// Offline. What do the ids of a log mean? Reads every definition block of a log, and threads and clock anchors from the
// event blocks, which are needed to place events. Texts are views into the log or into the LogDefinitions, which must
// outlive them.
#pragma once

#include "analyzer/input/log/log_clock.h"
#include "analyzer/input/log/log_file.h"
#include "preload/format/codec.h"

#include <concepts>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace prof::analyzer {

// Events that are stored among the definitions of a ring, because the remaining events need them.
template <class T>
concept KeptEvent = std::same_as<T, format::ResourceName> || std::same_as<T, format::GraphNode> ||
    std::same_as<T, format::GraphMade> || std::same_as<T, format::NvtxSyncPoint>;

// Definitions of one kind by their id. Ids of a log are dense from 1 (device ordinals from 0). Those for one use start
// at format::kFirstOnceId and may be any.
template <class Id, class T> class ById {
 public:
  // Null: the log has no such definition (0 means "none", others are lost).
  const T* find(Id id) const {
    const auto index = static_cast<size_t>(id);
    if (index < known_.size()) return known_[index] ? &rows_[index] : nullptr;
    const auto found = once_.find(static_cast<uint32_t>(id));
    return found != once_.end() ? &once_rows_[found->second].second : nullptr;
  }
  T* find(Id id) { return const_cast<T*>(static_cast<const ById*>(this)->find(id)); }
  // The definition, or one whose fields are all 0 or empty.
  const T& operator[](Id id) const {
    static const T none{};
    const T* const found = find(id);
    return found != nullptr ? *found : none;
  }
  size_t id_limit() const { return rows_.size(); }  // ids are below this, but for those for one use
  template <class F> void for_each(F&& f) const {
    for (size_t i = 0; i < rows_.size(); ++i) {
      if (known_[i]) f(static_cast<Id>(i), rows_[i]);
    }
    for (const auto& [id, row] : once_rows_) f(id, row);
  }
  // False: the id is already defined; the first definition stays.
  bool set(Id id, const T& row) {
    const auto index = static_cast<size_t>(id);
    if (index >= rows_.size()) {
      rows_.resize(index + 1);
      known_.resize(index + 1);
    }
    if (known_[index]) return false;
    rows_[index] = row;
    known_[index] = true;
    return true;
  }
  bool set_once(Id id, const T& row) {
    if (!once_.try_emplace(static_cast<uint32_t>(id), once_rows_.size()).second) return false;
    once_rows_.emplace_back(id, row);
    return true;
  }

 private:
  std::vector<T> rows_;
  std::vector<bool> known_;
  std::unordered_map<uint32_t, size_t> once_;  // ids for one use -> their rows, in the log's order
  std::vector<std::pair<Id, T>> once_rows_;
};

struct DefinedDevice {
  format::DeviceDef def;
  std::vector<std::pair<std::string_view, uint64_t>> properties;  // in the log's order
};

struct DefinedSchema {
  format::NvtxSchemaDef def;
  std::vector<format::NvtxSchemaEntry> entries;  // by index
};

struct LogDefinitions {
  ById<format::StringId, std::string_view> strings;
  ById<format::ThreadOrdinal, format::ThreadDef> threads;
  std::vector<uint32_t> kept_by;  // threads of kept events, and those of which others write; may have duplicates
  ById<format::ApiId, format::ApiDef> apis;
  ById<format::ModuleId, format::ModuleDef> modules;
  ById<format::FunctionId, format::FunctionDef> functions;
  ById<format::ConfigId, format::ConfigDef> configs;
  ById<uint32_t, DefinedDevice> devices;  // by ordinal
  ById<format::ContextId, format::ContextDef> contexts;
  ById<format::StreamId, format::StreamDef> streams;
  ById<format::PoolId, format::MemoryPoolDef> pools;
  ById<format::GraphId, format::GraphDef> graphs;
  ById<format::GpuStreamId, format::GpuStreamDef> gpu_streams;
  ById<format::GpuKernelId, format::GpuKernelDef> gpu_kernels;
  ById<format::DomainId, format::NvtxDomainDef> nvtx_domains;
  ById<format::LabelId, format::NvtxLabelDef> nvtx_labels;
  ById<format::StackId, format::StackDef> stacks;  // their frames are views into the log
  ById<format::PythonFrameId, format::PythonFrameDef> python_frames;
  ById<format::ImageId, format::ImageDef> images;
  std::vector<format::ImageGone> images_gone;
  ById<format::SchemaId, DefinedSchema> nvtx_schemas;
  ById<format::NvtxCounterId, format::NvtxCounterDef> nvtx_counters;
  ById<format::CounterSetId, format::CounterSetDef> counter_sets;
  ById<format::SampledSetId, format::SampledSetDef> sampled_sets;
  ById<format::CubinId, format::CubinDef> cubins;
  std::vector<format::StallReasonsDef> stall_reasons;
  std::vector<format::NvtxCategoryDef> nvtx_categories;  // in the log's order, like the following ones
  std::vector<format::NvtxScopeDef> nvtx_scopes;
  std::vector<format::NvtxSemanticsDef> nvtx_semantics;
  std::vector<format::NvtxClockDef> nvtx_clocks;
  std::vector<format::HostSampling> host_samplings;
  std::vector<format::PipeHolder> pipe_holders;
  std::vector<format::MetaDef> meta;  // in the log's order
  std::vector<std::string_view> unhooked_apis;
  std::optional<format::GpuClock> gpu_clock;
  std::vector<format::ClockAnchor> clock_anchors;  // of all threads, by tick
  std::vector<Damage> damage;                      // of definition blocks: undecodable records, impossible ids
  uint64_t incomplete_strings = 0;                 // strings cut at the first missing part
  std::deque<std::string> long_strings;            // storage of strings that came in parts
  std::vector<format::SymbolDef> symbols;          // in the log's order

  LogDefinitions() = default;
  LogDefinitions(LogDefinitions&&) = default;
  LogDefinitions& operator=(LogDefinitions&&) = default;
  LogDefinitions(const LogDefinitions&) = delete;  // views point into long_strings
  LogDefinitions& operator=(const LogDefinitions&) = delete;

  // The first value of a key; empty: none.
  std::string_view meta_value(std::string_view key) const;
  // A fact as reports show it: secrets of a command line and of variables are masked, unless the log says that they
  // were kept on purpose (PROF_SECRETS). Logs of older recorders contain them.
  std::string shown_value(const format::MetaDef& fact) const;
  std::string shown_command_line() const;
};

// DefinitionBlocks: for callers that decode the event blocks anyway (the model's builder) and take threads and clock
// anchors from there.
enum class ReadFrom { AllBlocks, DefinitionBlocks };
LogDefinitions load_definitions(const LogFile& log, ReadFrom from = ReadFrom::AllBlocks);

inline LogClock make_clock(const LogFile& log, const LogDefinitions& definitions) {
  return {log.header(), definitions.clock_anchors, definitions.gpu_clock};
}

}  // namespace prof::analyzer
