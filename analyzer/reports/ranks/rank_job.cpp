#include "analyzer/reports/ranks/rank_job.h"

#include "analyzer/analysis/collectives/process_ranks.h"
#include "analyzer/base/saturated.h"
#include "analyzer/model/process_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace prof::analyzer {

namespace {

// The smallest standard deviations: half a tick of CUPTI's clock, and what no one would act on.
constexpr double kTickNs = 16, kLeastShareOfKernel = 0.002, kLeastShareOfCopy = 0.01;
constexpr double kLeastShareOfStep = 0.0025, kLeastShareOfWindow = 0.01, kLeastCollectiveNs = 1000;

RankItem joined(const RankItem& a, const RankItem& b) {
  RankItem all;
  all.count = a.count + b.count;
  all.bytes = a.bytes + b.bytes;
  all.total_ns = add_saturated(a.total_ns, b.total_ns);
  const auto wa = static_cast<double>(a.count), wb = static_cast<double>(b.count);
  const auto mean = [&](double x, double y) { return (x * wa + y * wb) / (wa + wb); };
  all.typical = mean(a.typical, b.typical);
  all.low = mean(a.low, b.low);
  all.high = mean(a.high, b.high);
  return all;
}

void join(RankRow& row, const RankRow& other) {
  RankSums& to = row.sums;
  const RankSums& from = other.sums;
  grow(to.window_ns, from.window_ns);
  grow(to.busy_ns, from.busy_ns);
  grow(to.compute_ns, from.compute_ns);
  grow(to.exposed_communication_ns, from.exposed_communication_ns);
  grow(to.copies_ns, from.copies_ns);
  grow(to.exposed_copies_ns, from.exposed_copies_ns);
  grow(to.idle_ns, from.idle_ns);
  for (size_t i = 0; i < kGapCharges; ++i) grow(to.idle_by_cause_ns[i], from.idle_by_cause_ns[i]);
  to.launches += from.launches;
  to.operations += from.operations;
  const auto steps = static_cast<double>(to.steps), more = static_cast<double>(from.steps);
  if (from.steps != 0) to.step_ns = (to.step_ns * steps + from.step_ns * more) / (steps + more);
  to.steps += from.steps;
  std::map<uint32_t, RankItem> items(row.items.begin(), row.items.end());
  for (const auto& [key, item] : other.items) {
    const auto [found, is_new] = items.try_emplace(key, item);
    if (!is_new) found->second = joined(found->second, item);
  }
  row.items.assign(items.begin(), items.end());
}

// Steps, or 1: what a sum is divided by to get a cost.
double steps_of(const RankSums& sums) { return sums.steps == 0 ? 1 : static_cast<double>(sums.steps); }
double step_or_window_ns(const RankSums& sums) {
  return sums.steps == 0 ? static_cast<double>(sums.window_ns) : sums.step_ns;
}

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto at = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

double cost_of(const RankJob& job, const Outlier& outlier, uint32_t key, const RankItem& item) {
  const RankSums& sums = job.rows()[outlier.rank].sums;
  const double off = outlier.value - outlier.median, calls = static_cast<double>(item.count) / steps_of(sums);
  switch (job.keys()[key].kind) {
    case RankItemKind::Kernel: return off * calls;
    case RankItemKind::Collective: return -off * calls;
    case RankItemKind::Copy: return off * static_cast<double>(item.bytes) / steps_of(sums);
    case RankItemKind::Idle: return sums.steps == 0 ? off * static_cast<double>(sums.window_ns) : off;
    case RankItemKind::Clock: break;
  }
  // Kernels that a slower clock makes longer by the same factor.
  const double compute_ns = static_cast<double>(sums.compute_ns) / steps_of(sums);
  return compute_ns * (1 - outlier.median / outlier.value);
}

// The comparison of ranks with one kind of GPU.
class Comparer {
 public:
  Comparer(const RankJob& job, std::vector<uint32_t> rows, RankComparison& result) : job_(job), rows_(std::move(rows)) {
    std::vector<double> steps;
    for (const uint32_t row : rows_) steps.push_back(job.rows()[row].sums.step_ns);
    const double step_ns = median_of(std::move(steps));
    items_.resize(job.keys().size());
    for (const uint32_t row : rows_) {
      for (const auto& [key, item] : job.rows()[row].items) {
        const bool counts = job.keys()[key].kind != RankItemKind::Idle || job.rows()[row].sums.steps != 0;
        if (counts && item.count < kFewestCalls) {
          ++result.too_few_calls;
          continue;
        }
        items_[key].ranks.push_back({row, item.typical, item.low, item.high});
      }
    }
    for (uint32_t key = 0; key < items_.size(); ++key) set_resolution(items_[key], job.keys()[key].kind, step_ns);
    add_missing_idle();
  }

