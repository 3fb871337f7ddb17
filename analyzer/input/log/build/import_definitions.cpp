// What do the ids of one log mean? A step of the builder: definitions become rows of the model. Strings and definitions
// may come in any order and from any thread, so they are collected first and resolved afterwards.
#include "analyzer/input/log/build/device_definitions.h"
#include "analyzer/input/log/build/staging.h"
#include "analyzer/input/log/log_definitions.h"
#include "preload/format/sample_codec.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace prof::analyzer {

namespace {

constexpr uint64_t kDeviceLaunch = 4;  // CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH

class DefinitionImporter {
 public:
  DefinitionImporter(LogInput& input, const LogDefinitions& from, SharedRows& shared, Trace& to)
      : input_(input), ids_(input.ids), from_(from), shared_(shared), to_(to) {}

  void run() {
    names();
    devices_.run();
    pools();
    kernels();
    labels();
    import_stacks(from_, ids_.stacks, to_);
    counter_sets();
    sampled_sets();
    pc_sampling();
  }

 private:
  StringId intern(format::StringId id) { return to_.strings.intern(from_.strings[id]); }

  void names() {
    std::unordered_map<uint32_t, uint32_t> by_name;  // StringId -> index of Trace::apis
    for (uint32_t i = 1; i < to_.apis.size(); ++i) by_name[index(to_.apis[i])] = i;
    from_.apis.for_each([&](format::ApiId id, const format::ApiDef& api) {
      const StringId name = to_.strings.intern(api.name);
      const auto [found, added] = by_name.try_emplace(index(name), static_cast<uint32_t>(to_.apis.size()));
      if (added && to_.apis.size() < HostEvent::kMostApis) to_.apis.push_back(name);
      const uint32_t place = found->second < to_.apis.size() ? found->second : 0;
      ids_.apis.set(index(id), place);
      if (api.level == 1 && place != 0) ids_.outer.push_back(place);
      if (api.name.find("Array") != std::string_view::npos) {
        if (ids_.of_handles.size() <= place) ids_.of_handles.resize(place + 1);
        ids_.of_handles[place] = true;
      }
    });
    from_.graphs.for_each([&](format::GraphId id, const format::GraphDef& graph) {
      ids_.graphs.set(index(id), static_cast<uint32_t>(to_.graphs.size()));
      to_.graphs.push_back({input_.process, graph.handle, graph.gpu_graph, graph.kernels, graph.copies, graph.fills,
                            graph.host_nodes, graph.other_nodes, (graph.flags & kDeviceLaunch) != 0});
    });
  }

  // Two threads that first use a default pool at the same time both define it. A pool's handle may be reused by a later
  // pool.
  void pools() {
    uint32_t numbered = 0;
    std::map<std::tuple<uint64_t, uint32_t, uint32_t>, uint32_t> met;  // handle, origin, place -> row
    from_.pools.for_each([&](format::PoolId id, const format::MemoryPoolDef& pool) {
      const bool own = pool.origin == format::PoolOrigin::Created || pool.origin == format::PoolOrigin::Imported;
      const auto next = static_cast<uint32_t>(to_.memory_pools.size());
      const auto origin = static_cast<uint32_t>(pool.origin);
      const auto [found, added] = met.try_emplace({pool.handle, origin, pool.place}, next);
      if (own) found->second = next;
      if (added || own) {
        const bool standard = pool.origin == format::PoolOrigin::Default;
        to_.memory_pools.push_back(
            {input_.process, pool.handle, origin, pool.location, pool.place, standard ? 0 : ++numbered});
      }
      ids_.pools.set(index(id), found->second);
    });
  }

