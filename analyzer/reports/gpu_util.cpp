// gpu-util: how busy was each device over time? One window is divided into at most 100 equal pieces; several windows
// are one piece each. A row shows the share of the piece in which the device was busy. If the device's properties are
// known, it also shows how full its SMs can have been.
#include "analyzer/analysis/cost/occupancy.h"
#include "analyzer/analysis/select/selected_operations.h"
#include "analyzer/analysis/select/time_window.h"
#include "analyzer/reports/reports.h"
#include "analyzer/reports/tensorboard_util.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <queue>

namespace prof::analyzer {

namespace {

constexpr int64_t kMostPieces = 100;

// Length of a piece: the smallest of 1, 2, 5, 10, 20, 50 … ns for which at most 100 pieces cover the window.
int64_t piece_length(int64_t window_ns) {
  int64_t length = 1;
  for (int step = 0; window_ns / length + (window_ns % length != 0 ? 1 : 0) > kMostPieces; ++step)
    length = step % 3 == 1 ? length / 2 * 5 : length * 2;
  return length;
}

// The pieces do not overlap and are in order of start.
std::vector<Window> pieces_of(const std::vector<Window>& windows) {
  if (windows.size() != 1) return windows;
  std::vector<Window> pieces;
  const Window& whole = windows.front();
  const int64_t length = piece_length(whole.length_ns());
  for (int64_t begin = whole.begin_ns; begin < whole.end_ns; begin += length) {
    const bool last = whole.end_ns - begin <= length;
    pieces.push_back({whole.label, begin, last ? whole.end_ns : begin + length});
    if (last) break;
  }
  return pieces;
}

// Weighted time inside each piece. add() must be called in order of start.
class Weights {
 public:
  explicit Weights(const std::vector<Window>& pieces) : pieces_(pieces), sums_(pieces.size()) {}
  void add(int64_t begin_ns, int64_t end_ns, double weight) {
    while (first_ < pieces_.size() && pieces_[first_].end_ns <= begin_ns) ++first_;
    for (size_t i = first_; i < pieces_.size() && pieces_[i].begin_ns < end_ns; ++i) {
      const int64_t ns = std::min(end_ns, pieces_[i].end_ns) - std::max(begin_ns, pieces_[i].begin_ns);
      sums_[i] += weight * static_cast<double>(ns);
    }
  }
  double of(size_t piece) const { return sums_[piece]; }

 private:
  const std::vector<Window>& pieces_;
  std::vector<double> sums_;
  size_t first_ = 0;  // pieces before it end before every later call of add()
};

// Estimates of one device. Efficiency: the largest min(blocks per SM, 1) of the running kernels, at each moment.
// Occupancy: the mean over kernels, weighted by their durations.
struct Fill {
  explicit Fill(const std::vector<Window>& pieces) : efficiency(pieces), occupancy(pieces), kernel_time(pieces) {}
  Weights efficiency, occupancy, kernel_time;
  bool known = false, occupancy_known = false;
};

class FillSweep {
 public:
  explicit FillSweep(Fill& fill) : fill_(fill) {}
  // Must be called in order of start.
  void add(const GpuOperation& kernel, double share_of_sms) {
    advance(kernel.start_ns);
    now_ns_ = std::max(now_ns_, kernel.start_ns);
    running_.push({share_of_sms, kernel.end_ns});
  }
  void advance(int64_t to_ns) {
    while (!running_.empty() && now_ns_ < to_ns) {
      const auto [share, end_ns] = running_.top();
      if (end_ns <= now_ns_) {
        running_.pop();
        continue;
      }
      const int64_t until = std::min(end_ns, to_ns);
      fill_.efficiency.add(now_ns_, until, share);
      now_ns_ = until;
    }
  }

