// optimize: which ops are worth making faster? Candidates are ops that ran while the queue fell from a peak to zero.
// They are ranked by the share in which the GPU was idle and by their own time: score = z(idle share) + 0.6 · z(self
// time), the score of torch.profiler._utils. `--definitions reference` uses that heuristic exactly as published.
#include "analyzer/analysis/idle/device_idle.h"
#include "analyzer/analysis/idle/gap_division.h"
#include "analyzer/analysis/idle/gap_text.h"
#include "analyzer/analysis/idle/torch_queue_depth.h"
#include "analyzer/base/json/json_text.h"
#include "analyzer/reports/op_idle.h"
#include "analyzer/reports/reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace prof::analyzer {

namespace {

struct Candidate {
  OpIdle op;
  double score = 0;
  bool scored = false;
  std::string reason;
};

double idle_share(const OpIdle& op) {
  return op.inside_ns > 0 ? static_cast<double>(op.idle_ns) / static_cast<double>(op.inside_ns) : 0;
}

// Distance from the mean in (sample) standard deviations. All scores are 0 if the values are equal or there is only
// one.
std::vector<double> z_scores(const std::vector<double>& values, bool& defined) {
  const double n = static_cast<double>(values.size());
  double mean = 0, squares = 0;
  for (const double value : values) mean += value / n;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const double deviation = values.size() > 1 ? std::sqrt(squares / (n - 1)) : 0;
  defined = deviation > 0;
  std::vector<double> scores;
  for (const double value : values) scores.push_back(defined ? (value - mean) / deviation : 0);
  return scores;
}

// Sorts by score, the best first; equal scores stay in order. The reference divides by a deviation of 0 too. In that
// case it has no score.
void rank(std::vector<Candidate>& candidates, const Column<int64_t>& self_ns, bool reference) {
  std::vector<double> shares, selves;
  for (const Candidate& each : candidates) {
    shares.push_back(idle_share(each.op));
    selves.push_back(static_cast<double>(self_ns[each.op.range]));
  }
  bool shares_defined = false, selves_defined = false;
  const std::vector<double> z_share = z_scores(shares, shares_defined), z_self = z_scores(selves, selves_defined);
  for (size_t i = 0; i < candidates.size(); ++i) {
    candidates[i].score = z_share[i] + 0.6 * z_self[i];
    candidates[i].scored = !reference || (shares_defined && selves_defined);
  }
  if (reference && !(shares_defined && selves_defined)) return;
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.score > b.score; });
}

std::vector<Candidate> candidates_by_reference(const AnalysisInput& input, Table& table) {
  const Trace& trace = input.trace;
  const TorchQueueDepth queue(trace, input.views);
  const IntervalSet falling = reference_counted(queue.falling());
  std::vector<Candidate> candidates;
  for (uint32_t row = 0; row < trace.ranges.size(); ++row) {
    const Range& range = trace.ranges[row];
    if (!TorchQueueDepth::is_event(range) || !input.selection.has_thread(trace.thread(range.thread))) continue;
    if (!input.selection.nvtx.has_range(row)) continue;
    if (falling.overlap_ns(range.begin_ns, range.end_ns) == 0) continue;
    Candidate& each = candidates.emplace_back();
    each.op.range = row;
    each.op.waiting = queue.depth_at(row);
    each.op.inside_ns = range.end_ns - range.begin_ns;
    each.op.idle_ns = queue.idle().overlap_ns(range.begin_ns, range.end_ns);
  }
  table.notes.push_back("the heuristic of torch.profiler._utils as published");
  return candidates;
}

// The idle time of a device by cause. It can be queried for any op.
using CauseSets = std::array<IntervalSet, kGapCharges>;
std::map<uint32_t, CauseSets> causes_by_device(const AnalysisInput& input, const IntervalSet& inside) {
  std::map<uint32_t, std::array<std::vector<Interval>, kGapCharges>> parts;
  if (!inside.empty()) {
    Selection of_all = input.selection;  // the launch after a gap may come from any thread or range
    of_all.threads.clear();
    of_all.nvtx = {};
    const Interval hull{inside.parts().front().begin_ns, inside.parts().back().end_ns};
    divide_gaps(input.trace, input.views, of_all, hull, [&](const DeviceGap& gap, std::span<const GapPiece> pieces) {
      for (const GapPiece& piece : pieces)
        parts[index(gap.device)][piece.charge.number()].push_back({piece.begin_ns, piece.end_ns});
    });
  }
  std::map<uint32_t, CauseSets> sets;
  for (auto& [device, causes] : parts) {
    for (size_t cause = 0; cause < kGapCharges; ++cause)
      sets[device][cause] = IntervalSet(std::move(causes[cause])).intersect(inside);
  }
  return sets;
}