  // A kernel that is defined anew for each use has one row.
  uint32_t kernel_row(uint32_t id, const Kernel& kernel) {
    const auto next = static_cast<uint32_t>(to_.kernels.size());
    if (id >= format::kFirstOnceId) {
      const auto key = std::tuple(kernel.name, std::array{kernel.grid[0], kernel.grid[1], kernel.grid[2]},
                                  std::array{kernel.block[0], kernel.block[1], kernel.block[2]}, kernel.registers,
                                  kernel.static_shared_bytes, kernel.dynamic_shared_bytes, kernel.local_bytes,
                                  kernel.launch_type, kernel.from_gpu);
      const auto [found, added] = kernels_for_one_use_.try_emplace(key, next);
      if (!added) return found->second;
    }
    to_.kernels.push_back(kernel);
    return next;
  }

  void kernels() {
    from_.configs.for_each([&](format::ConfigId id, const format::ConfigDef& config) {
      Kernel row;
      row.name = intern(from_.functions[config.function].name);
      std::copy(config.grid, config.grid + 3, row.grid);
      std::copy(config.block, config.block + 3, row.block);
      row.dynamic_shared_bytes = config.shared_bytes;
      ids_.configs.set(index(id), kernel_row(index(id), row));
      ids_.config_apis.set(index(id), ids_.apis.find_or(index(config.api), 0));
    });
    from_.gpu_kernels.for_each([&](format::GpuKernelId id, const format::GpuKernelDef& kernel) {
      Kernel row;
      row.name = intern(kernel.name);
      std::copy(kernel.grid, kernel.grid + 3, row.grid);
      std::copy(kernel.block, kernel.block + 3, row.block);
      row.registers = kernel.registers;
      row.static_shared_bytes = kernel.static_shared_bytes;
      row.dynamic_shared_bytes = kernel.dynamic_shared_bytes;
      row.local_bytes = kernel.local_bytes;
      row.launch_type = kernel.launch_type;
      row.from_gpu = true;
      ids_.kernels.set(index(id), kernel_row(index(id), row));
    });
    from_.graphs.for_each([&](format::GraphId, const format::GraphDef& graph) {
      if (graph.gpu_graph == 0 || ids_.graph_runs.find(graph.gpu_graph) != kNone) return;
      Kernel row;
      row.name = to_.strings.intern(fmt::format("[CUDA graph {}]", graph.gpu_graph));
      row.from_gpu = true;
      ids_.graph_runs.set(graph.gpu_graph, static_cast<uint32_t>(to_.kernels.size()));
      to_.kernels.push_back(row);
    });
  }

  void labels() {
    from_.nvtx_domains.for_each([&](format::DomainId id, const format::NvtxDomainDef& domain) {
      ids_.domains.set(index(id), index(intern(domain.name)));
    });
    std::map<std::pair<format::DomainId, uint32_t>, StringId> categories;  // the last name counts
    for (const format::NvtxCategoryDef& category : from_.nvtx_categories)
      categories[{category.domain, category.category}] = to_.strings.intern(category.name);
    from_.nvtx_labels.for_each([&](format::LabelId id, const format::NvtxLabelDef& label) {
      Label row{StringId{ids_.domains.find_or(index(label.domain), 0)}, intern(label.text), label.category,
                label.has_color != 0, label.color};
      const auto named = categories.find({label.domain, label.category});
      if (named != categories.end()) row.category_name = named->second;
      const auto [found, added] =
          shared_.labels.try_emplace(SharedRows::key(row), static_cast<uint32_t>(to_.labels.size()));
      if (added) to_.labels.push_back(row);
      ids_.labels.set(index(id), found->second);
    });
  }

  // Names, one per line.
  std::vector<StringId> metrics(format::StringId lines) {
    std::vector<StringId> names;
    for (std::string_view left = from_.strings[lines]; !left.empty();) {
      const std::string_view metric = left.substr(0, left.find('\n'));
      names.push_back(to_.strings.intern(metric));
      left.remove_prefix(std::min(metric.size() + 1, left.size()));
    }
    return names;
  }

