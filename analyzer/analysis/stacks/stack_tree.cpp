#include "analyzer/analysis/stacks/stack_tree.h"

#include "analyzer/analysis/idle/gaps.h"
#include "analyzer/analysis/idle/host_code_times.h"
#include "analyzer/analysis/kernel_lines/kernel_stalls.h"
#include "analyzer/analysis/kernel_lines/stall_reasons.h"
#include "analyzer/analysis/select/selected_operations.h"
#include "analyzer/analysis/select/time_window.h"
#include "analyzer/analysis/stacks/call_stacks.h"
#include "analyzer/analysis/stacks/frame_text.h"
#include "analyzer/analysis/stacks/piece_stacks.h"
#include "analyzer/base/saturated.h"
#include "analyzer/base/statistics.h"
#include "analyzer/model/event_tree.h"
#include "analyzer/model/op_stacks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <stdexcept>
#include <unordered_map>

namespace prof::analyzer {

namespace {

constexpr std::pair<std::string_view, StackMetric> kMetrics[] = {{"gpu-time", StackMetric::GpuTime},
                                                                 {"cpu-time", StackMetric::CpuTime},
                                                                 {"launches", StackMetric::Launches},
                                                                 {"bytes", StackMetric::Bytes},
                                                                 {"allocated-bytes", StackMetric::AllocatedBytes},
                                                                 {"idle", StackMetric::Idle},
                                                                 {"host-time", StackMetric::HostTime}};

std::string_view metric_name(StackMetric metric) {
  for (const auto& [name, each] : kMetrics) {
    if (each == metric) return name;
  }
  return {};
}

// A path below a kernel, outermost frame first: lines, then the reason, with its share of the kernel's PC samples.
struct KernelLine {
  std::vector<uint32_t> frames;  // rows of the tree
  double share = 0;
};
using KernelLines = std::vector<KernelLine>;

// Sums values by (stack, leaf) first, because there are far fewer pairs than events.
class StackSums {
 public:
  explicit StackSums(const AnalysisInput& input) : stacks_(call_stacks(input.views)) {}

  uint32_t leaf(std::string_view name, TreeFrameKind kind) {
    return answer_.tree.frame({answer_.tree.text(name), {}, {}, 0, kind});
  }
  // `count`: number of events in the value. Leaf 0: the value belongs to the innermost frame of the stack.
  void add(StackId stack, uint32_t leaf, int64_t value, uint64_t count = 1) {
    const uint64_t key = uint64_t{static_cast<uint32_t>(stack)} << 32 | leaf;
    if (key != last_key_ || last_ == nullptr) {
      last_ = &sums_[key];
      last_key_ = key;
    }
    grow(last_->value, value);
    last_->count += count;
  }
  void add(StackId stack, uint32_t leaf, const GpuOperation& operation, int64_t value, Estimates& estimates) {
    add(stack, leaf, value);
    if (!estimates.any()) return;
    if (last_->group == kNone) last_->group = groups_++;
    estimates.add(operation, last_->group, static_cast<double>(value));
  }

  // A leaf whose value is divided over lines below it. Shares are of the leaf's value.
  void divide(uint32_t leaf, KernelLines lines) { divided_.insert_or_assign(leaf, std::move(lines)); }
  bool divides(uint32_t leaf) const { return divided_.contains(leaf); }
  CallTree& tree() { return answer_.tree; }