  const std::vector<OutlierItem>& items() const { return items_; }

 private:
  static void set_resolution(OutlierItem& item, RankItemKind kind, double step_ns) {
    switch (kind) {
      case RankItemKind::Kernel:
        item.least_deviation = kTickNs;
        item.least_share = kLeastShareOfKernel;
        break;
      case RankItemKind::Copy: item.least_share = kLeastShareOfCopy; break;
      case RankItemKind::Collective:
        item.least_deviation = std::max(kLeastCollectiveNs, kLeastShareOfStep * step_ns);
        item.low_is_worse = true;
        break;
      case RankItemKind::Idle:
        item.least_deviation = step_ns > 0 ? kLeastShareOfStep * step_ns : kLeastShareOfWindow;
        break;
      case RankItemKind::Clock: item.least_share = kLeastShareOfKernel; break;
    }
  }

  // A rank without idle time of a cause has the value 0.
  void add_missing_idle() {
    for (uint32_t key = 0; key < items_.size(); ++key) {
      if (job_.keys()[key].kind != RankItemKind::Idle || items_[key].ranks.empty()) continue;
      std::vector<RankValue> all;
      auto next = items_[key].ranks.begin();
      for (const uint32_t row : rows_) {
        if (next != items_[key].ranks.end() && next->rank == row) {
          all.push_back(*next++);
        } else {
          all.push_back({row, 0, 0, 0});
        }
      }
      items_[key].ranks = std::move(all);
    }
  }

