// nvtx_gpu_proj_sum, nvtx_gpu_proj_trace and nvtx_kern_sum: which GPU operations did NVTX ranges launch? An operation
// belongs to every range of the launching thread that contains the whole launch call. A range's projection is from the
// first start to the last end of its operations, including the gaps between them. This is nsys's definition.
#include "analyzer/analysis/merge_runs.h"
#include "analyzer/base/saturated.h"
#include "analyzer/reports/nsys/nsys_tables.h"
#include "analyzer/reports/reports.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <tuple>

namespace prof::analyzer {

namespace {

// The GPU operations that one launch call, or a sequence of calls, launched.
struct Work {
  int64_t first_ns = std::numeric_limits<int64_t>::max();
  int64_t last_ns = std::numeric_limits<int64_t>::min();
  uint64_t operations = 0;
  void add(const Work& other) {
    first_ns = std::min(first_ns, other.first_ns);
    last_ns = std::max(last_ns, other.last_ns);
    operations += other.operations;
  }
};

// The launches of one thread, in order of start. The sum over any interval of them takes O(log n). The tree has one
// leaf per block of calls. With one leaf per call it would be twice as large as the data itself.
class ThreadWork {
 public:
  ThreadWork(const Trace& trace, Rows host, const std::vector<Work>& of_call) : trace_(trace), of_call_(of_call) {
    for (uint32_t row = host.first; row < host.last; ++row) {
      if (of_call[row].operations != 0) calls_.push_back(row);
    }
    const size_t blocks = calls_.size() / kInBlock;
    tree_.resize(2 * blocks);
    for (size_t i = 0; i < blocks * kInBlock; ++i) tree_[blocks + i / kInBlock].add(of_call[calls_[i]]);
    for (size_t i = blocks; i-- > 1;) {
      tree_[i] = tree_[2 * i];
      tree_[i].add(tree_[2 * i + 1]);
    }
  }

  // The operations of the calls that are wholly inside the range.
  Work inside(const Range& range) const {
    const auto begins_before = [&](uint32_t row, int64_t time) { return trace_.host[row].begin_ns < time; };
    const auto from = std::lower_bound(calls_.begin(), calls_.end(), range.begin_ns, begins_before);
    auto to = std::lower_bound(from, calls_.end(), range.end_ns, begins_before);
    // Only the last call that started can end after the range.
    while (to != from && trace_.host[to[-1]].end_ns > range.end_ns) --to;
    auto first = static_cast<size_t>(from - calls_.begin()), last = static_cast<size_t>(to - calls_.begin());
    Work sum;
    while (first < last && first % kInBlock != 0) sum.add(of_call_[calls_[first++]]);
    while (first < last && last % kInBlock != 0) sum.add(of_call_[calls_[--last]]);
    const size_t blocks = tree_.size() / 2;
    for (first = first / kInBlock + blocks, last = last / kInBlock + blocks; first < last; first /= 2, last /= 2) {
      if (first % 2 == 1) sum.add(tree_[first++]);
      if (last % 2 == 1) sum.add(tree_[--last]);
    }
    return sum;
  }

 private:
  static constexpr size_t kInBlock = 16;

