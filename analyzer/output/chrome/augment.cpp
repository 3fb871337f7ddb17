#include "analyzer/output/chrome/augment.h"

#include "analyzer/analysis/bursts.h"
#include "analyzer/analysis/cost/peak_rates.h"
#include "analyzer/analysis/idle/gaps.h"
#include "analyzer/analysis/idle/host_code_times.h"
#include "analyzer/analysis/kernel_lines/kernel_stalls.h"
#include "analyzer/analysis/stacks/host_code_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace prof::analyzer {

namespace {

constexpr std::string_view kKeys[] = {
#define PROF_AUGMENT(name, key, events, meaning) key,
#include "analyzer/output/chrome/augment_keys.def"
#undef PROF_AUGMENT
};

// A filter for member names. It runs for every member of every copied event. Nearly all names differ from the keys in
// length and first byte.
struct FirstBytes {
  uint32_t of_length[64] = {};
  constexpr bool may_have(std::string_view text) const {
    return !text.empty() && text.size() < 64 && (of_length[text.size()] >> (text[0] & 31) & 1) != 0;
  }
};
constexpr FirstBytes first_bytes() {
  FirstBytes bytes;
  for (const std::string_view key : kKeys) bytes.of_length[key.size()] |= 1u << (key[0] & 31);
  return bytes;
}
constexpr FirstBytes kFirstBytes = first_bytes();

constexpr std::string_view kBoundTexts[] = {"",       "host",   "other thread", "GPU",          "queue full",
                                            "launch", "stream", "other stream", "not explained"};

// From the first start to the last end of the operations of all devices: the default window.
Interval gpu_window(const Trace& trace) {
  Interval window{INT64_MAX, INT64_MIN};
  for (const GpuOperation& operation : trace.operations) {
    window.begin_ns = std::min(window.begin_ns, operation.start_ns);
    window.end_ns = std::max(window.end_ns, operation.end_ns);
  }
  return window;
}

}  // namespace

AugmentKeys augment_key(std::string_view text) {
  if (!kFirstBytes.may_have(text)) return 0;
  for (size_t i = 0; i < std::size(kKeys); ++i) {
    if (kKeys[i] == text) return AugmentKeys{1} << i;
  }
  return 0;
}

RangeTimes::RangeTimes(const Trace& trace, const EventTree& of)
    : tree(of), device_ns(device_times(trace, of, true, [](const GpuOperation&) { return true; }).total_ns) {}

Augment::Augment(const Trace& trace, const Views& views, EventList& events, const FxMarkers* fx)
    : trace_(trace),
      views_(views),
      events_(events),
      finding_bounds_(std::async(std::launch::async, [&trace] { return EventBounds(trace); })),
      fx_(fx),
      gpu_known_(std::all_of(trace.processes.begin(), trace.processes.end(),
                             [](const Process& process) { return budget_of(process).empty(); })),
      paths_(trace, events),
      has_operators_(trace.processes.size()),
      collectives_(trace),
      ops_(trace, views.tree()) {
  for (size_t i = 0; i < kGapCharges; ++i) cause_texts_.push_back(events.text(GapCharge::of_number(i).text()));
  for (const std::string_view text : kBoundTexts) bounds_texts_.push_back(events.text(text));
  bool python = false;
  for (const Range& range : trace.ranges) {
    if (range.kind != RangeKind::Nvtx) has_operators_[index(trace.thread(range.thread).process)] = true;
    python |= range.kind == RangeKind::Python;
  }
  if (python) {
    python_tree_.emplace(trace, views.event_names(), EventTreeOptions{true, false});
    python_.emplace(trace, *python_tree_);
  }
  if (!trace.ranges.empty() && gpu_known_) prepare_idle();
  if (!trace.operations.empty() && gpu_known_) prepare_gaps();
  const auto of_library = [&](const Label& label) { return trace.text(label.domain) == "library"; };
  if (!trace.details.empty() || !trace.counters.launches.empty() ||
      std::any_of(trace.labels.begin(), trace.labels.end(), of_library))
    prepare_costs();
  if (!trace.pc_samples.empty()) prepare_stalls();
  views.depth();
  views.range_of_call();
  bounds_.emplace(finding_bounds_.get());
}

