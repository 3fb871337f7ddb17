#include "analyzer/command/diff_side.h"

#include "analyzer/command/input_list.h"
#include "analyzer/command/inputs.h"
#include "analyzer/reports/gpu_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

namespace prof::analyzer {

std::vector<std::string> files_of_run(const std::string& input) {
  return std::filesystem::is_directory(input) ? files_in_folder(input) : std::vector<std::string>{input};
}

std::vector<std::string> files_of_runs(const std::vector<std::string>& inputs) {
  std::vector<std::string> all;
  for (const std::string& input : inputs) {
    const std::vector<std::string> files = files_of_run(input);
    all.insert(all.end(), files.begin(), files.end());
  }
  return all;
}

ReadSide read_side(const std::vector<std::string>& inputs, const ReadSideOptions& options, int& status) {
  ReadSide side;
  for (const std::string& run : inputs) {
    const std::unique_ptr<Trace> trace = read_inputs(files_of_run(run));
    need_all_times("diff", *trace);
    const Views views(*trace, {}, options.stacks);
    const Selection everything;
    const AnalysisInput input{*trace, views, everything, options.report};
    side.runs.push_back(run_rows(input, run, options.with_peaks));
    side.runs.back().lines = run_lines(input);
    if (options.with_stacks && side.stacks == nullptr)
      side.stacks = std::make_unique<const StackTree>(stack_tree(input, StackMetric::GpuTime));
    side.coverage.push_back(fmt::format("{}: {}", run, coverage_line(*trace)));
    std::fprintf(stderr, "prof: %s\n", side.coverage.back().c_str());
    status = std::max(status, tell_damage(*trace));
  }
  return side;
}

}  // namespace prof::analyzer
