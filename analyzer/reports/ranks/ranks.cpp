// ranks: which ranks of a job are slower than the others, by what, and what does each rank do? The rows are ranks, or
// with --group-by item what holds them back.
#include "analyzer/reports/ranks/ranks.h"

#include "analyzer/base/parallel.h"
#include "analyzer/base/saturated.h"
#include "analyzer/model/process_names.h"
#include "analyzer/reports/reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>

namespace prof::analyzer {

namespace {

// Columns of single causes: those with at least this share of all idle time of the job.
constexpr double kShownCause = 0.05;
constexpr size_t kMostRows = 64;  // of the text form

std::string value_text(RankItemKind kind, double value, bool per_step) {
  switch (kind) {
    case RankItemKind::Kernel:
    case RankItemKind::Collective: return scaled_time(std::llround(value));
    case RankItemKind::Copy: return fmt::format("{:.4g} GB/s", value > 0 ? 1 / value : 0);
    case RankItemKind::Idle:
      return per_step ? scaled_time(std::llround(value)) : fmt::format("{:.1f} % of window", 100 * value);
    case RankItemKind::Clock: break;
  }
  return fmt::format("{:.4g} GHz", value > 0 ? 1 / value : 0);
}

std::string item_text(const RankItemKey& key, NameForm names) {
  std::string name = names == NameForm::Short ? short_function_name(key.name) : key.name;
  if (key.kind != RankItemKind::Kernel && key.kind != RankItemKind::Collective) name = key.name;
  if (!key.shape.empty()) name += " [" + key.shape + "]";
  return name;
}

// What holds ranks back, one row each. `names`: of processes, in column `where`; else the rows name their process.
void add_findings(const AnalysisInput& input, const RankJob& job, const RankComparison& comparison,
                  const std::vector<std::string>* names, Table& table) {
  if (names == nullptr) table.add_column(ColumnId::pid);
  table.add_column(ColumnId::where);
  table.add_columns({ColumnId::kind, ColumnId::late_per_step, ColumnId::late_percent, ColumnId::count,
                     ColumnId::typical, ColumnId::typical_of_ranks, ColumnId::times_typical, ColumnId::deviations,
                     ColumnId::deviations_limit, ColumnId::item});
  const std::vector<std::string> all_names = process_names(input.trace);
  for (const RankFinding& each : comparison.findings) {
    const RankSums& sums = job.rows()[each.row].sums;
    Table::Row row = table.row();
    if (names == nullptr) row.add_owner(sums.process);
    row.add(std::string_view(all_names[sums.process]));
    const bool all_kernels = each.key == kNone;
    const RankItemKind kind = all_kernels ? RankItemKind::Kernel : job.keys()[each.key].kind;
    row.add(rank_item_kind_text(kind)).add(each.cost_ns);
    const double whole = sums.steps == 0 ? static_cast<double>(sums.window_ns) : sums.step_ns;
    row.add_percent(each.cost_ns, whole).add(each.count);
    if (all_kernels) {
      row.empty().empty();
    } else {
      row.add(std::string_view(value_text(kind, each.value, sums.steps != 0)));
      row.add(std::string_view(value_text(kind, each.median, sums.steps != 0)));
    }
    // Rates are inverse: 8 times the time of a byte.
    row.add_if(each.median > 0, each.ratio()).add(each.z).add(each.limit);
    const std::string item = all_kernels ? fmt::format("most kernels of the GPU ({} kinds)", each.kernels)
                                         : item_text(job.keys()[each.key], input.options.names);
    row.add(std::string_view(item));
  }
}

// The causes with columns of their own, the largest first.
std::vector<size_t> shown_causes(const RankJob& job) {
  std::array<int64_t, kGapCharges> sums{};
  int64_t all_ns = 0;
  for (const RankRow& row : job.rows()) {
    for (size_t i = 0; i < kGapCharges; ++i) grow(sums[i], row.sums.idle_by_cause_ns[i]);
    grow(all_ns, row.sums.idle_ns);
  }
  std::vector<size_t> shown;
  for (size_t i = 0; i < kGapCharges; ++i) {
    if (static_cast<double>(sums[i]) >= kShownCause * static_cast<double>(all_ns) && sums[i] > 0) shown.push_back(i);
  }
  std::stable_sort(shown.begin(), shown.end(), [&](size_t a, size_t b) { return sums[a] > sums[b]; });
  return shown;
}

std::string key_of(std::string_view text) {
  std::string key = "idle_";
  for (const char c : text) key += (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ? c : '_';
  return key;
}

void add_ranks(const RankJob& job, const RankComparison& comparison, Table& table) {
  table.add_columns({ColumnId::pid, ColumnId::device_name, ColumnId::findings, ColumnId::step_count,
                     ColumnId::step_time, ColumnId::length, ColumnId::busy, ColumnId::compute,
                     ColumnId::exposed_communication, ColumnId::copy_time, ColumnId::idle});
  const std::vector<size_t> causes = shown_causes(job);
  for (const size_t cause : causes) {
    const std::string_view text = GapCharge::of_number(cause).text();
    table.add_named_column(ColumnId::idle_of_cause, fmt::format("Idle: {}", text), key_of(text));
  }
  if (!causes.empty()) table.add_named_column(ColumnId::idle_of_cause, "Idle: other causes", "idle_other_causes");
  table.add_columns({ColumnId::launches, ColumnId::operations});
  std::vector<uint32_t> findings(job.rows().size());
  for (const RankFinding& each : comparison.findings) ++findings[each.row];
  for (size_t r = 0; r < job.rows().size(); ++r) {
    const RankSums& sums = job.rows()[r].sums;
    Table::Row row = table.row();
    row.add_owner(sums.process).add(std::string_view(sums.gpu)).add(findings[r]);
    row.add_if(sums.steps != 0, sums.steps).add_if(sums.steps != 0, static_cast<int64_t>(std::llround(sums.step_ns)));
    row.add(sums.window_ns).add(sums.busy_ns).add(sums.compute_ns).add(sums.exposed_communication_ns);
    row.add(sums.copies_ns).add(sums.idle_ns);
    int64_t rest_ns = sums.idle_ns;
    for (const size_t cause : causes) {
      row.add(sums.idle_by_cause_ns[cause]);
      rest_ns -= sums.idle_by_cause_ns[cause];
    }
    if (!causes.empty()) row.add(std::max<int64_t>(0, rest_ns));
    row.add(sums.launches).add(sums.operations);
  }
  table.text_limit = kMostRows;
}

void add_notes(const RankJob& job, const RankComparison& comparison, Table& table) {
  const bool any_steps =
      std::any_of(job.rows().begin(), job.rows().end(), [](const RankRow& row) { return row.sums.steps != 0; });
  table.notes.push_back(any_steps
                            ? "times of each rank from the start of its first step to the end of its last, on its "
                              "own clock; a rank without steps: from its first GPU operation to its last"
                            : "times of each rank from the start of its first GPU operation to the end of its "
                              "last, on its own clock; the input has no steps");
  if (comparison.pairs == 0) {
    table.notes.push_back(
        comparison.too_few_ranks || job.rows().size() < kFewestOutlierRanks
            ? fmt::format("no outlier can be found: fewer than {} ranks have one kind of GPU", kFewestOutlierRanks)
            : fmt::format("no outlier can be found: no item has {} calls or steps on {} ranks", kFewestCalls,
                          kFewestOutlierRanks));
  } else {
    table.notes.push_back(
        fmt::format("tested: {} pairs of rank and item; a job without a slow rank has a finding with "
                    "a probability of at most {:.0f} %",
                    comparison.pairs, 100 * kFalseFindings));
    if (comparison.findings.empty()) table.notes.emplace_back("no rank is slower than the others");
  }
  if (comparison.too_few_calls != 0)
    table.notes.push_back(fmt::format("not tested: {} pairs of rank and item with fewer than {} calls or steps",
                                      comparison.too_few_calls, kFewestCalls));
  if (comparison.explained != 0)
    table.notes.push_back(
        fmt::format("not listed: {} items in which a rank comes late to a collective because of its "
                    "other findings",
                    comparison.explained));
  if (comparison.small != 0)
    table.notes.push_back(
        fmt::format("not listed: {} that cost less than 0.1 % of a step or window", comparison.small));
  if (job.without_gpu != 0)
    table.notes.push_back(fmt::format("processes without GPU operations, which have no row: {}", job.without_gpu));
}

}  // namespace

std::shared_ptr<const RankJob> job_of(const AnalysisInput& input) {
  std::shared_ptr<const RankJob> given = input.views.derived<JobOfLogs>().job;
  const auto is_selected = [&](uint32_t process) { return input.selection.has_process(ProcessId{process}); };
  const auto job = std::make_shared<RankJob>();
  if (given && input.selection.processes.empty()) return given;
  if (given) {
    job->take_rows(*given, is_selected);
    return job;
  }
  std::mutex mutex;
  parallel_for(input.trace.processes.size(), [&](size_t p) {
    if (!is_selected(static_cast<uint32_t>(p))) return;
    std::optional<RankSums> sums = sums_of_rank(input, ProcessId{static_cast<uint32_t>(p)});
    const std::lock_guard lock(mutex);
    if (sums) {
      job->add(std::move(*sums));
    } else {
      ++job->without_gpu;
    }
  });
  job->finish(input.trace);
  return job;
}

Table report_ranks(const AnalysisInput& input) {
  const std::shared_ptr<const RankJob> job = job_of(input);
  const RankComparison comparison = compare_ranks(*job);
  const std::vector<std::string>& words = input.options.group_by;
  const bool by_item = std::find(words.begin(), words.end(), "item") != words.end();
  const char* const kFindings = "What holds ranks back, the largest cost first";
  Table table("ranks", by_item ? kFindings : "Ranks of the job");
  add_notes(*job, comparison, table);
  if (by_item) {
    add_findings(input, *job, comparison, nullptr, table);
    return table;
  }
  add_ranks(*job, comparison, table);
  if (!comparison.findings.empty()) {
    const std::vector<std::string> names = process_names(input.trace);
    Table findings("findings", kFindings);
    add_findings(input, *job, comparison, &names, findings);
    table.parts.push_back(std::move(findings));
  }
  return table;
}

}  // namespace prof::analyzer