PathId Augment::path_of_call(uint32_t host_row) {
  const HostEvent& event = trace_.host[host_row];
  if (trace_.thread(event.thread).path_changes.size() == 0) {
    const uint32_t range = views_.range_of_call()[host_row];
    return range == kNone ? PathId{} : trace_.ranges[range].path;
  }
  auto cursor = cursors_.find(index(event.thread));
  if (cursor == cursors_.end()) {
    cursor = cursors_.emplace(index(event.thread), PathCursor(trace_, event.thread)).first;
  }
  return cursor->second.at(event.begin_ns);
}

void Augment::add_path(uint32_t host_row, EventMembers& members) {
  const PathId path = path_of_call(host_row);
  if (index(path) == 0) return;
  const bool operators = has_operators_[index(trace_.thread(trace_.host[host_row].thread).process)];
  members.add_text(operators ? EventKey::OpPath : EventKey::NvtxPath, paths_[path]);
}

void Augment::add_fx(ThreadId thread, int64_t time_ns, EventMembers& members) const {
  const FxNode* const node = fx_ == nullptr ? nullptr : fx_->at(thread, time_ns);
  if (node == nullptr) return;
  members.add_json(EventKey::StackTrace, node->stack_trace);
  if (!node->name.empty()) members.add_json(EventKey::NodeName, node->name);
}

void Augment::host(uint32_t row, EventMembers& members) {
  const HostEvent& event = trace_.host[row];
  const LaunchDepth depth = views_.depth().at_launch()[row];
  if (depth.known()) {
    members.add_count(EventKey::QueueWaiting, depth.waiting);
    members.add_count(EventKey::QueueOutstanding, depth.outstanding);
  }
  add_bound(bounds_->of_call(row), members);
  const EventTree& tree = ops_.tree;
  const uint32_t node = tree.of_call(row);
  if (tree[node].source == (EventNode::kCall | row) && tree.self_ns(node) != tree.total_ns(node))
    members.add_micros(EventKey::SelfTime, tree.self_ns(node));
  add_path(row, members);
  add_fx(event.thread, event.begin_ns, members);
}

void Augment::add_bound(const EventBound& bound, EventMembers& members) const {
  if (!gpu_known_ || bound.by == BoundBy::Nothing) return;
  members.add_text(EventKey::Bound, bounds_texts_[static_cast<size_t>(bound.by)]);
  if (bound.has_time) members.add_micros(bound.critical ? EventKey::CriticalPath : EventKey::Slack, bound.time_ns);
}

void Augment::operation(uint32_t row, EventMembers& members) {
  const GpuOperation& operation = trace_.operations[row];
  add_bound(bounds_->of_operation(row), members);
  if (operation.has_kernel()) add_category(operation, members);
  if (!stalls_.empty() && operation.has_kernel()) add_stalls(operation, members);
  if (costs_) add_cost(row, members);
  if (operation.graph_node != 0) add_capture(operation, members);
  if (!operation.linked()) {
    members.add_text(EventKey::Launch, events_.text("not recorded"));
    add_idle(row, members);
    return;
  }
  const HostEvent& launch = trace_.host[operation.launch];
  members.add_micros(EventKey::LaunchToStart, operation.start_ns - launch.begin_ns);
  members.add_micros(EventKey::LaunchDelay, operation.start_ns - launch.end_ns);
  const LaunchDepth depth = views_.depth().at_launch()[operation.launch];
  if (depth.known()) members.add_count(EventKey::QueueWaiting, depth.waiting);
  add_idle(row, members);
  add_collective(operation, members);
  add_path(operation.launch, members);
  add_fx(launch.thread, launch.begin_ns, members);
}