  StackTree take(std::string_view metric, std::string_view unit, std::shared_ptr<const Estimates> estimates) {
    const bool estimated = estimates != nullptr && estimates->any();
    answer_.estimates = std::move(estimates);
    CallTree& tree = answer_.tree;
    tree.metric = metric;
    tree.unit = unit;
    std::vector<std::pair<uint64_t, Sum>> sums(sums_.begin(), sums_.end());
    std::sort(sums.begin(), sums.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    MergedStacks& merged = stacks_.merged();
    std::vector<uint32_t> frames;  // row of merged -> row of the tree
    uint64_t last_stack = UINT64_MAX;
    uint32_t node = 0;
    for (auto& [key, sum] : sums) {
      if (estimated) sum.value = whole_ns(answer_.estimates->of(sum.group).total);
      if (key >> 32 != last_stack) {
        last_stack = key >> 32;
        node = 0;
        const std::span<const uint32_t> rows = merged.of(static_cast<StackId>(last_stack));
        for (size_t i = rows.size(); i-- > 0;) node = tree.child(node, frame(merged, rows[i], frames));
      }
      const auto leaf_frame = static_cast<uint32_t>(key);
      const uint32_t at = leaf_frame == 0 ? node : tree.child(node, leaf_frame);
      if (estimated) {
        if (answer_.groups.size() <= at) answer_.groups.resize(at + size_t{1});
        answer_.groups[at].push_back(sum.group);
      }
      const auto divided = divided_.find(leaf_frame);
      if (divided != divided_.end() && !estimated) {
        add_divided(at, sum, divided->second);
      } else {
        TreeNode& leaf = tree.node(at);
        grow(leaf.value, sum.value);
        leaf.count += sum.count;
      }
      if (last_stack == 0) grow(answer_.without_stack, sum.value);
    }
    if (estimated) {
      answer_.groups.resize(tree.nodes().size());
      answer_.notes = answer_.estimates->notes();
      answer_.notes.back() +=
          "; all values are estimates, with the weight of a launch's kernel; counts are of what was timed";
    }
    const std::vector<std::string> of_stacks = merged.notes();
    answer_.notes.insert(answer_.notes.end(), of_stacks.begin(), of_stacks.end());
    return std::move(answer_);
  }

 private:
  struct Sum {
    int64_t value = 0;
    uint64_t count = 0;
    uint32_t group = kNone;  // of the estimates
  };
  // Rounds sums of shares, so that the parts of a value add up to it.
  void add_divided(uint32_t at, const Sum& sum, const KernelLines& lines) {
    double share = 0;
    int64_t value = 0;
    uint64_t count = 0;
    for (size_t i = 0; i < lines.size(); ++i) {
      share += lines[i].share;
      const bool last = i + 1 == lines.size();
      const int64_t value_to = last ? sum.value : whole_ns(static_cast<double>(sum.value) * std::min(1.0, share));
      const uint64_t count_to =
          last ? sum.count : static_cast<uint64_t>(static_cast<double>(sum.count) * std::min(1.0, share));
      uint32_t node = at;
      for (const uint32_t each : lines[i].frames) node = answer_.tree.child(node, each);
      TreeNode& to = answer_.tree.node(node);
      grow(to.value, value_to - value);
      to.count += count_to - count;
      value = value_to;
      count = count_to;
    }
  }
  uint32_t frame(const MergedStacks& merged, uint32_t row, std::vector<uint32_t>& frames) {
    if (row >= frames.size()) frames.resize(row + size_t{1});
    if (frames[row] == 0) {
      TreeFrame frame = merged.frame(row);
      frame.name = answer_.tree.text(frame_text(merged.text(frame.name)));
      frame.file = answer_.tree.text(frame_text(merged.text(frame.file)));
      frame.module = answer_.tree.text(merged.text(frame.module));
      frames[row] = answer_.tree.frame(frame);
    }
    return frames[row];
  }

  CallStacks& stacks_;
  StackTree answer_;
  std::unordered_map<uint32_t, KernelLines> divided_;
  std::unordered_map<uint64_t, Sum> sums_;
  uint32_t groups_ = 0;
  uint64_t last_key_ = 0;
  Sum* last_ = nullptr;
};

// Leaves of the tree: what ran, by name.
class Leaves {
 public:
  Leaves(const AnalysisInput& input, StackSums& sums)
      : input_(input), sums_(sums), of_kernel_(input.trace.kernels.size()) {}
  uint32_t of(const GpuOperation& operation) {
    if (!operation.has_kernel()) return other(operation_name(input_.views.names(), operation, input_.options.names));
    return of(input_.views.names().named_by(operation));
  }
  uint32_t of(KernelId kernel) {
    uint32_t& leaf = of_kernel_[index(kernel)];
    if (leaf == 0) leaf = sums_.leaf(input_.views.names().name(kernel, input_.options.names), TreeFrameKind::Gpu);
    return leaf;
  }
  uint32_t known(KernelId kernel) const { return of_kernel_[index(kernel)]; }  // 0: of no operation so far
  uint32_t call(const HostEvent& event) {
    const uint32_t api = event.api();
    if (api >= of_api_.size()) of_api_.resize(api + size_t{1});
    if (of_api_[api] == 0) {
      const std::string_view name = plain_api_name(input_.trace.api_name(event));
      of_api_[api] = sums_.leaf(name.empty() ? "[unknown call]" : name, TreeFrameKind::Call);
    }
    return of_api_[api];
  }

