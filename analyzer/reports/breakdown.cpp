// breakdown: what did each device do in each window? A row is one quantity with a label for its counting rule. Holistic
// Trace Analysis and TraceLens have definitions of their own, which are available under their names.
#include "analyzer/reports/breakdown.h"

#include "analyzer/analysis/hta_rules.h"
#include "analyzer/analysis/select/selected_operations.h"
#include "analyzer/analysis/select/window_sums.h"
#include "analyzer/base/saturated.h"
#include "analyzer/reports/reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <optional>

namespace prof::analyzer {

namespace {

// kMemory also has what Holistic Trace Analysis calls other: its report has both in `non_compute_time`.
enum Part { kComputing = 0, kCommunicating = 1, kMemory = 2, kPartCount = 3 };

Part hta_part(std::string_view name) {
  switch (hta_class(name)) {
    case HtaClass::Computation: return kComputing;
    case HtaClass::Communication: return kCommunicating;
    case HtaClass::Memory:
    case HtaClass::Other: break;
  }
  return kMemory;
}

// Names of collectives, and of the copy kernels that ROCm 7.1 wrote as kernels.
Part tracelens_part(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  std::string_view plain = name;
  if (plain.ends_with(".kd")) plain.remove_suffix(3);
  for (const std::string_view copy :
       {"MEMORY_COPY_HOST_TO_DEVICE", "MEMORY_COPY_DEVICE_TO_HOST", "MEMORY_COPY_DEVICE_TO_DEVICE",
        "__amd_rocclr_copyBuffer", "__amd_rocclr_copyBufferRect", "__amd_rocclr_copyBufferAligned",
        "__amd_rocclr_copyBufferRectAligned"}) {
    if (plain == copy) return kMemory;
  }
  for (const std::string_view word : {"nccl", "rccl", "cross_device_reduce"}) {
    if (lower.find(word) != std::string::npos) return kCommunicating;
  }
  return kComputing;
}

// KernelId -> the part of the breakdown to which it belongs.
std::vector<Part> parts_of_kernels(const AnalysisInput& input, const BreakdownRules& rules) {
  std::vector<Part> parts(input.trace.kernels.size());
  for (uint32_t k = 0; k < parts.size(); ++k) {
    const std::string_view name = input.views.names().name(KernelId{k}, NameForm::Full);
    switch (rules.kernels) {
      case BreakdownRules::Kernels::Categories:
        parts[k] =
            input.views.categories().purpose(KernelId{k}) == Purpose::Communication ? kCommunicating : kComputing;
        break;
      case BreakdownRules::Kernels::NcclInName:
        parts[k] = name.find("nccl") != std::string_view::npos ? kCommunicating : kComputing;
        break;
      case BreakdownRules::Kernels::TraceLens: parts[k] = tracelens_part(name); break;
      case BreakdownRules::Kernels::Hta: parts[k] = hta_part(name); break;
    }
  }
  return parts;
}

// Collects the operations of one scope, then measures them in every window.
class BreakdownCollector {
 public:
  explicit BreakdownCollector(const std::vector<Window>& windows)
      : windows_(windows), all_(windows), kernels_(windows), unlinked_(windows) {}

  void add(const GpuOperation& operation, Part part) {
    const Interval interval{operation.start_ns, operation.end_ns};
    parts_[part].add(interval.begin_ns, interval.end_ns);
    all_.add(interval.begin_ns, interval.end_ns);
    if (operation.has_kernel()) kernels_.add(interval.begin_ns, interval.end_ns);
    if (operation.linked()) {
      linked_.add(interval.begin_ns, interval.end_ns);
    } else {
      unlinked_.add(interval.begin_ns, interval.end_ns);
      any_unlinked_ = true;
    }
    reach(interval);
  }
  // The union of busy time has it, the sums of operations have not.
  void add_sync(const SyncEvent& sync) {
    parts_[kMemory].add(sync.begin_ns, sync.end_ns);
    reach({sync.begin_ns, sync.end_ns});
  }
  bool empty() const { return first_ns_ > last_ns_; }

