#include "analyzer/analysis/hta_rules.h"
#include "analyzer/base/text_parts.h"

#include "analyzer/model/names.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace prof::analyzer {

namespace {

bool begins_with_one_of(std::string_view name, std::initializer_list<std::string_view> beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](std::string_view each) { return name.starts_with(each); });
}

constexpr std::array<std::string_view, 4> kLaunchStatisticsNames = {"cudaLaunchKernel", "cudaLaunchKernelExC",
                                                                    "cudaMemcpyAsync", "cudaMemsetAsync"};
constexpr std::array<std::string_view, 7> kOtherQueueNames = {
    "cuLaunchKernel", "cuLaunchKernelEx", "hipLaunchKernel",    "hipExtModuleLaunchKernel",
    "hipMemsetAsync", "hipMemcpyAsync",   "hipMemcpyWithStream"};

template <size_t N> bool is_one_of(std::string_view name, const std::array<std::string_view, N>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

HtaClass hta_class(std::string_view name) {
  if (begins_with_one_of(name, {"nccl", "hip", "hccl"}) || has(name, "ncclKernel")) return HtaClass::Communication;
  if (begins_with_one_of(name, {"Memcpy", "Memset", "dma"})) return HtaClass::Memory;
  const bool other = has(name, "Memcpy") || has(name, "Memset") || has(name, "dma") || has(name, "Sync") ||
                     (name.starts_with("cuda") && has(name.substr(4), "LaunchKernel")) ||
                     begins_with_one_of(name, {"Stream Wait Event", "runFunction", "job_exe", "packet", "pe_exe",
                                               "cpum_exe_subgraph", "collective_subgraph_execution"});
  return other ? HtaClass::Other : HtaClass::Computation;
}

HtaRules::HtaRules(const Trace& trace) : trace_(trace) {
  known_.reserve(trace.apis.size());
  for (const StringId api : trace.apis) {
    const std::string_view name = plain_api_name(trace.text(api));
    const bool in_statistics = is_one_of(name, kLaunchStatisticsNames);
    const bool in_queue = in_statistics || is_one_of(name, kOtherQueueNames);
    known_.push_back(static_cast<uint8_t>((in_queue ? kQueueLength : 0) | (in_statistics ? kLaunchStatistics : 0)));
  }

  std::vector<bool> is_step(trace.labels.size());
  for (size_t label = 0; label < is_step.size(); ++label)
    is_step[label] = has(trace.text(trace.labels[label].text), "ProfilerStep");
  std::set<StringId> names;
  std::map<std::string_view, int64_t> last_end_ns;  // by file
  for (const Range& range : trace.ranges) {
    if (!is_step[static_cast<size_t>(range.label)] || range.kind == RangeKind::Python) continue;
    names.insert(trace.labels[static_cast<size_t>(range.label)].text);
    const Process& process = trace.processes[static_cast<size_t>(trace.thread(range.thread).process)];
    int64_t& end_ns = last_end_ns.try_emplace(process.source, range.end_ns).first->second;
    end_ns = std::max(end_ns, range.end_ns);
  }
  has_steps_ = names.size() > 1;
  for (const Process& process : trace.processes) {
    const auto found = last_end_ns.find(process.source);
    last_step_end_ns_.push_back(found != last_end_ns.end() ? found->second : std::numeric_limits<int64_t>::max());
  }
}

}  // namespace prof::analyzer
