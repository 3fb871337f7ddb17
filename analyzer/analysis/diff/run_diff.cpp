#include "analyzer/analysis/diff/run_diff.h"

#include "analyzer/analysis/diff/launch_blocks.h"
#include "analyzer/base/saturated.h"
#include "analyzer/base/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <unordered_map>

namespace prof::analyzer {

namespace {

// The launches of one row in one run.
struct RowRun {
  std::vector<int64_t> durations;
  std::vector<uint32_t> steps;
};

// A row of one side under construction.
struct SideRows {
  std::vector<RowRun> by_run;
  PeakSums sums;
  bool any() const {
    return std::any_of(by_run.begin(), by_run.end(), [](const RowRun& run) { return !run.durations.empty(); });
  }
};

struct Matched {
  std::string path, category, name, launch_shape, op_shape;
  SideRows now, before;
};

// What a test compares: a mean and a median of each run, or of each block of all runs.
LaunchBlocks repetitions(const SideRows& side, bool between_runs) {
  LaunchBlocks all;
  for (const RowRun& run : side.by_run) {
    if (run.durations.empty()) continue;
    if (between_runs) {
      std::vector<int64_t> durations = run.durations;
      const Statistics statistics = statistics_of(durations);
      all.means.push_back(statistics.mean);
      all.medians.push_back(statistics.median);
      continue;
    }
    const LaunchBlocks blocks = launch_blocks(run.durations, run.steps);
    all.means.insert(all.means.end(), blocks.means.begin(), blocks.means.end());
    all.medians.insert(all.medians.end(), blocks.medians.begin(), blocks.medians.end());
  }
  return all;
}

void append(SideRows& to, SideRows& from) {
  for (size_t run = 0; run < to.by_run.size(); ++run) {
    RowRun &into = to.by_run[run], &out = from.by_run[run];
    into.durations.insert(into.durations.end(), out.durations.begin(), out.durations.end());
    into.steps.insert(into.steps.end(), out.steps.begin(), out.steps.end());
  }
  to.sums.add_all(from.sums);
}

class RunMatcher {
 public:
  RunMatcher(size_t runs_now, size_t runs_before) : runs_now_(runs_now), runs_before_(runs_before) {}

  void add(RunWork& run, size_t number, bool is_now) {
    for (RunRow& row : run.rows) {
      const std::string key =
          fmt::format("{}\n{}\n{}\n{}\n{}", row.path, row.category, row.name, row.launch_shape, row.op_shape);
      const auto [found, added] = rows_of_.try_emplace(key, rows_.size());
      if (added) {
        Matched& fresh = rows_.emplace_back();
        fresh.path = row.path;
        fresh.category = row.category;
        fresh.name = row.name;
        fresh.launch_shape = row.launch_shape;
        fresh.op_shape = row.op_shape;
        fresh.now.by_run.resize(runs_now_);
        fresh.before.by_run.resize(runs_before_);
      }
      SideRows& side = is_now ? rows_[found->second].now : rows_[found->second].before;
      RowRun& into = side.by_run[number];
      into.durations.insert(into.durations.end(), row.durations_ns.begin(), row.durations_ns.end());
      into.steps.insert(into.steps.end(), row.steps.begin(), row.steps.end());
      side.sums.add_all(row.sums);
      row.durations_ns = {};
      row.steps = {};
    }
  }

  // A kernel may have been replaced by another of its class. If each side has exactly one unmatched kernel of the same
  // path, class and shape, the two become one row.
  std::vector<Matched> take() {
    struct Alone {
      std::vector<size_t> now, before;
    };
    std::map<std::string, Alone> places;
    for (size_t r = 0; r < rows_.size(); ++r) {
      const Matched& row = rows_[r];
      const bool now = row.now.any(), before = row.before.any();
      if (now == before || row.path.empty()) continue;
      Alone& alone = places[fmt::format("{}\n{}\n{}", row.path, row.category, row.op_shape)];
      (now ? alone.now : alone.before).push_back(r);
    }
    std::vector<bool> gone(rows_.size());
    for (auto& [place, alone] : places) {
      if (alone.now.size() != 1 || alone.before.size() != 1) continue;
      Matched& kept = rows_[alone.now[0]];
      Matched& other = rows_[alone.before[0]];
      append(kept.before, other.before);
      if (kept.name != other.name) kept.name = fmt::format("{} -> {}", other.name, kept.name);
      if (kept.launch_shape != other.launch_shape)
        kept.launch_shape = fmt::format("{} -> {}", other.launch_shape, kept.launch_shape);
      gone[alone.before[0]] = true;
    }
    std::vector<Matched> left;
    for (size_t r = 0; r < rows_.size(); ++r) {
      if (!gone[r]) left.push_back(std::move(rows_[r]));
    }
    return left;
  }