  void measure(DeviceBreakdown& scope) {
    scope.first_ns = first_ns_;
    scope.last_ns = last_ns_;
    const IntervalSet compute = parts_[kComputing].take(), communication = parts_[kCommunicating].take();
    const IntervalSet memory = parts_[kMemory].take();
    const IntervalSet exposed_communication = communication.subtract(compute);
    const IntervalSet kernels = compute.unite(communication);
    const IntervalSet exposed_memory = memory.subtract(kernels);
    const IntervalSet busy = kernels.unite(memory);
    const IntervalSet linked = any_unlinked_ ? linked_.take() : busy;
    for (const Window& window : windows_) {
      const auto in = [&](const IntervalSet& set) { return set.overlap_ns(window.begin_ns, window.end_ns); };
      Breakdown& result = scope.windows.emplace_back();
      result.window_ns = window.length_ns();
      result.busy_ns = in(busy);
      result.compute_ns = in(compute);
      result.communication_ns = in(communication);
      result.memory_ns = in(memory);
      result.linked_busy_ns = in(linked);
      result.exposed_communication_ns = in(exposed_communication);
      result.exposed_memory_ns = in(exposed_memory);
      const auto [operations, sum_ns] = all_.in(window);
      const auto [kernel_count, kernel_sum_ns] = kernels_.in(window);
      const auto [unlinked, unlinked_sum_ns] = unlinked_.in(window);
      result.operations = operations;
      result.sum_ns = sum_ns;
      result.kernels = kernel_count;
      result.kernel_sum_ns = kernel_sum_ns;
      result.unlinked = unlinked;
      result.unlinked_sum_ns = unlinked_sum_ns;
    }
  }

 private:
  void reach(const Interval& interval) {
    first_ns_ = std::min(first_ns_, interval.begin_ns);
    last_ns_ = std::max({last_ns_, interval.begin_ns, interval.end_ns});
  }

  const std::vector<Window>& windows_;
  IntervalCollector parts_[kPartCount];
  IntervalCollector linked_;
  bool any_unlinked_ = false;
  WindowSums all_, kernels_, unlinked_;
  int64_t first_ns_ = std::numeric_limits<int64_t>::max(), last_ns_ = std::numeric_limits<int64_t>::min();
};

}  // namespace

Breakdown& Breakdown::operator+=(const Breakdown& other) {
  grow(window_ns, other.window_ns);
  grow(busy_ns, other.busy_ns);
  grow(compute_ns, other.compute_ns);
  grow(communication_ns, other.communication_ns);
  grow(memory_ns, other.memory_ns);
  grow(exposed_communication_ns, other.exposed_communication_ns);
  grow(exposed_memory_ns, other.exposed_memory_ns);
  operations += other.operations;
  kernels += other.kernels;
  unlinked += other.unlinked;
  grow(sum_ns, other.sum_ns);
  grow(kernel_sum_ns, other.kernel_sum_ns);
  grow(unlinked_sum_ns, other.unlinked_sum_ns);
  grow(linked_busy_ns, other.linked_busy_ns);
  return *this;
}

std::vector<DeviceBreakdown> break_down(const AnalysisInput& input, const std::vector<Window>& windows,
                                        const BreakdownRules& rules) {
  const Trace& trace = input.trace;
  const std::vector<Part> part_of_kernel = parts_of_kernels(input, rules);
  std::optional<HtaRules> hta;
  if (rules.events_of_hta) hta.emplace(trace);
  const auto is_wanted = [&](const GpuOperation& operation) {
    return (operation.linked() || !rules.linked_only) && (!hta || hta->counts(operation));
  };
  const auto part_of = [&](const GpuOperation& operation) {
    if (operation.kind() == GpuKind::Fill) return rules.memsets_compute ? kComputing : kMemory;
    if (operation.kind() == GpuKind::Copy) return kMemory;
    return part_of_kernel[index(input.views.names().named_by(operation))];
  };

  std::vector<DeviceBreakdown> scopes;
  const size_t scope_count = rules.merge_devices ? trace.processes.size() : trace.devices.size();
  for (uint32_t scope = 0; scope < scope_count; ++scope) {
    BreakdownCollector collector(windows);
    const auto is_of_scope = [&](StreamId id) {
      const DeviceId device = trace.stream(id).device;
      return scope == (rules.merge_devices ? index(trace.device(device).process) : index(device));
    };
    for_each_selected_by_start(input, is_of_scope, [&](uint32_t, const GpuOperation& operation) {
      if (is_wanted(operation)) collector.add(operation, part_of(operation));
    });
    if (hta) {
      for (const SyncEvent& sync : trace.syncs) {
        if (sync.stream == kNone || !hta->counts(sync)) continue;
        const Stream& stream = trace.streams[sync.stream];
        if (index(stream.device) >= trace.devices.size()) continue;  // a stream without operations may have no device
        if (is_of_scope(StreamId{sync.stream}) && input.selection.has_stream(trace, stream)) collector.add_sync(sync);
      }
    }
    if (collector.empty()) continue;
    DeviceBreakdown& result = scopes.emplace_back();
    result.process = rules.merge_devices ? scope : index(trace.devices[scope].process);
    result.device = rules.merge_devices ? kNone : scope;
    collector.measure(result);
  }
  return scopes;
}

namespace {

constexpr const char* kUnion = "union";
constexpr const char* kSum = "sum";

class BreakdownTable {
 public:
  explicit BreakdownTable(const AnalysisInput& input) : input_(input) {
    table_.add_columns({ColumnId::pid, ColumnId::devices, ColumnId::window, ColumnId::what, ColumnId::counted,
                        ColumnId::operations, ColumnId::time, ColumnId::window_percent, ColumnId::busy_percent,
                        ColumnId::communication_percent, ColumnId::wall_percent});
  }

