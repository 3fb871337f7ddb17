#include "analyzer/command/rank_inputs.h"

#include "analyzer/analysis/collectives/process_ranks.h"
#include "analyzer/command/inputs.h"
#include "analyzer/command/progress.h"
#include "analyzer/input/each_input.h"
#include "analyzer/reports/gpu_times.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace prof::analyzer {

namespace {

// One process of an input, after its model was dropped.
struct ReadProcess {
  Process process;
  int64_t begin_ns = INT64_MAX;  // of its first call or range
  bool used_gpu = false;
  std::optional<RankSums> sums;
};

struct ReadInput {
  uint64_t start_realtime_ns = 0;
  std::vector<ReadProcess> processes;
  std::string unusable;
};

ReadInput reduced(Trace& trace, const ReportOptions& options) {
  ReadInput result;
  result.start_realtime_ns = trace.start_realtime_ns;
  find_ranks(trace);
  const Selection everything;
  need_all_times("ranks", trace, everything);
  const Views views(trace, read_category_rules(options.rules));
  const AnalysisInput input{trace, views, everything, options};
  for (uint32_t p = 0; p < trace.processes.size(); ++p) {
    ReadProcess& read = result.processes.emplace_back();
    read.sums = sums_of_rank(input, ProcessId{p});
    for (const Thread& thread : trace.threads) {
      if (thread.process != ProcessId{p}) continue;
      if (thread.host.size() != 0) read.begin_ns = std::min(read.begin_ns, trace.host[thread.host.first].begin_ns);
      if (thread.ranges.size() != 0)
        read.begin_ns = std::min(read.begin_ns, trace.ranges[thread.ranges.first].begin_ns);
    }
    read.used_gpu = std::any_of(trace.streams.begin(), trace.streams.end(), [&](const Stream& stream) {
      return stream.operations.size() != 0 && trace.device(stream.device).process == ProcessId{p};
    });
  }
  for (uint32_t p = 0; p < trace.processes.size(); ++p) {
    result.processes[p].process = std::move(trace.processes[p]);
    result.processes[p].process.clock_readings = {};
  }
  return result;
}

// Adds a process with as many rows as the functions about contradictory ranks look at: its first call, and an operation
// if it used a GPU.
void add_process(ReadProcess read, int64_t later_ns, Trace& trace) {
  const ProcessId process{static_cast<uint32_t>(trace.processes.size())};
  read.process.last_ns += later_ns;
  read.process.clock = kNone;
  trace.last_ns = std::max(trace.last_ns, read.process.last_ns);
  trace.processes.push_back(std::move(read.process));
  if (read.begin_ns != INT64_MAX) {
    Thread& thread = trace.threads.emplace_back();
    thread.process = process;
    thread.host = {static_cast<uint32_t>(trace.host.size()), static_cast<uint32_t>(trace.host.size() + 1)};
    HostEvent call;
    call.begin_ns = call.end_ns = read.begin_ns + later_ns;
    call.thread = ThreadId{static_cast<uint32_t>(trace.threads.size() - 1)};
    trace.host.push_back(call);
  }
  if (!read.used_gpu) return;
  trace.devices.emplace_back().process = process;
  Stream& stream = trace.streams.emplace_back();
  stream.device = DeviceId{static_cast<uint32_t>(trace.devices.size() - 1)};
  const auto row = static_cast<uint32_t>(trace.operations.size());
  stream.operations = {row, row + 1};
  GpuOperation operation;
  operation.set_stream(static_cast<uint32_t>(trace.streams.size() - 1));
  trace.operations.push_back(operation);
}

}  // namespace

bool needs_whole_model(const Selection& selection, const std::string& from, const std::string& to,
                       const ReportOptions& options) {
  const std::string& window = options.window;
  const bool of_each = window == "gpu" || window == "step" || window.starts_with("nvtx:");
  return !of_each || !from.empty() || !to.empty() || !selection.devices.empty() || !selection.streams.empty() ||
         !selection.threads.empty() || !selection.nvtx_words.empty();
}

RankInputs read_ranks(const std::vector<std::string>& paths, const ReportOptions& options) {
  const std::vector<std::string> once = each_file_once(paths);
  std::vector<ReadInput> inputs(once.size());
  {
    ProgressLine progress("reading");
    ImportOptions import;
    import.progress = [&](double share) { progress.share(share);
  };
  each_input(
      once, import, [&](size_t i, std::unique_ptr<Trace> trace) { inputs[i] = reduced(*trace, options); },
      [&](size_t i, const std::string& error) {
        inputs[i].unusable = error.starts_with(once[i]) ? error : once[i] + ": " + error;
      });
}
RankInputs result;
result.trace = std::make_unique<Trace>();
uint64_t start_ns = UINT64_MAX;
for (const ReadInput& input : inputs) {
  if (input.unusable.empty()) start_ns = std::min(start_ns, input.start_realtime_ns);
}
if (start_ns == UINT64_MAX) throw InputError(inputs.front().unusable);
result.trace->start_realtime_ns = start_ns;
const auto job = std::make_shared<RankJob>();
for (size_t i = 0; i < inputs.size(); ++i) {
  ReadInput& input = inputs[i];
  if (!input.unusable.empty()) {
    result.trace->unusable.push_back({once[i], std::move(input.unusable)});
    continue;
  }
  constexpr uint64_t kMostLater = uint64_t{1} << 60;
  const auto later_ns = static_cast<int64_t>(std::min(kMostLater, input.start_realtime_ns - start_ns));
  for (ReadProcess& read : input.processes) {
    if (read.sums) {
      read.sums->process = static_cast<uint32_t>(result.trace->processes.size());
      job->add(std::move(*read.sums));
    } else {
      ++job->without_gpu;
    }
    add_process(std::move(read), later_ns, *result.trace);
  }
}
drop_ambiguous_ranks(*result.trace);
job->finish(*result.trace);
result.job = job;
return result;
}  // namespace prof::analyzer

}  // namespace prof::analyzer