 private:
  uint32_t other(std::string_view name) { return sums_.leaf(name, TreeFrameKind::Gpu); }

  const AnalysisInput& input_;
  StackSums& sums_;
  std::vector<uint32_t> of_kernel_, of_api_;
};

class Taker {
 public:
  explicit Taker(const AnalysisInput& input)
      : input_(input),
        trace_(input.trace),
        stacks_(call_stacks(input.views)),
        sums_(input),
        leaves_(input, sums_),
        everything_(input.options.window == "gpu" && input.selection.all()) {
    if (input.options.window != "gpu" || !input.selection.all()) {
      windows_ = report_windows(input);
      wanted_ = union_of(windows_);
    }
  }

  StackTree take(StackMetric metric) {
    switch (metric) {
      case StackMetric::GpuTime: operations(false); break;
      case StackMetric::Bytes: operations(true); break;
      case StackMetric::Idle: gaps(); break;
      case StackMetric::HostTime: host_time(); break;
      case StackMetric::CpuTime:
        calls([](const HostEvent&) { return true; }, [](const HostEvent& event) { return event.duration_ns(); });
        break;
      case StackMetric::Launches:
        calls([](const HostEvent& event) { return event.is_launch(); }, [](const HostEvent&) { return int64_t{1}; });
        break;
      case StackMetric::AllocatedBytes:
        calls([](const HostEvent& event) { return event.kind() == HostKind::Allocation && event.result() == 0; },
              [](const HostEvent& event) { return static_cast<int64_t>(event.subject); });
        break;
    }
    if (input_.options.lines) divide_kernels(metric);
    const bool bytes = metric == StackMetric::Bytes || metric == StackMetric::AllocatedBytes;
    const std::string_view name = metric_name(metric);
    StackTree answer = sums_.take(name,
                                  bytes                             ? "bytes"
                                  : metric == StackMetric::Launches ? "count"
                                                                    : "nanoseconds",
                                  std::move(estimates_));
    for (const Window& window : windows_) {
      if (windows_.size() <= 20) answer.notes.push_back(window_note(window));
    }
    answer.notes.insert(answer.notes.end(), notes_.begin(), notes_.end());
    if (!stacks_.any()) answer.notes.emplace_back("the input has no call stacks");
    return answer;
  }