  const Trace& trace_;
  const std::vector<Work>& of_call_;
  std::vector<uint32_t> calls_;
  std::vector<Work> tree_;  // its leaves are the complete blocks
};

struct ProjectedRange {
  uint32_t range;
  Work work;
};

// The projections of all selected ranges that launched anything, in order of the projected start.
std::vector<ProjectedRange> projections(const AnalysisInput& input) {
  const Trace& trace = input.trace;
  std::vector<Work> of_call(trace.host.size());
  for (uint32_t row = 0; row < trace.operations.size(); ++row) {
    const GpuOperation& operation = trace.operations[row];
    if (operation.linked() && input.selection.nvtx.has_operation(row) &&
        input.selection.has_stream(trace, trace.stream(operation.stream())))
      of_call[operation.launch].add({operation.start_ns, operation.end_ns, 1});
  }
  std::vector<ThreadWork> of_thread;
  for (const Thread& thread : trace.threads) of_thread.emplace_back(trace, thread.host, of_call);
  std::vector<ProjectedRange> found;
  for (const uint32_t row : selected_ranges(input, Order::Model)) {
    if (trace.ranges[row].other_thread) continue;  // nsys projects ranges that one thread opens and closes
    const Work work = of_thread[index(trace.ranges[row].thread)].inside(trace.ranges[row]);
    if (work.operations != 0) found.push_back({row, work});
  }
  return merge_runs(std::move(found), [](const ProjectedRange& each) { return each.work.first_ns; });
}

void note_if_empty(Table& table) {
  if (table.rows() == 0) table.notes.push_back("no range in the input launched GPU work");
}

}  // namespace

Table report_nsys_nvtx_gpu_proj_sum(const AnalysisInput& input) {
  const Trace& trace = input.trace;
  Table table = nsys_table("nvtx_gpu_proj_sum", "NVTX GPU Projection Summary");
  table.add_columns({ColumnId::nsys_range_text, ColumnId::nsys_style, ColumnId::nsys_total_projected,
                     ColumnId::nsys_total_range, ColumnId::nsys_range_count});
  table.add_columns({ColumnId::nsys_projected_avg, ColumnId::nsys_projected_med, ColumnId::nsys_projected_min,
                     ColumnId::nsys_projected_max, ColumnId::nsys_projected_stddev});
  table.add_columns({ColumnId::nsys_total_operations, ColumnId::nsys_avg_operations, ColumnId::nsys_avg_level,
                     ColumnId::nsys_avg_children});
  const NsysNesting nesting(trace);
  struct Sums {
    int64_t range_ns = 0;
    uint64_t operations = 0, levels = 0, children = 0;
  };
  std::map<std::vector<std::string>, Sums> sums;
  NsysLines lines;
  for (const ProjectedRange& each : projections(input)) {
    const Range& range = trace.ranges[each.range];
    NsysLine& line = lines.line(uint64_t{index(range.label)} << 2 | static_cast<uint64_t>(range.style), [&] {
      return std::vector<std::string>{nsys_range_name(trace, range), std::string(nsys_style(range))};
    });
    line.values.add(each.work.last_ns - each.work.first_ns);
    Sums& sum = sums[line.texts];
    grow(sum.range_ns, range.end_ns - range.begin_ns);
    sum.operations += each.work.operations;
    sum.levels += nesting.level(each.range);
    sum.children += nesting.children(each.range);
  }
  sort_lines(lines.lines);
  for (NsysLine& line : lines.lines) {
    const Sums& sum = sums[line.texts];
    const double count = static_cast<double>(line.values.count());
    Table::Row row = table.row();
    row.add(std::string_view(line.texts[0])).add(std::string_view(line.texts[1])).add(line.values.total());
    row.add(sum.range_ns).add(line.values.count());
    add_statistics(row, line.values);
    row.add(sum.operations).add(static_cast<double>(sum.operations) / count);
    row.add(static_cast<double>(sum.levels) / count).add(static_cast<double>(sum.children) / count);
  }
  note_if_empty(table);
  return table;
}

Table report_nsys_nvtx_gpu_proj_trace(const AnalysisInput& input) {
  const Trace& trace = input.trace;
  Table table = nsys_table("nvtx_gpu_proj_trace", "NVTX GPU Projection Trace");
  table.add_columns({ColumnId::nsys_name, ColumnId::nsys_projected_start, ColumnId::nsys_projected_duration,
                     ColumnId::nsys_original_start, ColumnId::nsys_original_duration, ColumnId::nsys_style});
  add_range_columns(table, {ColumnId::nsys_operations});
  const int64_t offset_ns = nsys_session_offset(trace);
  note_session_offset(table, offset_ns);
  auto add = [&trace, offset_ns, nesting = NsysNesting(trace)](const ProjectedRange& each, Table::Row& row) {
    const Range& range = trace.ranges[each.range];
    row.add(std::string_view(nsys_range_name(trace, range))).add(each.work.first_ns + offset_ns);
    row.add(each.work.last_ns - each.work.first_ns);
    row.add(range.begin_ns + offset_ns).add(range.end_ns - range.begin_ns);
    row.add(nsys_style(range));
    add_range_place(row, trace, range);
    row.add(each.work.operations);
    add_range_cells(row, nesting, each.range);
  };
  table.list(projections(input), std::move(add));
  note_if_empty(table);
  return table;
}

namespace {

// The push/pop and start/end ranges of one thread that are open. Queries must be in order of time.
class OpenRanges {
 public:
  OpenRanges(const Trace& trace, std::vector<uint32_t> rows) : trace_(trace), rows_(std::move(rows)) {}
  // The ranges that contain the whole call.
  const std::vector<uint32_t>& around(const HostEvent& call) {
    for (; next_ < rows_.size() && trace_.ranges[rows_[next_]].begin_ns <= call.begin_ns; ++next_)
      open_.push_back(rows_[next_]);
    std::erase_if(open_, [&](uint32_t row) { return trace_.ranges[row].end_ns < call.begin_ns; });
    around_.clear();
    for (const uint32_t row : open_) {
      if (trace_.ranges[row].end_ns >= call.end_ns) around_.push_back(row);
    }
    return around_;
  }