  // If `process` is kNone, the row covers several processes.
  void begin(uint32_t process, std::string device, std::string window, const Breakdown& whole, double wall_ns) {
    process_ = process;
    device_ = std::move(device);
    window_ = std::move(window);
    whole_ = whole;
    wall_ns_ = wall_ns;
  }
  void row(std::string_view what, const char* counted, int64_t ns, int64_t operations = kEmptyCell,
           bool of_communication = false) {
    Table::Row row = table_.row();
    row.add_if(process_ != kNone, process_);
    row.add(std::string_view(device_)).add(std::string_view(window_)).add(what).add(std::string_view(counted));
    row.add(operations).add(ns);
    share(row, ns, static_cast<double>(whole_.window_ns));
    share(row, ns, is_of_busy(what) ? static_cast<double>(whole_.busy_ns) : 0);
    share(row, ns, of_communication ? static_cast<double>(whole_.communication_ns) : 0);
    share(row, ns, wall_ns_);
  }

  void rows_of_ours() {
    const Breakdown& b = whole_;
    const auto count = [](uint64_t n) { return static_cast<int64_t>(n); };
    row("window", "length", b.window_ns);
    row("idle", kUnion, b.idle_ns());
    row("busy", kUnion, b.busy_ns);
    row("compute", kUnion, b.compute_ns);
    row("communication", kUnion, b.communication_ns, kEmptyCell, true);
    row("communication while computing", kUnion, b.hidden_communication_ns(), kEmptyCell, true);
    row("exposed communication", kUnion, b.exposed_communication_ns, kEmptyCell, true);
    row("copies and memsets", kUnion, b.memory_ns);
    row("exposed copies and memsets", kUnion, b.exposed_memory_ns);
    row("kernels", kSum, b.kernel_sum_ns, count(b.kernels));
    row("operations", kSum, b.sum_ns, count(b.operations));
    if (b.unlinked == 0) return;
    row("launch not in the input", kSum, b.unlinked_sum_ns, count(b.unlinked));
    row("busy with known launch", kUnion, b.linked_busy_ns);
  }
  void rows_of_reference() {
    row("window", "length", whole_.window_ns);
    row("GPU busy", kSum, whole_.kernel_sum_ns, static_cast<int64_t>(whole_.kernels));
  }
  void rows_of_hta() {
    const Breakdown& b = whole_;
    row("idle_time", kUnion, b.idle_ns());
    row("compute_time", kUnion, b.compute_ns);
    row("non_compute_time", kUnion, b.busy_ns - b.compute_ns);
    row("kernel_time", "length", b.window_ns);
    row("comm_comp_overlap", kUnion, b.hidden_communication_ns(), kEmptyCell, true);
  }
  void rows_of_tracelens() {
    const Breakdown& b = whole_;
    row("computation_time", kUnion, b.compute_ns);
    row("exposed_comm_time", kUnion, b.exposed_communication_ns);
    row("exposed_memcpy_time", kUnion, b.exposed_memory_ns);
    row("busy_time", kUnion, b.busy_ns);
    row("idle_time", kUnion, b.idle_ns());
    row("total_time", "length", b.window_ns);
    row("total_comm_time", kUnion, b.communication_ns);
    row("total_memcpy_time", kUnion, b.memory_ns);
  }
  void rows() {
    switch (input_.options.definitions) {
      case Definitions::Ours:
      case Definitions::GapCause:
      case Definitions::Nsys:
      case Definitions::TensorBoard: return rows_of_ours();
      case Definitions::Reference: return rows_of_reference();
      case Definitions::Hta: return rows_of_hta();
      case Definitions::TraceLens: return rows_of_tracelens();
    }
  }
  Table& table() { return table_; }

