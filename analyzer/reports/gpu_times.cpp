#include "analyzer/reports/gpu_times.h"

#include "analyzer/analysis/bursts/estimates.h"
#include "analyzer/analysis/stacks/stack_tree.h"
#include "analyzer/reports/reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace prof::analyzer {

namespace {

constexpr std::string_view kMark = "PROF_BUDGET=";

const Process* in_bursts(const Trace& trace, const Selection& selection) {
  for (uint32_t p = 0; p < trace.processes.size(); ++p) {
    if (selection.has_process(ProcessId{p}) && !budget_of(trace.processes[p]).empty()) return &trace.processes[p];
  }
  return nullptr;
}

Times times_of(const Report& report, const ReportOptions& options) {
  if (report.times != Times::ByMetric) return report.times;
  if (is_torch_metric(options.metric)) return options.metric == "self_cpu_time_total" ? Times::None : Times::Listed;
  switch (stack_metric(options.metric)) {
    case StackMetric::GpuTime:
    case StackMetric::Bytes: return Times::Estimated;
    case StackMetric::Idle: return Times::All;
    case StackMetric::CpuTime:
    case StackMetric::HostTime:
    case StackMetric::Launches:
    case StackMetric::AllocatedBytes: break;
  }
  return Times::None;
}

// Adds a note: which operations of the run were timed, and what this table therefore covers.
void note_bursts(const AnalysisInput& input, std::string_view about, Table& table) {
  const Bursts& bursts = input.views.bursts();
  for (uint32_t p = 0; p < input.trace.processes.size(); ++p) {
    const Process& process = input.trace.processes[p];
    if (budget_of(process).empty() || !input.selection.has_process(ProcessId{p})) continue;
    uint64_t launches = 0, timed = 0;
    for (const Thread& thread : input.trace.threads) {
      if (thread.process != ProcessId{p}) continue;
      for (uint32_t row = thread.host.first; row < thread.host.last; ++row) {
        launches += bursts.kind_of(row) == kNone ? 0 : 1;
        timed += bursts.burst_of(row) == kNone ? 0 : 1;
      }
    }
    table.notes.push_back(bursts_text(process, timed, launches, bursts.count(ProcessId{p})) + "; " +
                          std::string(about));
  }
}

}  // namespace

void need_all_times(std::string_view what, const Trace& trace, const Selection& selection) {
  const Process* const process = in_bursts(trace, selection);
  if (process == nullptr) return;
  throw std::runtime_error(
      fmt::format("{}: GPU times of process {} were taken in bursts (PROF_BUDGET={}), and what a GPU did between "
                  "them is not known; reports that sum GPU time extrapolate to all of it, and a recording without "
                  "PROF_BUDGET times all of it",
                  what, process->pid, budget_of(*process)));
}

void check_gpu_times(const Report& report, const Trace& trace, const Selection& selection,
                     const ReportOptions& options) {
  const Process* const process = in_bursts(trace, selection);
  if (process == nullptr) return;
  const Times times = times_of(report, options);
  if (times == Times::All)
    need_all_times(report.times == Times::ByMetric ? "--metric idle" : report.name, trace, selection);
  if (times != Times::Estimated) return;
  const Selection everything;
  const char* const given = selection.from_ns != everything.from_ns              ? "--from"
                            : selection.to_ns != everything.to_ns                ? "--to"
                            : options.window != "gpu" && options.window != "run" ? "--window"
                                                                                 : nullptr;
  if (given == nullptr) return;
  throw std::runtime_error(
      fmt::format("{}: GPU times of process {} were taken in bursts (PROF_BUDGET={}), and when the rest ran is not "
                  "known, so {} cannot extrapolate to a window of time; --nvtx, --thread, --process, --rank, --device "
                  "and --stream can be given",
                  given, process->pid, budget_of(*process), report.name));
}

Table run_timed_report(const Report& report, const AnalysisInput& input) {
  check_gpu_times(report, input.trace, input.selection, input.options);
  Table table = report.run(input);
  if (in_bursts(input.trace, input.selection) == nullptr) return table;
  switch (times_of(report, input.options)) {
    case Times::None: note_bursts(input, "this table does not depend on them", table); break;
    case Times::Listed: note_bursts(input, "this table covers only these, not the whole run", table); break;
    case Times::Estimated:
    case Times::ByMetric:
    case Times::All: break;
  }
  const bool said = std::any_of(table.notes.begin(), table.notes.end(),
                                [](const std::string& note) { return note.starts_with(kMark); });
  if (!said) throw std::logic_error(fmt::format("{} does not say what its GPU times are", report.name));
  return table;
}

}  // namespace prof::analyzer