 private:
  // Kernels with PC samples: GPU time by line and reason. The samples of a kernel are spread over all its launches.
  void divide_kernels(StackMetric metric) {
    if (metric != StackMetric::GpuTime) throw std::runtime_error("--lines needs --metric gpu-time");
    const KernelSums sums(input_);
    if (!sums.any()) {
      notes_.push_back(no_pc_samples_note(trace_));
      return;
    }
    // Paths are summed first: many instructions have one line, and each path is added below each stack.
    std::unordered_map<uint32_t, std::map<std::vector<uint32_t>, double>> cycles;  // by mangled name and frames
    for (uint32_t p = 0; p < sums.by_place().size(); ++p) {
      const PcPlace& place = sums.places().places()[p];
      if (sums.by_place()[p].all.samples == 0) continue;
      const StringId name = sums.places().functions()[place.function].name;
      std::vector<uint32_t> frames = line_frames(sums, place);
      frames.push_back(0);
      for (const StallSums::Reason& reason : sums.by_place()[p].reasons) {
        frames.back() = sums_.leaf(stall_reason(trace_.text(reason.name)).words, TreeFrameKind::Call);
        cycles[index(name)][frames] += reason.sum.cycles;
      }
    }
    std::unordered_map<uint32_t, KernelLines> of_name;
    for (const KernelStalls& kernel : sums.kernels()) {
      KernelLines& lines = of_name[index(kernel.name)];
      for (const auto& [frames, of_frames] : cycles[index(kernel.name)])
        lines.push_back({frames, of_frames / kernel.sums.all.cycles});
    }
    bool without = false;
    for (uint32_t k = 0; k < trace_.kernels.size(); ++k) {
      const uint32_t leaf = leaves_.known(KernelId{k});
      const auto found = of_name.find(index(trace_.kernels[k].name));
      without |= leaf != 0 && found == of_name.end();
      if (leaf != 0 && found != of_name.end() && !sums_.divides(leaf)) sums_.divide(leaf, found->second);
    }
    notes_.emplace_back(
        "lines and reasons below a kernel are estimates: its GPU time, divided by its PC samples over all its "
        "launches");
    notes_.push_back(pc_coverage(input_, sums));
    if (without) notes_.emplace_back("kernels without lines below them have no PC samples");
  }

  // Functions with their lines, outermost first. Empty: no line; sums of a reason are then directly below the kernel.
  std::vector<uint32_t> line_frames(const KernelSums& sums, const PcPlace& place) {
    const PcPlaces& places = sums.places();
    CallTree& tree = sums_.tree();
    const PcFunction& function = places.functions()[place.function];
    const std::string kernel = places.name(function, input_.options.names);
    const std::span<const SymbolFrame> frames = places.frames(place);
    std::vector<uint32_t> rows;
    for (size_t i = frames.size(); i-- > 0;) {
      const std::string name = i + 1 == frames.size() ? kernel : places.name(frames[i], input_.options.names);
      rows.push_back(tree.frame({tree.text(name),
                                 tree.text(frame_text(places.text(frames[i].file))),
                                 {},
                                 frames[i].line,
                                 TreeFrameKind::Line}));
    }
    return rows;
  }

  void operations(bool bytes) {
    estimates_ = std::make_shared<Estimates>(input_, RowsAre::ByWork);
    for_each_selected(
        input_, [](StreamId) { return true; },
        [&](uint32_t, const GpuOperation& operation) {
          if (!everything_ && !wanted_.contains(operation.start_ns)) return;
          if (bytes && operation.has_kernel()) return;
          const int64_t value = bytes ? static_cast<int64_t>(operation.bytes) : operation.duration_ns();
          sums_.add(stacks_.of_operation(operation), leaves_.of(operation), operation, value, *estimates_);
        });
  }

  // The window of GPU operations would exclude earlier host calls. Calls in the selection count, unless another window
  // is given.
  template <class Want, class Value> void calls(Want&& want, Value&& value) {
    const bool in_windows = input_.options.window != "gpu";
    for (uint32_t row = 0; row < trace_.host.size(); ++row) {
      const HostEvent& event = trace_.host[row];
      if (!want(event) || !input_.selection.in_window(event.begin_ns, event.end_ns)) continue;
      if (!input_.selection.nvtx.has_call(row) || !input_.selection.has_thread(trace_.thread(event.thread))) continue;
      if (in_windows && !wanted_.contains(event.begin_ns)) continue;
      const bool kernel = event.kind() == HostKind::KernelLaunch && event.subject != 0;
      const uint32_t leaf = kernel ? leaves_.of(KernelId{static_cast<uint32_t>(event.subject)}) : leaves_.call(event);
      sums_.add(stacks_.of_call(row), leaf, value(event));
    }
    if (!in_windows) windows_.clear();
  }

