#include "analyzer/analysis/diff/run_diff.h"

#include "analyzer/analysis/rank_test.h"
#include "analyzer/base/saturated.h"
#include "analyzer/base/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <unordered_map>

namespace prof::analyzer {

namespace {

// A row of one side under construction: durations by run.
struct SideRows {
  std::vector<std::vector<int64_t>> by_run;
  PeakSums sums;
  bool any() const {
    return std::any_of(by_run.begin(), by_run.end(), [](const std::vector<int64_t>& run) { return !run.empty(); });
  }
};

struct Matched {
  std::string path, category, name, launch_shape, op_shape;
  SideRows now, before;
};

double median(std::vector<int64_t> values) { return quantile(std::span(values), 0.5); }

std::vector<double> medians(const SideRows& side) {
  std::vector<double> all;
  for (const std::vector<int64_t>& run : side.by_run) {
    if (!run.empty()) all.push_back(median(run));
  }
  return all;
}

std::vector<int64_t> joined(const SideRows& side) {
  std::vector<int64_t> all;
  for (const std::vector<int64_t>& run : side.by_run) all.insert(all.end(), run.begin(), run.end());
  return all;
}

void append(SideRows& to, SideRows& from) {
  for (size_t run = 0; run < to.by_run.size(); ++run)
    to.by_run[run].insert(to.by_run[run].end(), from.by_run[run].begin(), from.by_run[run].end());
  to.sums.add_all(from.sums);
}

class Matcher {
 public:
  Matcher(size_t runs_now, size_t runs_before) : runs_now_(runs_now), runs_before_(runs_before) {}

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
      std::vector<int64_t>& durations = side.by_run[number];
      durations.insert(durations.end(), row.durations_ns.begin(), row.durations_ns.end());
      side.sums.add_all(row.sums);
      row.durations_ns = {};
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
  for (const std::vector<int64_t>& run : rows.by_run) {
    side.launches += run.size();
    for (const int64_t ns : run) side.total_ns = add_saturated(side.total_ns, ns);
  }
  side.sums = rows.sums;
  return side;
}

DiffRow diff_row(Matched& matched, bool between_runs) {
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
  if (row.now.launches == 0 || row.before.launches == 0) return row;
  if (between_runs) {
    const std::vector<double> now = medians(matched.now), before = medians(matched.before);
    row.p = welch(now, before);
  } else {
    std::vector<int64_t> now = joined(matched.now), before = joined(matched.before);
    row.p = mann_whitney(now, before);
  }
  return row;
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

double a_run(const std::vector<RunWork>& runs, int64_t RunWork::*member) {
  double sum = 0;
  for (const RunWork& run : runs) sum += static_cast<double>(run.*member);
  return runs.empty() ? 0 : sum / static_cast<double>(runs.size());
}

std::vector<DiffTotal> totals_of(const std::vector<RunWork>& now, const std::vector<RunWork>& before) {
  const double sum[] = {a_run(now, &RunWork::sum_ns), a_run(before, &RunWork::sum_ns)};
  const double busy[] = {a_run(now, &RunWork::busy_ns), a_run(before, &RunWork::busy_ns)};
  const double wall[] = {a_run(now, &RunWork::wall_ns), a_run(before, &RunWork::wall_ns)};
  return {{"operations", sum[0], sum[1]},
          {"less overlap", busy[0] - sum[0], busy[1] - sum[1]},
          {"busy", busy[0], busy[1]},
          {"idle", wall[0] - busy[0], wall[1] - busy[1]},
          {"wall", wall[0], wall[1]}};
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
  diff.totals = totals_of(now, before);
  diff.devices_now = devices_of(now);
  diff.devices_before = devices_of(before);
  Matcher matcher(now.size(), before.size());
  for (size_t r = 0; r < now.size(); ++r) matcher.add(now[r], r, true);
  for (size_t r = 0; r < before.size(); ++r) matcher.add(before[r], r, false);
  for (Matched& matched : matcher.take()) diff.rows.push_back(diff_row(matched, diff.between_runs));

  std::vector<double> p;
  for (const DiffRow& row : diff.rows) {
    if (row.p) p.push_back(*row.p);
  }
  const std::vector<double> rates = false_discovery_rates(p);
  size_t next = 0;
  for (DiffRow& row : diff.rows) {
    if (row.p) row.false_discovery = rates[next++];
    row.verdict = verdict_of(row, diff.totals[2].before_ns, limits);
  }
  std::stable_sort(diff.rows.begin(), diff.rows.end(),
                   [](const DiffRow& a, const DiffRow& b) { return std::abs(a.delta_ns) > std::abs(b.delta_ns); });
  return diff;
}

}  // namespace prof::analyzer