  void sampled_sets() {
    ids_.first_sampled_set = static_cast<uint32_t>(to_.samples.sets.size());
    from_.sampled_sets.for_each([&](format::SampledSetId id, const format::SampledSetDef& def) {
      SampledSet set;
      set.metrics = metrics(def.metrics);
      if (set.metrics.empty() || set.metrics.size() > format::kMaxSampledMetrics)
        return;  // no record can have its samples
      set.device = devices_.device(def.device);
      set.chip = to_.strings.intern(def.chip);
      set.interval_ns = static_cast<int64_t>(std::min<uint64_t>(def.interval_ns, INT64_MAX));
      ids_.sampled_sets.set(index(id), static_cast<uint32_t>(to_.samples.sets.size()));
      to_.samples.sets.push_back(std::move(set));
    });
    for (size_t set = ids_.first_sampled_set; set < to_.samples.sets.size(); ++set)
      ids_.sampled_metrics.push_back(static_cast<uint32_t>(to_.samples.sets[set].metrics.size()));
  }

  void pc_sampling() {
    for (const format::StallReasonsDef& def : from_.stall_reasons) {
      PcContext context;
      const format::ContextDef* const defined = from_.contexts.find(def.context);
      context.device = devices_.device(defined != nullptr ? defined->device : 0);
      for (const StringId name : metrics(def.names)) {
        std::string text(to_.strings[name]);
        const bool not_issued = text.ends_with(kPcNotIssued);
        if (not_issued) text.resize(text.size() - kPcNotIssued.size());
        context.reasons.push_back({not_issued ? to_.strings.intern(text) : name, not_issued});
      }
      ids_.pc_contexts.set(index(def.context), static_cast<uint32_t>(ids_.pc_sampled.size()));
      ids_.pc_sampled.push_back(std::move(context));
    }
    from_.cubins.for_each([&](format::CubinId id, const format::CubinDef& def) {
      ids_.cubins.set(index(id), static_cast<uint32_t>(to_.pc_samples.cubins.size()));
      to_.pc_samples.cubins.push_back({input_.process, input_.file->path(), def.crc, def.bytes, def.kept != 0});
    });
  }

  void counter_sets() {
    ids_.first_counter_set = static_cast<uint32_t>(to_.counters.sets.size());
    from_.counter_sets.for_each([&](format::CounterSetId id, const format::CounterSetDef& def) {
      CounterSet set;
      set.process = index(input_.process);
      if (const format::ContextDef* const context = from_.contexts.find(def.context)) set.device = context->device;
      set.metrics = metrics(def.metrics);
      if (set.metrics.size() > format::kMaxRecordBytes / sizeof(double)) return;  // no record can have its values
      set.chip = to_.strings.intern(def.chip);
      set.passes = def.passes;
      set.replayed = def.replayed != 0;
      ids_.counter_sets.set(index(id), static_cast<uint32_t>(to_.counters.sets.size()));
      to_.counters.sets.push_back(std::move(set));
    });
    for (size_t set = ids_.first_counter_set; set < to_.counters.sets.size(); ++set)
      ids_.counter_metrics.push_back(to_.counters.sets[set].metrics.size());
  }

  LogInput& input_;
  LogIds& ids_;
  const LogDefinitions& from_;
  SharedRows& shared_;
  Trace& to_;
  DeviceImporter devices_{input_, from_, to_};
  std::map<std::tuple<StringId, std::array<uint32_t, 3>, std::array<uint32_t, 3>, uint32_t, uint32_t, uint32_t,
                      uint32_t, uint32_t, bool>,
           uint32_t>
      kernels_for_one_use_;
};

// Finds the horizon on the GPU's clock: the first time that is not before it, because the clock is monotone. False: the
// log is damaged and the horizon is no time.
bool set_horizon(LogInput& input, const LogClock& clock) {
  const uint64_t horizon_ns = clock.ns(input.file->horizon_tick());
  if (horizon_ns == kLatestNs) return false;
  input.horizon_tick = input.file->horizon_tick();
  uint64_t low = 0, high = UINT64_MAX;
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    if (clock.gpu_ns(middle) < horizon_ns) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  input.horizon_gpu_ns = low;
  return true;
}

}  // namespace