void Augment::add_capture(const GpuOperation& operation, EventMembers& members) {
  const NodeFound found = views_.graph_origins().of(operation);
  if (found.origin == NodeOrigin::NotRecorded || found.origin == NodeOrigin::Whole) return;
  if (found.origin != NodeOrigin::Known) {
    members.add_text(EventKey::CapturedBy, events_.text(node_origin_text(found.origin)));
    return;
  }
  const GraphNode& node = trace_.graph_nodes[found.row];
  const HostEvent* const call = node.call == kNone ? nullptr : &trace_.host[node.call];
  members.add_text(EventKey::CapturedBy, events_.text(call == nullptr ? "a call whose record is lost"
                                                                      : plain_api_name(trace_.api_name(*call))));
  members.add_count(EventKey::CapturedThread, trace_.thread(node.thread).tid);
  members.add_micros(EventKey::CapturedAt, call == nullptr ? node.time_ns : call->begin_ns);
  const PathId path = call == nullptr ? PathId{} : path_of_call(node.call);
  if (index(path) != 0) members.add_text(EventKey::CapturedPath, paths_[path]);
}

void Augment::add_category(const GpuOperation& operation, EventMembers& members) {
  const KernelCategories& categories = views_.categories();
  if (categories_.empty()) {
    for (const std::string& name : categories.category_names()) categories_.push_back(events_.text(name));
  }
  members.add_text(EventKey::Category, categories_[categories.category_index(operation)]);
}

// Samples do not know their launch, so all launches of a function have the same members.
void Augment::prepare_stalls() {
  constexpr size_t kMostReasons = 3;
  const Selection everything;
  const ReportOptions options;
  const AnalysisInput input{trace_, views_, everything, options};
  const KernelSums sums(input);
  std::vector<std::pair<double, std::string>> hottest(sums.kernels().size());  // cycles, line
  for (const LineStalls& line : sums.lines()) {
    for (const auto& [kernel, sum] : line.kernels) {
      if (sum.cycles > hottest[kernel].first) hottest[kernel] = {sum.cycles, sums.line_text(line, false)};
    }
  }
  for (uint32_t k = 0; k < sums.kernels().size(); ++k) {
    const KernelStalls& kernel = sums.kernels()[k];
    FunctionStalls& to = stalls_[index(kernel.name)];
    if (const std::string text = reasons_text(trace_, kernel.sums, kMostReasons); !text.empty())
      to.stalls = events_.text(text);
    to.line = events_.text(
        fmt::format("{}, {:.1f} % of the samples", hottest[k].second, 100 * hottest[k].first / kernel.sums.all.cycles));
  }
}

void Augment::add_stalls(const GpuOperation& operation, EventMembers& members) const {
  const auto found = stalls_.find(index(trace_.kernels[index(views_.names().named_by(operation))].name));
  if (found == stalls_.end()) return;
  if (!found->second.stalls.empty()) members.add_text(EventKey::FunctionStalls, found->second.stalls);
  members.add_text(EventKey::FunctionLine, found->second.line);
}

void Augment::prepare_costs() {
  costs_.emplace(trace_, views_);
  const DeviceTable table;
  for (const Device& device : trace_.devices) peaks_.push_back(table.of(device));
  for (uint32_t row = 0; row < trace_.operations.size(); ++row) {
    const KernelCost& cost = costs_->of(row);
    if (cost.op == kNone || (!cost.flops && !cost.bytes)) continue;
    OpSums& sums = costs_of_op_[cost.op];
    sums.flops = plus(sums.flops, cost.flops.value_or(0));
    sums.bytes = plus(sums.bytes, cost.bytes.value_or(0));
  }
}

