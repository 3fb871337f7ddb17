#include "analyzer/analysis/diff/gate.h"

#include "analyzer/analysis/diff/launch_blocks.h"
#include "analyzer/model/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace prof::analyzer {

namespace {

using What = GateRule::What;

constexpr std::pair<std::string_view, What> kWords[] = {{"slower", What::Slower}, {"kernel", What::Kernel},
                                                        {"wall", What::Wall},     {"busy", What::Busy},
                                                        {"idle", What::Idle},     {"memory", What::Memory}};

std::optional<double> parse_percent(std::string_view text) {
  double value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  const bool whole = error == std::errc() && (end == last || (*end == '%' && end + 1 == last));
  return whole && value >= 0 && value < 1e6 ? std::optional(value) : std::nullopt;
}

double as_percent(double ratio) { return 100 * (ratio - 1); }

bool has_times(const std::vector<std::string>& devices) { return !devices.empty(); }

// A row's name may be "old -> new".
bool is_of_kernel(const DiffRow& row, const std::string& kernel) {
  const auto is = [&](std::string_view name) { return name == kernel || short_function_name(name) == kernel; };
  const size_t arrow = row.name.find(" -> ");
  if (arrow == std::string::npos) return is(row.name);
  return is(std::string_view(row.name).substr(0, arrow)) || is(std::string_view(row.name).substr(arrow + 4));
}

std::string place(const DiffRow& row) {
  std::string text = short_function_name(row.name);
  if (!row.path.empty()) text += " in " + row.path;
  return text;
}

class Judge {
 public:
  Judge(const GateRule& rule, const RunDiff& diff, const DiffLimits& limits)
      : rule_(rule), diff_(diff), limits_(limits), limit_(1 + rule.percent / 100) {
    verdict_.rule = rule;
  }

  GateVerdict run() {
    const bool of_rows = rule_.what == What::Slower || rule_.what == What::Kernel;
    if (!of_rows && nothing_in_common()) {
      undecided("nothing is in common: no kernel, copy or memset is on both sides");
    } else if (rule_.what == What::Memory) {
      memory();
    } else if (!has_times(diff_.devices_now) || !has_times(diff_.devices_before)) {
      undecided(fmt::format("{} has no GPU times", has_times(diff_.devices_before) ? "the new side"
                                                   : has_times(diff_.devices_now)  ? "the old side"
                                                                                   : "neither side"));
    } else if (of_rows) {
      rows();
    } else {
      total();
    }
    return std::move(verdict_);
  }

 private:
  void decide(GateStatus status, std::string reason) {
    verdict_.status = status;
    verdict_.reason = std::move(reason);
  }
  void undecided(std::string reason) { decide(GateStatus::Undecided, std::move(reason)); }
  std::string within() const { return diff_.between_runs ? "" : ", within one run"; }

  void show(const RatioInterval& ratio) {
    verdict_.change_percent = as_percent(ratio.ratio);
    verdict_.low_percent = as_percent(ratio.low);
    verdict_.high_percent = as_percent(ratio.high);
  }
  static std::string changed(const RatioInterval& ratio) {
    return fmt::format("{:+.2f} % ({:+.2f} to {:+.2f} %)", as_percent(ratio.ratio), as_percent(ratio.low),
                       as_percent(ratio.high));
  }

  // Whether the time of all devices would grow noticeably if the row's time grew by so much.
  bool matters(const DiffRow& row, double ratio) const {
    return rule_.what == What::Kernel ||
           (ratio - 1) * row.before.ns_a_run() >= limits_.of_busy * diff_.totals[2].before_ns;
  }