  // Each piece of a gap belongs to the code that took it. With one cause for each gap, it belongs to the call that
  // blocked the thread, else to the launch that was late.
  void gaps() {
    if (windows_.empty()) windows_ = report_windows(input_);
    if (windows_.empty()) return;
    const IntervalSet inside = union_of(windows_);
    const Interval hull{inside.parts().front().begin_ns, inside.parts().back().end_ns};
    const auto leaf = [&](std::string_view cause) { return sums_.leaf(cause, TreeFrameKind::Call); };
    if (input_.options.definitions != Definitions::GapCause) {
      std::array<uint32_t, kGapCharges> leaves{};
      const HostSampleRows& rows = host_sample_rows(input_.views);
      std::map<std::pair<DeviceId, size_t>, HostCodeTimes> sampled;  // by device and number of the charge
      divide_gaps(trace_, input_.views, input_.selection, hull,
                  [&](const DeviceGap& gap, std::span<const GapPiece> pieces) {
                    for (const GapPiece& piece : pieces) {
                      const int64_t idle_ns = inside.overlap_ns(piece.begin_ns, piece.end_ns);
                      if (idle_ns <= 0) continue;
                      if (needs_samples(piece) && rows.recorded(trace_.threads[piece.thread].process)) {
                        HostCodeTimes& times =
                            sampled.try_emplace({gap.device, piece.charge.number()}, trace_, rows).first->second;
                        each_inside(inside, piece, [&](const Interval& part) { times.add(piece.thread, part); });
                        continue;
                      }
                      uint32_t& of_charge = leaves[piece.charge.number()];
                      if (of_charge == 0) of_charge = leaf(piece.charge.text());
                      sums_.add(stack_of_piece(stacks_, gap, piece), of_charge, idle_ns);
                    }
                  });
      for (const auto& [key, times] : sampled) add_sampled(times, GapCharge::of_number(key.second).text());
      return;
    }
    for (const Gap& gap : find_gaps(trace_, input_.views, input_.selection, hull)) {
      const int64_t idle_ns = inside.overlap_ns(gap.begin_ns, gap.end_ns);
      if (idle_ns <= 0) continue;
      StackId stack{};
      for (const uint32_t call : {gap.call, gap.launch}) {
        if (stack == StackId{} && call != kNone) stack = stacks_.of_call(call);
      }
      sums_.add(stack, leaf(gap_cause_text(gap.cause)), idle_ns);
    }
  }

  // The parts of a piece that are inside the windows.
  template <class Take> static void each_inside(const IntervalSet& windows, const GapPiece& piece, Take&& take) {
    const std::vector<Interval>& parts = windows.parts();
    auto each = std::partition_point(parts.begin(), parts.end(),
                                     [&](const Interval& part) { return part.end_ns <= piece.begin_ns; });
    for (; each != parts.end() && each->begin_ns < piece.end_ns; ++each)
      take(inside(piece, each->begin_ns, each->end_ns));
  }

  // Sampled stacks down to what the thread did there. Time that no sample represents is below the root.
  void add_sampled(const HostCodeTimes& times, std::string_view cause) {
    const HostCodeDivision division = times.divide([](uint32_t code) { return code; });
    for (const HostCodeTime& each : division.groups) {
      const HostCode& code = times.codes()[each.group];
      sums_.add(code.stack, sums_.leaf(host_state_text(trace_, code), TreeFrameKind::Call), each.time_ns, each.samples);
    }
    if (division.not_sampled_ns <= 0) return;
    sums_.add({}, sums_.leaf(fmt::format("{}: not sampled", cause), TreeFrameKind::Call), division.not_sampled_ns, 1);
  }