  const RankJob& job_;
  const std::vector<uint32_t> rows_;
  std::vector<OutlierItem> items_;
};

const RankItem& item_of_row(const RankRow& row, uint32_t key) {
  return std::lower_bound(row.items.begin(), row.items.end(), key,
                          [](const auto& item, uint32_t wanted) { return item.first < wanted; })
      ->second;
}

// If more than half of the kernels of a rank are slow, they are one finding: the GPU is slow.
void join_kernels(const RankJob& job, std::vector<RankFinding>& findings) {
  constexpr size_t kFewestKernels = 5;
  const auto is_kernel = [&](uint32_t key) { return job.keys()[key].kind == RankItemKind::Kernel; };
  std::map<uint32_t, std::vector<RankFinding>> of_row;
  for (const RankFinding& each : findings) {
    if (is_kernel(each.key)) of_row[each.row].push_back(each);
  }
  for (const auto& [row, slow] : of_row) {
    const std::vector<std::pair<uint32_t, RankItem>>& items = job.rows()[row].items;
    const auto kinds = std::count_if(items.begin(), items.end(), [&](const auto& item) {
      return is_kernel(item.first) && item.second.count >= kFewestCalls;
    });
    if (slow.size() < kFewestKernels || 2 * static_cast<ptrdiff_t>(slow.size()) <= kinds) continue;
    std::erase_if(findings, [&, of = row](const RankFinding& each) {
      return each.row == of && each.key != kNone && is_kernel(each.key);
    });
    RankFinding all;
    all.row = row;
    all.kernels = slow.size();
    all.median = 1;
    std::vector<double> ratios;
    for (const RankFinding& each : slow) {
      all.count += each.count;
      grow(all.cost_ns, each.cost_ns);
      ratios.push_back(each.ratio());
      if (each.z > all.z) std::tie(all.z, all.limit) = std::tie(each.z, each.limit);
    }
    all.value = median_of(std::move(ratios));
    findings.push_back(all);
  }
}

// Removes lateness in collectives that other findings of the rank explain. Returns the number of these.
uint64_t explain_collectives(const RankJob& job, std::vector<RankFinding>& findings) {
  const auto is_collective = [&](const RankFinding& each) {
    return each.key != kNone && job.keys()[each.key].kind == RankItemKind::Collective;
  };
  std::map<uint32_t, std::pair<double, double>> of_row;  // late, and what explains it, in ns
  for (const RankFinding& each : findings) {
    auto& [late, explained] = of_row[each.row];
    (is_collective(each) ? late : explained) += static_cast<double>(each.cost_ns);
  }
  return std::erase_if(findings, [&](const RankFinding& each) {
    const auto& [late, explained] = of_row[each.row];
    return is_collective(each) && 2 * explained >= late;
  });
}

std::string text_of(const std::vector<uint32_t>& numbers) {
  constexpr size_t kMost = 8;
  const size_t shown = std::min(numbers.size(), kMost);
  std::string text =
      fmt::format("{}", fmt::join(numbers.begin(), numbers.begin() + static_cast<ptrdiff_t>(shown), ", "));
  if (shown < numbers.size()) text += fmt::format(" and {} more", numbers.size() - shown);
  return text;
}

// Rows by the names of their GPUs, the most frequent ones first.
std::vector<std::pair<std::string, std::vector<uint32_t>>> rows_by_gpu(const RankJob& job) {
  std::map<std::string, std::vector<uint32_t>> by_name;
  for (uint32_t row = 0; row < job.rows().size(); ++row) by_name[job.rows()[row].sums.gpu].push_back(row);
  std::vector<std::pair<std::string, std::vector<uint32_t>>> list(by_name.begin(), by_name.end());
  std::stable_sort(list.begin(), list.end(),
                   [](const auto& a, const auto& b) { return a.second.size() > b.second.size(); });
  return list;
}

std::string some_names(const std::vector<std::string>& names, const RankJob& job, const std::vector<uint32_t>& rows) {
  std::string text;
  constexpr size_t kMost = 5;
  for (size_t i = 0; i < rows.size() && i < kMost; ++i)
    text += (i == 0 ? "" : ", ") + names[job.rows()[rows[i]].sums.process];
  if (rows.size() > kMost) text += fmt::format(" and {} more", rows.size() - kMost);
  return text;
}

}  // namespace

void RankJob::add(RankSums sums) {
  RankRow row;
  for (const auto& [key, item] : sums.items) {
    const auto [found, is_new] = numbers_.try_emplace(key, static_cast<uint32_t>(keys_.size()));
    if (is_new) keys_.push_back(key);
    row.items.emplace_back(found->second, item);
  }
  sums.items.clear();
  row.sums = std::move(sums);
  rows_.push_back(std::move(row));
}