SharedRows::SharedRows(const Trace& trace) {
  for (uint32_t label = 1; label < trace.labels.size(); ++label) labels[key(trace.labels[label])] = label;
}

void import_definitions(LogInput& input, SharedRows& shared, Trace& trace) {
  const LogFile& log = *input.file;
  const bool cut = log.horizon_tick() != 0;  // the anchors are needed to convert the horizon to the GPU's clock
  const LogDefinitions definitions = load_definitions(log, cut ? ReadFrom::AllBlocks : ReadFrom::DefinitionBlocks);
  const bool known = !cut || set_horizon(input, make_clock(log, definitions));
  input.process = ProcessId{static_cast<uint32_t>(trace.processes.size())};
  trace.processes.emplace_back();
  describe_process(input, definitions, trace.processes.back());
  if (!known) {
    trace.processes.back().ring = false;
    trace.processes.back().damage.push_back(fmt::format(
        "{}: counter page: until when the ring was written over is no time; from an unknown moment back, calls are "
        "missing",
        log.path()));
  }
  input.gpu_clock = definitions.gpu_clock;
  input.schemas = definitions.nvtx_schemas;
  if (input.schemas.id_limit() != 0) {
    constexpr size_t kShort = 32;  // the recorder refers to longer ones only
    definitions.strings.for_each([&](format::StringId id, std::string_view text) {
      if (text.size() > kShort) input.payload_texts.emplace(static_cast<uint32_t>(id), text);
    });
  }
  input.counters = definitions.nvtx_counters;
  input.semantics = CounterSemantics(definitions.nvtx_semantics);
  input.scopes = NvtxScopes(definitions.nvtx_scopes);
  input.clock_definitions = definitions.nvtx_clocks;
  input.host_samplings = definitions.host_samplings;
  input.pipe_holders = definitions.pipe_holders;
  if (!input.host_samplings.empty() || !definitions.stall_reasons.empty()) {
    definitions.strings.for_each([&](format::StringId id, std::string_view text) {
      input.ids.texts.set(index(id), static_cast<uint32_t>(trace.strings.intern(text)));
    });
  }
  input.ids.first_stream = static_cast<uint32_t>(trace.streams.size());
  input.ids.first_thread = static_cast<uint32_t>(trace.threads.size());
  DefinitionImporter(input, definitions, shared, trace).run();
  // GPU records whose stream definition is lost get a stream of their own. If there are none, that stream is empty and
  // not shown.
  input.ids.unknown_stream = static_cast<uint32_t>(trace.streams.size());
  trace.streams.emplace_back().in_order = false;
  for (const BlockRef& block : input.file->blocks()) {
    if (block.kind != format::BlockKind::Events || input.ids.threads.find(block.thread) != kNone) continue;
    input.ids.threads.set(block.thread, static_cast<uint32_t>(trace.threads.size()));
    trace.threads.emplace_back();
    trace.threads.back().process = input.process;
  }
  for (const uint32_t thread : definitions.kept_by) {  // the log has no other records of the thread
    if (input.ids.threads.find(thread) != kNone) continue;
    input.ids.threads.set(thread, static_cast<uint32_t>(trace.threads.size()));
    trace.threads.emplace_back();
    Thread& row = trace.threads.back();
    row.process = input.process;
    if (const format::ThreadDef* const def = definitions.threads.find(format::ThreadOrdinal{thread})) {
      row.tid = def->tid;
      row.name = std::string(def->name);
    }
  }
  input.ids.last_thread = static_cast<uint32_t>(trace.threads.size());
}

}  // namespace prof::analyzer