 private:
  static bool is_of_busy(std::string_view what) {
    return !what.starts_with("window") && !what.starts_with("idle") && what != "kernel_time" && what != "total_time";
  }
  static void share(Table::Row& row, int64_t part, double whole) { row.add_percent(part, whole); }

  const AnalysisInput& input_;
  Table table_{"breakdown", "GPU time by what it was for"};
  uint32_t process_ = kNone;
  std::string device_, window_;
  Breakdown whole_;
  double wall_ns_ = 0;
};

BreakdownRules rules_of(Definitions definitions) {
  BreakdownRules rules;
  if (definitions == Definitions::Hta) {
    rules.kernels = BreakdownRules::Kernels::Hta;
    rules.merge_devices = rules.events_of_hta = true;
  } else if (definitions == Definitions::TraceLens) {
    rules.kernels = BreakdownRules::Kernels::TraceLens;
    rules.memsets_compute = rules.merge_devices = rules.linked_only = true;
  }
  return rules;
}

// Synchronisations with a stream are GPU events for Holistic Trace Analysis, so they can be the first or the last one.
void add_syncs(const AnalysisInput& input, Window& window) {
  for (const SyncEvent& sync : input.trace.syncs) {
    if (sync.stream == kNone) continue;
    window.begin_ns = std::min(window.begin_ns, std::max(sync.begin_ns, input.selection.from_ns));
    window.end_ns = std::max(window.end_ns, std::min(sync.end_ns, input.selection.to_ns));
  }
}

std::string_view definition_note(Definitions definitions) {
  switch (definitions) {
    case Definitions::Reference:
      return "definitions: torch.compile's profile: busy is the sum of kernel times, over the wall time";
    case Definitions::Hta:
      return "definitions: Holistic Trace Analysis, without rounding times to us; all devices of a process as one; the "
             "window is from its own first start to its last end";
    case Definitions::TraceLens:
      return "definitions: TraceLens: only operations whose launch is in the input, memsets compute, all devices of a "
             "process as one; the window is from its own first start to its last end";
    case Definitions::Ours:
    case Definitions::GapCause:
    case Definitions::Nsys:
    case Definitions::TensorBoard: break;
  }
  return "union: time in which at least one such operation runs; sum: of each operation's time, more than the window "
         "where "
         "they overlap";
}

}  // namespace

Table report_breakdown(const AnalysisInput& input) {
  const Trace& trace = input.trace;
  const Definitions definitions = input.options.definitions;
  const BreakdownRules rules = rules_of(definitions);
  const double wall_ns = input.options.wall_ms * 1e6;
  std::vector<Window> windows = report_windows(input);
  const bool own_window = rules.merge_devices && input.options.window == "gpu";
  if (own_window && rules.events_of_hta) {
    for (Window& window : windows) add_syncs(input, window);
  }
  std::vector<DeviceBreakdown> scopes = break_down(input, windows, rules);
  BreakdownTable out(input);
  out.table().notes.emplace_back(definition_note(definitions));
  for (size_t w = 0; w < windows.size(); ++w) {
    if (windows.size() <= 20) out.table().notes.push_back(window_note(windows[w]));
    Breakdown all;
    const auto wall_of = [&](const Breakdown& scope) {
      return wall_ns > 0 ? wall_ns : definitions == Definitions::Reference ? static_cast<double>(scope.window_ns) : 0.0;
    };
    for (DeviceBreakdown& scope : scopes) {
      Breakdown& part = scope.windows[w];
      if (own_window) {
        part.window_ns = std::min(scope.last_ns, windows[w].end_ns) - std::max(scope.first_ns, windows[w].begin_ns);
      }
      out.begin(scope.process, scope.device == kNone ? "all" : std::to_string(trace.devices[scope.device].ordinal),
                windows[w].label, part, wall_of(part));
      out.rows();
      all += part;
    }
    if (scopes.size() < 2 || rules.merge_devices) continue;
    const auto devices = static_cast<double>(scopes.size());
    out.begin(kNone, "all", windows[w].label, all, wall_ns > 0 ? wall_ns * devices : wall_of(all));
    out.rows();
  }
  if (scopes.empty()) {
    out.table().notes.emplace_back(rules.linked_only ? "no GPU operation with its launch in the input"
                                                     : "no GPU operation");
  }
  if (scopes.size() > 1 && !rules.merge_devices)
    out.table().notes.emplace_back("all devices: each number summed over the devices, the window too");
  return std::move(out.table());
}

}  // namespace prof::analyzer