 private:
  Fill& fill_;
  std::priority_queue<std::pair<double, int64_t>> running_;  // largest share first
  int64_t now_ns_ = std::numeric_limits<int64_t>::min();
};

void estimate(const AnalysisInput& input, uint32_t device_row, Fill& fill) {
  const Trace& trace = input.trace;
  const Device& device = trace.devices[device_row];
  if (!kernel_fill(device, Kernel{.grid = {1, 1, 1}, .block = {1, 1, 1}})) return;
  fill.known = true;
  fill.occupancy_known = std::any_of(device.properties.begin(), device.properties.end(), [](const auto& property) {
    return property.first == "maxThreadsPerMultiprocessor" && property.second != 0;
  });
  std::vector<KernelFill> of_kernel(trace.kernels.size());
  for (uint32_t k = 0; k < trace.kernels.size(); ++k)
    of_kernel[k] = kernel_fill(device, trace.kernels[k]).value_or(KernelFill{});
  FillSweep sweep(fill);
  for_each_selected_by_start(
      input, [&](StreamId id) { return index(trace.stream(id).device) == device_row; },
      [&](uint32_t, const GpuOperation& operation) {
        if (!operation.has_kernel() || operation.end_ns <= operation.start_ns) return;
        const KernelFill& full = of_kernel[operation.detail];
        sweep.add(operation, std::min(full.blocks_per_sm, 1.0));
        if (full.blocks_per_sm == 0) return;  // the launch shape is unknown
        fill.occupancy.add(operation.start_ns, operation.end_ns, full.occupancy_percent);
        fill.kernel_time.add(operation.start_ns, operation.end_ns, 1);
      });
  sweep.advance(std::numeric_limits<int64_t>::max());
}

}  // namespace

Table report_gpu_util(const AnalysisInput& input) {
  if (input.options.definitions == Definitions::TensorBoard) return tensorboard_utilisation(input);
  const Trace& trace = input.trace;
  const std::vector<Window> windows = report_windows(input);
  std::vector<Window> pieces = pieces_of(windows);
  std::stable_sort(pieces.begin(), pieces.end(),
                   [](const Window& a, const Window& b) { return a.begin_ns < b.begin_ns; });
  const bool disjoint = std::is_sorted(pieces.begin(), pieces.end(),
                                       [](const Window& a, const Window& b) { return a.begin_ns < b.end_ns; });

  Table table("gpu-util", "Utilisation of each device over time");
  table.add_columns({ColumnId::pid, ColumnId::device, ColumnId::window, ColumnId::start, ColumnId::length,
                     ColumnId::busy, ColumnId::busy_percent, ColumnId::sm_efficiency_percent,
                     ColumnId::occupancy_percent});
  if (windows.size() == 1) table.notes.push_back(window_note(windows.front()));
  table.notes.emplace_back(
      "busy: union of kernels, copies and memsets, of the piece; estimates from launch shapes, blank where the "
      "input does not say how large the device is");
  if (!disjoint) table.notes.emplace_back("the windows overlap: no estimates");

  for (uint32_t d = 0; d < trace.devices.size(); ++d) {
    IntervalCollector intervals;
    bool any = false;
    for_each_selected_by_start(
        input, [&](StreamId id) { return index(trace.stream(id).device) == d; },
        [&](uint32_t, const GpuOperation& operation) {
          any = true;
          intervals.add(operation.start_ns, operation.end_ns);
        });
    if (!any) continue;
    const IntervalSet busy = intervals.take();
    Fill fill(pieces);
    if (disjoint) estimate(input, d, fill);
    for (size_t i = 0; i < pieces.size(); ++i) {
      const Window& piece = pieces[i];
      const auto length_ns = static_cast<double>(piece.length_ns());
      const int64_t busy_ns = busy.overlap_ns(piece.begin_ns, piece.end_ns);
      Table::Row row = table.row();
      row.add_owner(trace.devices[d].process).add(trace.devices[d].ordinal);
      row.add(std::string_view(piece.label)).add(piece.begin_ns).add(piece.length_ns()).add(busy_ns);
      row.add(100 * static_cast<double>(busy_ns) / length_ns);
      if (fill.known) {
        row.add(100 * fill.efficiency.of(i) / length_ns);
      } else {
        row.empty();
      }
      if (fill.occupancy_known && fill.kernel_time.of(i) > 0) row.add(fill.occupancy.of(i) / fill.kernel_time.of(i));
    }
  }
  return table;
}

}  // namespace prof::analyzer