  // The threads that launch, and all threads of processes that launch nothing, such as workers of a data loader.
  std::vector<bool> threads_with_host_time() const {
    std::vector<bool> launches(trace_.threads.size()), process_launches(trace_.processes.size());
    for (size_t thread = 0; thread < launches.size(); ++thread) {
      const Thread& of = trace_.threads[thread];
      const auto host = std::span(trace_.host.data() + of.host.first, of.host.size());
      launches[thread] =
          std::any_of(host.begin(), host.end(), [](const HostEvent& event) { return event.is_launch(); });
      if (launches[thread]) process_launches[index(of.process)] = true;
    }
    for (size_t thread = 0; thread < launches.size(); ++thread) {
      if (!process_launches[index(trace_.threads[thread].process)]) launches[thread] = true;
    }
    return launches;
  }

  // Running time of these threads, by sampled stack: an ordinary CPU flame graph.
  void host_time() {
    const bool in_windows = input_.options.window != "gpu";
    if (!in_windows) windows_.clear();
    const HostSampleRows& rows = host_sample_rows(input_.views);
    const HostSamples& samples = trace_.host_sampling.samples;
    uint64_t running = 0, other = 0;
    double running_ns = 0, other_ns = 0;
    const std::vector<bool> wanted = threads_with_host_time();
    for (uint32_t thread = 0; thread < trace_.threads.size(); ++thread) {
      const Thread& of = trace_.threads[thread];
      if (!wanted[thread] || rows.samples(thread).size() == 0 || !input_.selection.has_thread(of)) continue;
      for (uint32_t row = rows.samples(thread).first; row < rows.samples(thread).last; ++row) {
        const int64_t time_ns = samples.time_ns[row];
        if (!input_.selection.in_window(time_ns, time_ns + 1) || (in_windows && !wanted_.contains(time_ns))) continue;
        const double period_ns = rows.weight_ns(thread, row);
        if (samples.state[row] != HostState::Running) {
          ++other;
          other_ns += period_ns;
          continue;
        }
        ++running;
        running_ns += period_ns;
        sums_.add(samples.stack[row],
                  samples.stack[row] == StackId{} ? sums_.leaf("[no stack]", TreeFrameKind::Unknown) : 0,
                  whole_ns(period_ns));
      }
    }
    if (running + other == 0) {
      notes_.emplace_back(
          "the input has no host samples of threads that launch, or of processes that launch nothing: record with "
          "--host-samples (and --host-processes)");
      return;
    }
    notes_.push_back(
        fmt::format("running time of the threads that launch, and of processes that launch nothing: {} host samples, "
                    "each for the time it represents ({}); not "
                    "shown: {} samples "
                    "({}) of threads that waited",
                    running, scaled_time(whole_ns(running_ns)), other, scaled_time(whole_ns(other_ns))));
    note_rates();
  }

  // How representative the samples are: prof ctl may have changed their rate.
  void note_rates() {
    const HostSampling& sampling = trace_.host_sampling;
    size_t starved = sampling.starved_only && sampling.rates.empty() ? 1 : 0, others = 0, again = 0;
    for (size_t i = 0; i < sampling.rates.size(); ++i) {
      if (sampling.rates[i].period_ns <= 0) continue;
      ++(sampling.rates[i].starved_only ? starved : others);
      const bool is_again =
          i != 0 && sampling.rates[i - 1].process == sampling.rates[i].process && sampling.rates[i - 1].period_ns <= 0;
      if (is_again) ++again;
    }
    if (starved != 0)
      notes_.push_back(fmt::format("{}host samples were taken only while no device had anything outstanding",
                                   others == 0 ? "" : "in a part of the run or of the processes, "));
    if (again != 0)
      notes_.push_back(fmt::format(
          "host samples were switched off and on again, or got another rate, {} times while the program ran; time "
          "without them is not shown",
          again));
  }

