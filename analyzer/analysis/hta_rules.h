// Which events does Holistic Trace Analysis (HTA) count? Its reports differ in the launches that they know by name. If
// a trace has several profiler steps, HTA leaves out what no call up to the end of the last one launched. Definitions:
// docs/reports/definitions.md.
#pragma once

#include "analyzer/model/trace.h"

#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

namespace prof::analyzer {

// How HTA classifies a GPU event, by its name alone. Other: busy, but neither of the three.
enum class HtaClass : uint8_t { Computation, Communication, Memory, Other };
HtaClass hta_class(std::string_view name);

class HtaRules {
 public:
  explicit HtaRules(const Trace& trace);

  // Whether HTA has the event at all: always, if the input has fewer than two profiler steps.
  bool counts(const GpuOperation& operation) const { return counts_launch(operation.launch); }
  bool counts(const SyncEvent& sync) const { return counts_launch(sync.call); }
  // The operation's launch has a name that HTA's queue length knows, or that its launch statistics know.
  bool in_queue_length(const GpuOperation& operation) const { return launched_by(operation, kQueueLength); }
  bool in_launch_statistics(const GpuOperation& operation) const { return launched_by(operation, kLaunchStatistics); }

 private:
  static constexpr uint8_t kQueueLength = 1, kLaunchStatistics = 2;

  bool counts_launch(uint32_t call) const {
    if (!has_steps_) return true;
    return call != kNone && trace_.host[call].begin_ns <= last_step_end_ns_[process_of(call)];
  }
  bool launched_by(const GpuOperation& operation, uint8_t report) const {
    return operation.linked() && (known_[trace_.host[operation.launch].api()] & report) != 0 && counts(operation);
  }
  size_t process_of(uint32_t call) const {
    return static_cast<size_t>(trace_.thread(trace_.host[call].thread).process);
  }

  const Trace& trace_;
  bool has_steps_ = false;                 // at least two
  std::vector<int64_t> last_step_end_ns_;  // by process: the end of the last profiler step of its file
  std::vector<uint8_t> known_;             // by HostEvent::api(): the reports that know the call as a launch
};

}  // namespace prof::analyzer