  void rows() {
    double common_before_ns = 0, common_now_ns = 0, now_ns = 0, before_ns = 0;
    const DiffRow *worst = nullptr, *open = nullptr, *largest = nullptr;
    uint64_t of_rule = 0;
    for (const DiffRow& row : diff_.rows) {
      if (rule_.what == What::Kernel && !is_of_kernel(row, rule_.kernel)) continue;
      now_ns += row.now.ns_a_run();
      before_ns += row.before.ns_a_run();
      if (row.now.launches == 0 || row.before.launches == 0) continue;
      ++of_rule;
      common_before_ns += row.before.ns_a_run();
      common_now_ns += row.now.ns_a_run();
      if (!row.ratio || !row.surely_ratio) {
        // An effect that was not tested may be as large as it looks.
        if (!matters(row, std::max(limit_, row.speed_percent().value_or(0) / 100 + 1))) continue;
        ++verdict_.open;
        if (open == nullptr || row.before.total_ns > open->before.total_ns) open = &row;
        continue;
      }
      ++verdict_.tested;
      if (largest == nullptr || row.ratio->high > largest->ratio->high) largest = &row;
      if (*row.surely_ratio > limit_ && matters(row, *row.surely_ratio)) {
        ++verdict_.failing;
        if (worst == nullptr || row.speed_effect_ns > worst->speed_effect_ns) worst = &row;
      } else if (row.ratio->high > limit_ && matters(row, std::max(limit_, row.ratio->ratio))) {
        ++verdict_.open;
        if (open == nullptr || open->ratio == std::nullopt || row.ratio->ratio > open->ratio->ratio) open = &row;
      }
    }
    const std::string_view rows = verdict_.failing == 1 ? "row" : "rows";
    if (worst != nullptr) {
      show(*worst->ratio);
      return decide(GateStatus::Failed,
                    fmt::format("{} {} slower by more than {:g} %, first {}: {}{}", verdict_.failing, rows,
                                rule_.percent, place(*worst), changed(*worst->ratio), within()));
    }
    if (of_rule == 0)
      return undecided(rule_.what == What::Kernel
                           ? fmt::format("no row of both sides is of the kernel {}", rule_.kernel)
                           : std::string("no row is on both sides"));
    if (2 * common_before_ns < before_ns || 2 * common_now_ns < now_ns)
      return undecided(
          "less than half of the GPU time is in rows of both sides: kernels, shapes or ranges have other names");
    if (open != nullptr) {
      if (!open->ratio)
        return undecided(fmt::format("{}: fewer than {} {} a side", place(*open),
                                     diff_.between_runs ? kFewestRuns : kFewestBlocks,
                                     diff_.between_runs ? "runs" : "steps or launches"));
      show(*open->ratio);
      return undecided(fmt::format("{}: {} contains the limit{}; record more steps or runs", place(*open),
                                   changed(*open->ratio), within()));
    }
    if (verdict_.tested == 0) return undecided("no row has enough launches for a test");
    show(*largest->ratio);
    decide(GateStatus::Passed, fmt::format("{} row{} tested, none slower by {:g} %{}", verdict_.tested,
                                           verdict_.tested == 1 ? "" : "s", rule_.percent, within()));
  }

  // Whether both sides have operations, but none of one name. Ranges around them may have other names.
  bool nothing_in_common() const {
    std::set<std::string_view> now, before;
    for (const DiffRow& row : diff_.rows) {
      if (row.now.launches != 0 && row.before.launches != 0) return false;
      (row.now.launches != 0 ? now : before).insert(row.name);
    }
    const auto is_before = [&](std::string_view name) { return before.contains(name); };
    return !now.empty() && !before.empty() && std::none_of(now.begin(), now.end(), is_before);
  }

  // Whether the sides did comparable work: at most twice as many operations.
  bool alike_counts() const {
    double now = 0, before = 0;
    for (const DiffRow& row : diff_.rows) {
      now += row.now.launches_a_run();
      before += row.before.launches_a_run();
    }
    return now <= 2 * before && before <= 2 * now;
  }