  const AnalysisInput& input_;
  const Trace& trace_;
  CallStacks& stacks_;
  StackSums sums_;
  std::vector<std::string> notes_;
  std::shared_ptr<Estimates> estimates_;
  Leaves leaves_;
  const bool everything_;
  std::vector<Window> windows_;
  IntervalSet wanted_;
};

}  // namespace

StackMetric stack_metric(std::string_view word) {
  std::string words;
  for (const auto& [name, metric] : kMetrics) {
    if (name == word) return metric;
    words += fmt::format("{}{}", words.empty() ? "" : ", ", name);
  }
  throw std::runtime_error(
      fmt::format("--metric: '{}' is none of {}; reports stacks also know self_cpu_time_total and self_cuda_time_total",
                  word, words));
}

void StackTree::add_half_column(Table& table, ColumnId column) const {
  if (!estimated()) return;
  table.add_column(column, tree.unit == "nanoseconds" ? CellType::Nanoseconds : CellType::Count);
}

void StackTree::add_half_cell(Table::Row& row, const std::vector<uint32_t>& of_groups) const {
  if (!estimated()) return;
  const Extrapolated estimate = estimates->of(of_groups);
  row.add_if(estimate.known() && estimate.half >= 0, whole_ns(estimate.half));
}

std::vector<std::vector<uint32_t>> StackTree::groups_below() const {
  std::vector<std::vector<uint32_t>> below = groups;
  for (size_t n = below.size(); n-- > 1;) {  // children come after their parents
    std::vector<uint32_t>& above = below[tree.nodes()[n].parent];
    above.insert(above.end(), below[n].begin(), below[n].end());
  }
  return below;
}

StackTree stack_tree(const AnalysisInput& input, StackMetric metric) { return Taker(input).take(metric); }

bool is_torch_metric(std::string_view word) {
  return word == "self_cpu_time_total" || word == "self_cuda_time_total" || word == "self_device_time_total";
}

std::vector<ExportedStack> exported_stacks(const AnalysisInput& input, std::string_view metric) {
  const Trace& trace = input.trace;
  const EventTree& tree = input.views.tree();
  const OpStacks stacks(trace, input.views.forward_backward());
  const bool cpu = metric == "self_cpu_time_total";
  const bool reference = input.options.definitions == Definitions::Reference;
  const DeviceTimes device = device_times(trace, tree, !reference, [&](const GpuOperation& operation) {
    return input.selection.has_stream(trace, trace.stream(operation.stream())) &&
           input.selection.nvtx.has_operation(static_cast<uint32_t>(&operation - trace.operations.data()));
  });
  std::vector<uint32_t> nodes;
  for (uint32_t node = 0; node < tree.size(); ++node) {
    if (tree.range(node) == nullptr || !input.selection.in_window(tree.begin_ns(node), tree.end_ns(node))) continue;
    if (!input.selection.nvtx.has_range(tree[node].row())) continue;
    if (input.selection.has_thread(trace.thread(tree.thread(node)))) nodes.push_back(node);
  }
  std::stable_sort(nodes.begin(), nodes.end(), [&](uint32_t a, uint32_t b) {
    return tree.begin_ns(a) != tree.begin_ns(b) ? tree.begin_ns(a) < tree.begin_ns(b) : tree.end_ns(a) > tree.end_ns(b);
  });
  std::vector<ExportedStack> exported;
  for (const uint32_t node : nodes) {
    const int64_t time_ns = cpu ? tree.self_ns(node) : device.self_ns[node];
    if (time_ns < 1000) continue;
    ExportedStack stack{stacks.stack(tree[node].source), time_ns};
    if (!stack.frames.empty()) exported.push_back(std::move(stack));
  }
  return exported;
}

}  // namespace prof::analyzer