std::string reason(const Range& range, const OpIdle& op, const DeviceIdle& device, const CauseSets* causes) {
  std::string text;
  const std::vector<DeviceIdle::Fall>& falls = device.falls();
  const auto fall = std::partition_point(
      falls.begin(), falls.end(), [&](const DeviceIdle::Fall& each) { return each.time.end_ns <= range.begin_ns; });
  if (fall != falls.end() && fall->time.begin_ns < range.end_ns) {
    text = fmt::format("queue fell from {} to 0", fall->peak);
  } else {
    text = fmt::format("queue never reached {}", DeviceIdle::kPeakFrom);
  }
  if (op.idle_ns == 0) return text + "; the GPU was not idle in it";
  text += fmt::format("; GPU idle {} of {}, starved {}", scaled_time(op.idle_ns), scaled_time(op.inside_ns),
                      scaled_time(op.starved_ns));
  if (causes == nullptr) return text;
  size_t most = 0;
  int64_t most_ns = 0;
  for (size_t cause = 0; cause < kGapCharges; ++cause) {
    const int64_t ns = (*causes)[cause].overlap_ns(range.begin_ns, range.end_ns);
    if (ns > most_ns) {
      most = cause;
      most_ns = ns;
    }
  }
  return most_ns == 0 ? text : fmt::format("{}; mostly {}", text, GapCharge::of_number(most).text());
}

std::vector<Candidate> by_exact_depth(const AnalysisInput& input, Table& table) {
  std::map<uint32_t, IntervalSet> falling;  // by GPU
  const OpWindows windows = op_windows(input);
  const std::map<uint32_t, CauseSets> causes = causes_by_device(input, windows.inside);
  std::vector<Candidate> candidates;
  table.notes.push_back(for_each_op(input, [&](const OpIdle& op, const DeviceIdle* device) {
    const auto [found, added] = falling.try_emplace(op.gpu);
    if (added) {
      std::vector<Interval> parts;
      for (const DeviceIdle::Fall& fall : device->falls()) parts.push_back(fall.time);
      found->second = IntervalSet(std::move(parts));
    }
    const Range& range = input.trace.ranges[op.range];
    const bool candidate =
        found->second.empty() ? op.starved_ns > 0 : found->second.overlap_ns(range.begin_ns, range.end_ns) > 0;
    if (!candidate) return;
    const auto of_device = causes.find(index(device->device()));
    candidates.push_back(
        {op, 0, false, reason(range, op, *device, of_device == causes.end() ? nullptr : &of_device->second)});
  }));
  table.notes.push_back(fmt::format(
      "ops during a fall of the queue from {} or more to 0; where it never was that deep, all that were starved",
      DeviceIdle::kPeakFrom));
  return candidates;
}

// The layout of get_optimizable_events(), with a reason added.
std::string as_blocks(const Table& table) {
  if (table.rows() == 0) return "No events to optimize\n";
  const std::string line(80, '-');
  std::string text = "Optimizable events:\n";
  const auto cell = [&](size_t column, size_t row) { return table.columns()[column].cells[row]; };
  for (size_t row = 0; row < table.rows(); ++row) {
    text += fmt::format("{}\nEvent:                {}\nSource code location: {}\nPercentage idle time: {:.2f}%\n", line,
                        readable_utf8(table.text(cell(0, row))), readable_utf8(table.text(cell(1, row))),
                        Table::real(cell(2, row)));
    if (cell(3, row) != kEmptyCell) text += fmt::format("Reason:               {}\n", table.text(cell(3, row)));
    text += line + "\n";
  }
  return text;
}

}  // namespace

Table report_optimize(const AnalysisInput& input) {
  const Trace& trace = input.trace;
  const bool reference = input.options.definitions == Definitions::Reference;
  Table table("optimize", "Ops worth making faster");
  table.add_columns({ColumnId::event, ColumnId::source});
  table.add_column(ColumnId::idle_percent, 2);
  table.add_columns({ColumnId::reason, ColumnId::score, ColumnId::start, ColumnId::duration, ColumnId::self,
                     ColumnId::idle, ColumnId::starved, ColumnId::waiting, ColumnId::pid, ColumnId::tid});
  table.text_form = as_blocks;
  table.text_limit = reference ? 1 : 10;

  std::vector<Candidate> candidates = reference ? candidates_by_reference(input, table) : by_exact_depth(input, table);
  const Column<int64_t> self = self_times(trace);
  rank(candidates, self, reference);
  const Column<uint32_t> sources = source_ranges(trace);
  for (const Candidate& each : candidates) {
    const Range& range = trace.ranges[each.op.range];
    const Thread& thread = trace.thread(range.thread);
    const OperatorDetail* const detail = trace.detail(range);
    const uint32_t source = sources[each.op.range];
    Table::Row row = table.row();
    row.add(trace.range_name(range));
    if (source != kNone) {
      row.add(trace.range_name(trace.ranges[source]));
    } else if (!reference && detail != nullptr && index(detail->stack) != 0) {
      row.add(trace.text(detail->stack));
    } else {
      row.add(std::string_view("No source code location found"));
    }
    row.add(100 * idle_share(each.op));
    if (reference) {
      row.empty();
    } else {
      row.add(std::string_view(each.reason));
    }
    row.add_if(each.scored, each.score);
    row.add(range.begin_ns).add(range.end_ns - range.begin_ns).add(self[each.op.range]).add(each.op.idle_ns);
    row.add_if(!reference, each.op.starved_ns);
    row.add(each.op.waiting).add_owner(thread.process).add(thread.tid);
  }
  return table;
}

}  // namespace prof::analyzer