  void total() {
    const std::string_view name = kWords[static_cast<size_t>(rule_.what)].first;
    const auto found = std::find_if(diff_.totals.begin(), diff_.totals.end(),
                                    [&](const DiffTotal& each) { return each.name == name; });
    if (!found->ratio) {
      if (found->before_ns <= 0) return undecided(fmt::format("there was no {} time before", name));
      return undecided(fmt::format("fewer than {} steps or parts of a run a side", kFewestBlocks));
    }
    if (diff_.steps_differ)
      return undecided(
          "the steps of one side are not those of the other, or are fewer than 8: totals are not comparable");
    if (!diff_.between_runs && diff_.steps.empty() && !alike_counts())
      return undecided("one side has more than twice as many operations as the other: record equally many steps");
    verdict_.tested = 1;
    show(*found->ratio);
    decide_by(*found->ratio, fmt::format("{} time {}", name,
                                         diff_.between_runs    ? "of a run"
                                         : diff_.steps.empty() ? "from the first to the last operation"
                                                               : "of a step"));
  }

  void decide_by(const RatioInterval& ratio, const std::string& what) {
    if (ratio.low > limit_) {
      ++verdict_.failing;
      decide(GateStatus::Failed, fmt::format("{}: {}{}", what, changed(ratio), within()));
    } else if (ratio.high > limit_) {
      ++verdict_.open;
      undecided(fmt::format("{}: {} contains the limit{}; record more steps or runs", what, changed(ratio), within()));
    } else {
      decide(GateStatus::Passed, fmt::format("{}: {}{}", what, changed(ratio), within()));
    }
  }

  // Allocations are no sample of something that varies: the same program allocates the same.
  void memory() {
    if (!diff_.memory_now || !diff_.memory_before)
      return undecided(fmt::format("{} has no memory events", diff_.memory_before ? "the new side" : "the old side"));
    if (*diff_.memory_before <= 0) return undecided("no memory was in use before");
    const double ratio = *diff_.memory_now / *diff_.memory_before;
    verdict_.tested = 1;
    verdict_.change_percent = as_percent(ratio);
    verdict_.failing = ratio > limit_ ? 1 : 0;
    decide(ratio > limit_ ? GateStatus::Failed : GateStatus::Passed,
           fmt::format("peak memory in use: {:+.2f} % ({:.0f} to {:.0f} bytes)", as_percent(ratio),
                       *diff_.memory_before, *diff_.memory_now));
  }

  const GateRule& rule_;
  const RunDiff& diff_;
  const DiffLimits& limits_;
  const double limit_;  // of the ratio
  GateVerdict verdict_;
};

}  // namespace

std::string_view gate_status_name(GateStatus status) {
  switch (status) {
    case GateStatus::Passed: return "passed";
    case GateStatus::Failed: return "failed";
    case GateStatus::Undecided: break;
  }
  return "undecided";
}

GateRule parse_gate_rule(const std::string& word) {
  GateRule rule;
  rule.text = word;
  const size_t first = word.find(':'), last = word.rfind(':');
  if (first != std::string::npos) {
    const auto found = std::find_if(std::begin(kWords), std::end(kWords),
                                    [&](const auto& each) { return each.first == word.substr(0, first); });
    const std::optional<double> percent = parse_percent(std::string_view(word).substr(last + 1));
    const bool kernel = found != std::end(kWords) && found->second == What::Kernel;
    if (found != std::end(kWords) && percent && kernel == (first + 1 < last)) {
      rule.what = found->second;
      rule.percent = *percent;
      if (kernel) rule.kernel = word.substr(first + 1, last - first - 1);
      return rule;
    }
  }
  throw std::runtime_error(fmt::format(
      "--fail-if '{}': write slower:P%, kernel:NAME:P%, wall:P%, busy:P%, idle:P% or memory:P%, P a number of 0 and "
      "above",
      word));
}

GateVerdict judge(const GateRule& rule, const RunDiff& diff, const DiffLimits& limits) {
  return Judge(rule, diff, limits).run();
}

}  // namespace prof::analyzer