void Augment::add_cost(uint32_t row, EventMembers& members) const {
  const KernelCost& cost = costs_->of(row);
  if (!cost.flops && !cost.bytes) return;
  const GpuOperation& operation = trace_.operations[row];
  const DevicePeaks& device = peaks_[index(trace_.stream(operation.stream()).device)];
  const auto ns = static_cast<double>(operation.duration_ns());
  if (cost.flops) {
    members.add_count(EventKey::KernelFlop, *cost.flops);
    const double peak = cost.peak ? peak_flops(device, *cost.peak) : 0;
    if (peak > 0 && ns > 0)
      members.add_real(EventKey::FlopsPercent, 100 * static_cast<double>(*cost.flops) / (peak * ns * 1e-9), 4);
  }
  if (cost.bytes) {
    members.add_real(EventKey::KernelGb, static_cast<double>(*cost.bytes) * 1e-9, 9);
    if (device.bandwidth_gbs > 0 && ns > 0)
      members.add_real(EventKey::BandwidthPercent, 100 * static_cast<double>(*cost.bytes) / (device.bandwidth_gbs * ns),
                       4);
  }
  const std::string_view flops_from = cost_source_name(cost.flops_source),
                         bytes_from = cost_source_name(cost.bytes_source);
  const bool differ = cost.flops && cost.bytes && flops_from != bytes_from;
  members.add_text(EventKey::CostFrom, events_.text(differ ? fmt::format("{}, bytes {}", flops_from, bytes_from)
                                                           : std::string(cost.flops ? flops_from : bytes_from)));
}

void Augment::add_collective(const GpuOperation& operation, EventMembers& members) const {
  const std::optional<CollectiveCall> call = collectives_.of(operation);
  if (!call) return;
  members.add_text(EventKey::Communicator, events_.text(call->communicator));
  if (call->rank) members.add_count(EventKey::Rank, static_cast<uint64_t>(*call->rank));
  if (call->bytes) members.add_count(EventKey::CollectiveBytes, static_cast<uint64_t>(*call->bytes));
}

void Augment::prepare_gaps() {
  const Interval window = gpu_window(trace_);
  if (window.end_ns <= window.begin_ns) return;
  gap_of_operation_.resize(trace_.operations.size());
  constexpr int64_t kSampledFromNs = 100'000;
  const HostSampleRows& rows = host_sample_rows(views_);
  HostCodeTimes times(trace_, rows);
  std::optional<HostCodeNames> names;
  if (rows.any()) names.emplace(trace_, call_stacks(views_));
  const auto host_code = [&](const DeviceGap& gap, std::span<const GapPiece> pieces) -> uint32_t {
    if (!names || gap.duration_ns() < kSampledFromNs) return 0;
    times.clear();
    for (const GapPiece& piece : pieces) {
      if (needs_samples(piece)) times.add(piece.thread, {piece.begin_ns, piece.end_ns});
    }
    if (times.samples() == 0) return 0;
    const HostCodeTime most = names->divide(times).groups.front();
    host_codes_.push_back(events_.text(fmt::format("{}, {}: {} of {} samples", names->code(most.group),
                                                   names->state(most.group), most.samples, times.samples())));
    return static_cast<uint32_t>(host_codes_.size());
  };
  divide_gaps(trace_, views_, Selection(), window, [&](const DeviceGap& gap, std::span<const GapPiece> pieces) {
    if (gap.operation == kNone) return;
    const MainPart main = main_part(pieces);
    gaps_.push_back({gap.duration_ns(), main.longest->call, main.longest->range, main.charge, host_code(gap, pieces)});
    gap_of_operation_[gap.operation] = static_cast<uint32_t>(gaps_.size());
  });
}

// The culprit of the gap as a JSON string: "cudaMalloc in step/forward".
const std::string& Augment::culprit(const IdleBefore& gap) {
  const uint32_t api = gap.call == kNone ? 0 : 1 + trace_.host[gap.call].api();
  const uint32_t path = gap.range == kNone ? 0 : 1 + gap.range;
  std::string& text = culprits_[uint64_t{api} << 32 | path];
  if (!text.empty()) return text;
  std::string plain(gap.call == kNone ? std::string_view() : plain_api_name(trace_.api_name(trace_.host[gap.call])));
  if (gap.range != kNone) plain += (plain.empty() ? "" : " in ") + range_text(trace_, gap.range);
  return text = events_.text(plain);
}