 private:
  size_t runs_now_, runs_before_;
  std::vector<Matched> rows_;
  std::unordered_map<std::string, size_t> rows_of_;
};

DiffSide side_of(const SideRows& rows) {
  DiffSide side;
  side.runs = static_cast<double>(std::max<size_t>(rows.by_run.size(), 1));
  for (const RowRun& run : rows.by_run) {
    side.launches += run.durations.size();
    for (const int64_t ns : run.durations) side.total_ns = add_saturated(side.total_ns, ns);
  }
  side.sums = rows.sums;
  return side;
}

DiffRow diff_row(Matched& matched) {
  DiffRow row;
  row.path = std::move(matched.path);
  row.name = std::move(matched.name);
  row.launch_shape = std::move(matched.launch_shape);
  row.op_shape = std::move(matched.op_shape);
  row.now = side_of(matched.now);
  row.before = side_of(matched.before);
  row.delta_ns = row.now.ns_a_run() - row.before.ns_a_run();
  // The count effect is the change in launches at the old mean duration; the rest is speed. A row of one side has no
  // speed to compare.
  const std::optional<double> mean = row.before.mean_ns();
  row.count_effect_ns = row.now.launches == 0 || !mean
                            ? row.delta_ns
                            : std::round((row.now.launches_a_run() - row.before.launches_a_run()) * *mean);
  row.speed_effect_ns = row.delta_ns - row.count_effect_ns;
  return row;
}

// p and the intervals of each row that both sides have. `rows` and `matched` are parallel.
void test_rows(std::vector<DiffRow>& rows, const std::vector<Matched>& matched, bool between_runs) {
  std::vector<LaunchBlocks> now(rows.size()), before(rows.size());
  std::vector<double> p;
  for (size_t r = 0; r < rows.size(); ++r) {
    if (rows[r].now.launches == 0 || rows[r].before.launches == 0) continue;
    now[r] = repetitions(matched[r].now, between_runs);
    before[r] = repetitions(matched[r].before, between_runs);
    rows[r].p = between_runs ? welch(now[r].medians, before[r].medians)
                             : mann_whitney(now[r].medians, before[r].medians);  // reorders them
    if (rows[r].p) p.push_back(*rows[r].p);
  }
  const std::vector<double> rates = false_discovery_rates(p);
  // Two limits for each row: of the means, and of the ranks of the medians.
  const double each = p.empty() ? kConfidence : 1 - (1 - kConfidence) / static_cast<double>(2 * p.size());
  size_t next = 0;
  for (size_t r = 0; r < rows.size(); ++r) {
    if (!rows[r].p) continue;
    rows[r].false_discovery = rates[next++];
    rows[r].ratio = mean_ratio(now[r].means, before[r].means, kConfidence);
    const std::optional<RatioInterval> means = mean_ratio(now[r].means, before[r].means, each),
                                       ranks = rank_ratio(now[r].medians, before[r].medians, each);
    if (means) rows[r].surely_ratio = ranks ? std::max(means->low, ranks->low) : means->low;
  }
}

Verdict verdict_of(const DiffRow& row, double busy_before_ns, const DiffLimits& limits) {
  const auto matters = [&](double effect_ns) {
    return std::abs(effect_ns) >= limits.of_row * row.before.ns_a_run() &&
           std::abs(effect_ns) >= limits.of_busy * busy_before_ns && effect_ns != 0;
  };
  if (row.before.launches == 0) return matters(row.delta_ns) ? Verdict::Added : Verdict::Same;
  if (row.now.launches == 0) return matters(row.delta_ns) ? Verdict::Vanished : Verdict::Same;
  if (matters(row.speed_effect_ns)) {
    if (!row.false_discovery) return Verdict::Untested;
    if (*row.false_discovery <= limits.false_discovery)
      return row.speed_effect_ns > 0 ? Verdict::Slower : Verdict::Faster;
  }
  if (matters(row.count_effect_ns)) return row.count_effect_ns > 0 ? Verdict::MoreWork : Verdict::LessWork;
  return matters(row.speed_effect_ns) ? Verdict::Noise : Verdict::Same;
}

// The lines of each run, taken out of the runs, and the coverage of their samples.
std::vector<std::vector<RunLine>> take_lines(std::vector<RunWork>& runs, std::vector<std::string>& coverage) {
  std::vector<std::vector<RunLine>> lines;
  for (RunWork& run : runs) {
    lines.push_back(std::move(run.lines.rows));
    if (!run.lines.coverage.empty()) coverage.push_back(fmt::format("{}: {}", run.file, run.lines.coverage));
  }
  return lines;
}

// The times of one side that a total has in each run, or in each part of the runs.
struct SideTotals {
  std::vector<double> sum, busy, wall;