void RankJob::finish(const Trace& trace) {
  std::vector<uint32_t> renumbered(keys_.size());
  uint32_t next = 0;
  for (auto& [key, number] : numbers_) {
    renumbered[number] = next;
    keys_[next] = key;
    number = next++;
  }
  for (RankRow& row : rows_) {
    for (auto& [key, item] : row.items) key = renumbered[key];
    std::sort(row.items.begin(), row.items.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  }
  const auto order = [&](const RankRow& row) {
    const Process& process = trace.processes[row.sums.process];
    return std::make_tuple(process.rank.value_or(std::numeric_limits<uint32_t>::max()), std::cref(process.host),
                           process.pid, std::cref(process.source));
  };
  std::stable_sort(rows_.begin(), rows_.end(), [&](const RankRow& a, const RankRow& b) { return order(a) < order(b); });
  std::vector<RankRow> joined_rows;
  for (RankRow& row : rows_) {
    // Containers without a host name may have one process id.
    const auto is_same = [&](const Process& a, const Process& b) { return a.rank == b.rank && is_same_process(a, b); };
    const bool same = !joined_rows.empty() &&
                      is_same(trace.processes[joined_rows.back().sums.process], trace.processes[row.sums.process]);
    if (same) {
      join(joined_rows.back(), row);
    } else {
      joined_rows.push_back(std::move(row));
    }
  }
  rows_ = std::move(joined_rows);
}

RankComparison compare_ranks(const RankJob& job) {
  RankComparison result;
  std::vector<OutlierItem> items;
  std::vector<uint32_t> key_of_item;
  for (const auto& [name, rows] : rows_by_gpu(job)) {
    if (rows.size() < kFewestOutlierRanks) {
      result.too_few_ranks |= items.empty();
      continue;
    }
    const Comparer comparer(job, rows, result);
    for (uint32_t key = 0; key < comparer.items().size(); ++key) {
      items.push_back(comparer.items()[key]);
      key_of_item.push_back(key);
    }
  }
  result.pairs = tested_pairs(items);
  for (const Outlier& outlier : find_outliers(items)) {
    const uint32_t key = key_of_item[outlier.item];
    const RankRow& row = job.rows()[outlier.rank];
    const RankItem& item = item_of_row(row, key);
    RankFinding finding;
    finding.row = outlier.rank;
    finding.key = key;
    finding.count = item.count;
    finding.value = outlier.value;
    finding.median = outlier.median;
    finding.z = outlier.z;
    finding.limit = outlier.limit;
    finding.cost_ns = std::llround(cost_of(job, outlier, key, item));
    result.findings.push_back(finding);
  }
  join_kernels(job, result.findings);
  result.explained = explain_collectives(job, result.findings);
  result.small = std::erase_if(result.findings, [&](const RankFinding& each) {
    return static_cast<double>(each.cost_ns) < kSmallShare * step_or_window_ns(job.rows()[each.row].sums);
  });
  std::stable_sort(result.findings.begin(), result.findings.end(), [](const RankFinding& a, const RankFinding& b) {
    if (a.cost_ns != b.cost_ns) return a.cost_ns > b.cost_ns;
    return std::tie(a.row, a.key) < std::tie(b.row, b.key);
  });
  return result;
}

std::vector<std::string> job_problems(const Trace& trace, const RankJob& job) {
  std::vector<std::string> lines;
  const std::vector<std::string> names = process_names(trace);
  // Missing ranks, by the number of ranks that the recording has, else up to the highest one.
  std::map<uint32_t, uint32_t> present;
  uint32_t size = 0;
  for (const RankRow& row : job.rows()) {
    const Process& process = trace.processes[row.sums.process];
    if (!process.rank) continue;
    ++present[*process.rank];
    size = std::max({size, world_size(process).value_or(0), *process.rank == kNone ? 0 : *process.rank + 1});
  }
  constexpr uint32_t kMostRanks = 1u << 24;
  std::vector<uint32_t> missing;
  for (uint32_t rank = 0; rank < size && size <= kMostRanks && !present.empty(); ++rank) {
    if (!present.contains(rank)) missing.push_back(rank);
  }
  if (!missing.empty())
    lines.push_back(fmt::format("{} of {} ranks are not in the input, or have no GPU operation: {}", missing.size(),
                                size, text_of(missing)));
  // Ranks of different lengths.
  std::vector<double> steps;
  for (const RankRow& row : job.rows()) steps.push_back(static_cast<double>(row.sums.steps));
  const auto usual = static_cast<uint64_t>(median_of(std::move(steps)));
  std::vector<uint32_t> others;
  for (uint32_t row = 0; row < job.rows().size(); ++row) {
    if (job.rows()[row].sums.steps != usual) others.push_back(row);
  }
  if (!others.empty())
    lines.push_back(fmt::format("most ranks have {} steps, but {} ({} steps): {} of {} ranks have another number",
                                usual, some_names(names, job, {others.front()}), job.rows()[others.front()].sums.steps,
                                others.size(), job.rows().size()));
  const auto gpus = rows_by_gpu(job);
  for (size_t i = 1; i < gpus.size(); ++i) {
    const std::string& name = gpus[i].first;
    lines.push_back(fmt::format("{} {} on {}, most ranks on {}{}", some_names(names, job, gpus[i].second),
                                gpus[i].second.size() == 1 ? "runs" : "run", name.empty() ? "an unknown GPU" : name,
                                gpus[0].first.empty() ? "an unknown GPU" : gpus[0].first,
                                gpus[i].second.size() < kFewestOutlierRanks
                                    ? ": too few to be compared with each other"
                                    : ": they are compared with each other only"));
  }
  return lines;
}

}  // namespace prof::analyzer