void Augment::add_idle(uint32_t row, EventMembers& members) {
  if (gap_of_operation_.empty() || gap_of_operation_[row] == 0) return;
  const IdleBefore& gap = gaps_[gap_of_operation_[row] - 1];
  members.add_micros(EventKey::IdleBefore, gap.ns);
  members.add_text(EventKey::IdleCause, cause_texts_[gap.cause.number()]);
  if (gap.call != kNone || gap.range != kNone) members.add_text(EventKey::IdleCulprit, culprit(gap));
  if (gap.host_code != 0) members.add_text(EventKey::IdleHostCode, host_codes_[gap.host_code - 1]);
}

void Augment::prepare_idle() {
  const Interval window = gpu_window(trace_);
  std::vector<std::vector<Interval>> busy(trace_.processes.size()), waiting(trace_.processes.size());
  for (uint32_t s = 0; s < trace_.streams.size(); ++s) {
    const Rows rows = trace_.streams[s].operations;
    if (rows.size() == 0) continue;  // its device may not exist either
    const uint32_t process = index(trace_.process_of(StreamId{s}));
    for (uint32_t row = rows.first; row < rows.last; ++row) {
      const GpuOperation& operation = trace_.operations[row];
      busy[process].push_back({operation.start_ns, operation.end_ns});
      if (operation.linked()) waiting[process].push_back({trace_.host[operation.launch].begin_ns, operation.start_ns});
    }
  }
  for (size_t p = 0; p < trace_.processes.size(); ++p) {
    const bool none = busy[p].empty();
    idle_.push_back(none ? IntervalSet() : IntervalSet(std::move(busy[p])).gaps(window.begin_ns, window.end_ns));
    starved_.push_back(idle_.back().subtract(IntervalSet(std::move(waiting[p]))));
  }
}

// The times that the report ops has for the same range. That report omits Python functions. Their times are computed
// the same way.
void Augment::add_times(uint32_t row, EventMembers& members) {
  const RangeTimes& times = trace_.ranges[row].kind == RangeKind::Python ? *python_ : ops_;
  const uint32_t node = times.node(row);
  if (node == kNone) return;
  members.add_micros(EventKey::SelfTime, times.tree.self_ns(node));
  if (gpu_known_ && times.device_ns[node] > 0) members.add_micros(EventKey::DeviceTime, times.device_ns[node]);
}

void Augment::range(uint32_t row, EventMembers& members) {
  const Range& range = trace_.ranges[row];
  add_times(row, members);
  const uint32_t process = index(trace_.thread(range.thread).process);
  const int64_t idle_ns = gpu_known_ ? idle_[process].overlap_ns(range.begin_ns, range.end_ns) : 0;
  if (idle_ns > 0) {
    members.add_micros(EventKey::IdleTime, idle_ns);
    members.add_micros(EventKey::StarvedTime, starved_[process].overlap_ns(range.begin_ns, range.end_ns));
  }
  const int64_t critical_ns = gpu_known_ && range.style == RangeStyle::PushPop
                                  ? bounds_->critical_ns(range.thread, range.begin_ns, range.end_ns)
                                  : 0;
  if (critical_ns > 0) members.add_micros(EventKey::CriticalPath, critical_ns);
  if (const auto cost = costs_of_op_.find(row); cost != costs_of_op_.end()) {
    // A value that the trace contains is kept.
    const OperatorDetail* const detail = trace_.detail(range);
    const std::string_view own = detail == nullptr ? std::string_view() : trace_.text(detail->other);
    const auto says = [&](std::string_view key) { return own.find(key) != std::string_view::npos; };
    if (cost->second.flops != 0 && !says("\"kernel_flop\""))
      members.add_count(EventKey::KernelFlop, cost->second.flops);
    if (cost->second.bytes != 0 && !says("\"kernel_num_gb\""))
      members.add_real(EventKey::KernelGb, static_cast<double>(cost->second.bytes) * 1e-9, 9);
  }
  if (fx_ != nullptr && !FxMarkers::is_marker(trace_, range)) add_fx(range.thread, range.begin_ns, members);
}

void Augment::mark(uint32_t row, EventMembers& members) {
  add_fx(trace_.marks[row].thread, trace_.marks[row].begin_ns, members);
}

}  // namespace prof::analyzer