  SideTotals(const std::vector<RunWork>& runs, bool parts) {
    for (const RunWork& run : runs) {
      if (!parts) {
        sum.push_back(static_cast<double>(run.sum_ns));
        busy.push_back(static_cast<double>(run.busy_ns));
        wall.push_back(static_cast<double>(run.wall_ns));
        continue;
      }
      for (const RunPart& part : run.parts) {
        busy.push_back(static_cast<double>(part.busy_ns));
        wall.push_back(static_cast<double>(part.wall_ns));
      }
    }
  }
  std::vector<double> idle() const {
    std::vector<double> all(wall.size());
    std::transform(wall.begin(), wall.end(), busy.begin(), all.begin(), std::minus<>());
    return all;
  }
};

double mean(const std::vector<double>& values) {
  return values.empty() ? 0 : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// The totals of a run, and how their ratio is known: from the runs, or from the parts of one run. Steps are compared
// one by one; parts of equally many operations are compared as the sum of them all.
std::vector<DiffTotal> totals_of(const std::vector<RunWork>& now, const std::vector<RunWork>& before, RunDiff& diff) {
  const SideTotals a(now, false), b(before, false);
  const double sum[] = {mean(a.sum), mean(b.sum)}, busy[] = {mean(a.busy), mean(b.busy)},
               wall[] = {mean(a.wall), mean(b.wall)};
  std::vector<DiffTotal> totals{{"operations", sum[0], sum[1], {}},
                                {"less overlap", busy[0] - sum[0], busy[1] - sum[1], {}},
                                {"busy", busy[0], busy[1], {}},
                                {"idle", wall[0] - busy[0], wall[1] - busy[1], {}},
                                {"wall", wall[0], wall[1], {}}};
  const SideTotals x(now, !diff.between_runs), y(before, !diff.between_runs);
  diff.parts_now = x.wall.size();
  diff.parts_before = y.wall.size();
  if (!diff.between_runs && (x.wall.size() < kFewestBlocks || y.wall.size() < kFewestBlocks)) return totals;
  // Equally many operations in each part: the sums of parts are compared, for which the numbers of parts are a factor.
  const bool sums = !diff.between_runs && diff.steps.empty();
  const double factor = sums ? static_cast<double>(x.wall.size()) / static_cast<double>(y.wall.size()) *
                                   static_cast<double>(before.size()) / static_cast<double>(now.size())
                             : 1;
  const auto test = [&](const std::vector<double>& p, const std::vector<double>& q) {
    std::optional<RatioInterval> ratio = mean_ratio(p, q, kConfidence);
    if (ratio) *ratio = {ratio->ratio * factor, ratio->low * factor, ratio->high * factor};
    return ratio;
  };
  totals[2].ratio = test(x.busy, y.busy);
  totals[3].ratio = test(x.idle(), y.idle());
  totals[4].ratio = test(x.wall, y.wall);
  return totals;
}

std::optional<double> memory_of(const std::vector<RunWork>& runs) {
  double sum = 0;
  for (const RunWork& run : runs) {
    if (!run.peak_memory_bytes) return std::nullopt;
    sum += static_cast<double>(*run.peak_memory_bytes);
  }
  return runs.empty() ? std::nullopt : std::optional(sum / static_cast<double>(runs.size()));
}

// The ranges that are the steps of every run; empty if the runs have different ones, or none.
std::string common_steps(const std::vector<RunWork>& now, const std::vector<RunWork>& before) {
  if (now.empty()) return {};
  const std::string& first = now.front().steps;
  const auto same = [&](const RunWork& run) { return run.steps == first; };
  return std::all_of(now.begin(), now.end(), same) && std::all_of(before.begin(), before.end(), same) ? first
                                                                                                      : std::string();
}

void add_folded(const std::vector<RunWork>& runs, std::vector<FoldedRanges>& all) {
  for (const RunWork& run : runs) {
    for (const FoldedRanges& each : run.folded) {
      const auto known =
          std::find_if(all.begin(), all.end(), [&](const FoldedRanges& f) { return f.name == each.name; });
      if (known == all.end()) {
        all.push_back(each);
      } else {
        known->texts = std::max(known->texts, each.texts);
      }
    }
  }
}

std::vector<std::string> devices_of(const std::vector<RunWork>& runs) {
  std::vector<std::string> names;
  for (const RunWork& run : runs) names.insert(names.end(), run.devices.begin(), run.devices.end());
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace

std::string_view verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::Same: return "same";
    case Verdict::Slower: return "slower";
    case Verdict::Faster: return "faster";
    case Verdict::MoreWork: return "more launches";
    case Verdict::LessWork: return "fewer launches";
    case Verdict::Added: return "added";
    case Verdict::Vanished: return "vanished";
    case Verdict::Noise: return "within noise";
    case Verdict::Untested: break;
  }
  return "untested";
}

Verdict line_verdict(const LineDiffRow& row, double busy_before_ns, const DiffLimits& limits) {
  const double effect_ns = row.effect_ns();
  if (effect_ns == 0 || std::abs(effect_ns) < limits.of_row * row.before.ns_a_run ||
      std::abs(effect_ns) < limits.of_busy * busy_before_ns)
    return Verdict::Same;
  if (!row.false_discovery) return Verdict::Untested;
  if (*row.false_discovery > limits.false_discovery) return Verdict::Noise;
  return effect_ns > 0 ? Verdict::Slower : Verdict::Faster;
}

std::optional<double> DiffRow::speed_percent() const {
  const std::optional<double> a = now.mean_ns(), b = before.mean_ns();
  if (!a || !b || *b <= 0) return std::nullopt;
  return 100 * (*a - *b) / *b;
}

RunDiff run_diff(std::vector<RunWork> now, std::vector<RunWork> before, const DiffLimits& limits) {
  RunDiff diff;
  diff.runs_now = now.size();
  diff.runs_before = before.size();
  diff.between_runs = now.size() >= kFewestRuns && before.size() >= kFewestRuns;
  if (!diff.between_runs) {
    diff.steps = common_steps(now, before);
    const auto has_steps = [](const RunWork& run) { return !run.steps.empty(); };
    diff.steps_differ = diff.steps.empty() && (std::any_of(now.begin(), now.end(), has_steps) ||
                                               std::any_of(before.begin(), before.end(), has_steps));
  }
  diff.totals = totals_of(now, before, diff);
  diff.devices_now = devices_of(now);
  diff.devices_before = devices_of(before);
  diff.memory_now = memory_of(now);
  diff.memory_before = memory_of(before);
  add_folded(before, diff.folded);
  add_folded(now, diff.folded);
  const std::vector<std::vector<RunLine>> lines_before = take_lines(before, diff.lines_coverage),
                                          lines_now = take_lines(now, diff.lines_coverage);
  if (std::any_of(lines_now.begin(), lines_now.end(), [](const auto& lines) { return !lines.empty(); }) &&
      std::any_of(lines_before.begin(), lines_before.end(), [](const auto& lines) { return !lines.empty(); }))
    diff.lines = line_diff(lines_now, lines_before, diff.between_runs);
  RunMatcher matcher(now.size(), before.size());
  for (size_t r = 0; r < now.size(); ++r) matcher.add(now[r], r, true);
  for (size_t r = 0; r < before.size(); ++r) matcher.add(before[r], r, false);
  std::vector<Matched> matched = matcher.take();
  for (Matched& each : matched) diff.rows.push_back(diff_row(each));
  test_rows(diff.rows, matched, diff.between_runs);
  for (DiffRow& row : diff.rows) row.verdict = verdict_of(row, diff.totals[2].before_ns, limits);
  std::stable_sort(diff.rows.begin(), diff.rows.end(),
                   [](const DiffRow& a, const DiffRow& b) { return std::abs(a.delta_ns) > std::abs(b.delta_ns); });
  return diff;
}

}  // namespace prof::analyzer