 private:
  const Trace& trace_;
  std::vector<uint32_t> rows_;
  size_t next_ = 0;
  std::vector<uint32_t> open_, around_;
};

}  // namespace

Table report_nsys_nvtx_kern_sum(const AnalysisInput& input) {
  const Trace& trace = input.trace;
  Table table = nsys_table("nvtx_kern_sum", "NVTX Range Kernel Summary");
  table.add_columns({ColumnId::nsys_nvtx_range, ColumnId::nsys_style, ColumnId::nsys_pid, ColumnId::nsys_tid,
                     ColumnId::nsys_range_instances, ColumnId::nsys_kernel_instances, ColumnId::nsys_total_time});
  add_statistics_columns(table);
  Estimates estimates(input, RowsAre::ByWork);
  estimates.add_columns(table);
  table.add_column(ColumnId::nsys_kernel_name);

  std::vector<std::vector<uint32_t>> ranges_of(trace.threads.size());
  for (const uint32_t row : selected_ranges(input, Order::Start))
    ranges_of[index(trace.ranges[row].thread)].push_back(row);
  std::vector<OpenRanges> open;
  for (const std::vector<uint32_t>& rows : ranges_of) open.emplace_back(trace, rows);
  // Launches belong to one stratum if their range has the same thread, text and style, or if they are outside all
  // ranges of a thread.
  std::map<std::array<uint32_t, 4>, uint32_t> strata;
  const auto number_of = [&](const std::array<uint32_t, 4>& key) {
    return strata.try_emplace(key, static_cast<uint32_t>(strata.size() + 1)).first->second;
  };
  const auto stratum = [&](const Range& range) {
    const Label& label = trace.labels[index(range.label)];
    return number_of({index(range.thread), index(label.domain), index(label.text), static_cast<uint32_t>(range.style)});
  };
  const auto outside_of = [&](const HostEvent& launch) { return number_of({index(launch.thread), 0, 0, kNone}); };
  {
    std::vector<OpenRanges> at_launches = open;  // each goes forward only, like the thread's rows of Trace::host
    estimates.for_each_launch([&](uint32_t row) {
      const HostEvent& launch = trace.host[row];
      const std::vector<uint32_t>& around = at_launches[index(launch.thread)].around(launch);
      for (const uint32_t each : around) estimates.launch(row, stratum(trace.ranges[each]));
      if (around.empty()) estimates.launch(row, outside_of(launch));
    });
  }
  std::vector<uint32_t> kernels;
  uint64_t unlinked = 0;
  for (const uint32_t row : selected_operations(input, Order::Model)) {
    if (!trace.operations[row].has_kernel()) continue;
    if (trace.operations[row].linked()) {
      kernels.push_back(row);
    } else {
      ++unlinked;
    }
  }
  kernels =
      merge_runs(std::move(kernels), [&](uint32_t row) { return trace.host[trace.operations[row].launch].begin_ns; });

  struct Line {
    uint32_t number = 0;
    Values kernels;
    std::vector<uint32_t> ranges;  // by kernel
  };
  // Thread, range, style, kernel. Kernels launched outside all ranges have a line without range and style.
  using Key = std::tuple<uint32_t, std::string, std::optional<RangeStyle>, std::string_view>;
  std::map<Key, Line> lines;
  std::map<std::array<uint32_t, 4>, Line*> of_ids;  // texts are created only for new combinations
  for (const uint32_t row : kernels) {
    const GpuOperation& operation = trace.operations[row];
    const HostEvent& launch = trace.host[operation.launch];
    const uint32_t thread = index(launch.thread), kernel = index(input.views.names().named_by(operation));
    const auto add = [&](Line& line, uint32_t of_stratum) {
      if (line.kernels.empty()) line.number = static_cast<uint32_t>(lines.size());
      line.kernels.add(operation.duration_ns());
      estimates.add_of(of_stratum, operation, line.number, static_cast<double>(operation.duration_ns()));
    };
    const std::vector<uint32_t>& around = open[thread].around(launch);
    for (const uint32_t each : around) {
      const Range& range = trace.ranges[each];
      Line*& line = of_ids[{thread, index(range.label), static_cast<uint32_t>(range.style), kernel}];
      if (line == nullptr)
        line = &lines[{thread, nsys_range_name(trace, range), range.style, nsys_kernel_name(input, operation)}];
      add(*line, stratum(range));
      line->ranges.push_back(each);
    }
    if (!around.empty()) continue;
    Line*& line = of_ids[{thread, kNone, kNone, kernel}];
    if (line == nullptr) line = &lines[{thread, "", std::nullopt, nsys_kernel_name(input, operation)}];
    add(*line, outside_of(launch));
  }
  std::vector<std::pair<const Key*, Line*>> order;
  for (auto& [key, line] : lines) order.emplace_back(&key, &line);
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return a.second->kernels.total() != b.second->kernels.total()
               ? a.second->kernels.total() > b.second->kernels.total()
               : a.second->kernels.count() > b.second->kernels.count();
  });
  for (const auto& [key, line] : order) {
    const Thread& thread = trace.threads[std::get<0>(*key)];
    std::sort(line->ranges.begin(), line->ranges.end());
    const auto instances = std::unique(line->ranges.begin(), line->ranges.end()) - line->ranges.begin();
    Table::Row row = table.row();
    if (const std::optional<RangeStyle> style = std::get<2>(*key)) {
      row.add(std::string_view(std::get<1>(*key)));
      row.add(std::string_view(*style == RangeStyle::PushPop ? "PushPop" : "StartEnd"));
    } else {
      row.empty().empty();
    }
    row.add(trace.processes[index(thread.process)].pid).add(thread.tid);
    row.add_if(instances != 0, int64_t{instances});
    row.add(line->kernels.count()).add(line->kernels.total());
    add_statistics(row, line->kernels);
    estimates.add_cells(row, line->number);
    row.add(std::get<3>(*key));
  }
  estimates.add_notes(table);
  if (unlinked != 0)
    table.notes.push_back(std::to_string(unlinked) + " kernels whose launch is not in the input are left out");
  if (table.rows() == 0) table.notes.push_back("no kernels in the input");
  return table;
}

}  // namespace prof::analyzer
