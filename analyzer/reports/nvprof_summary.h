// Where did the time go, summed by name? GPU operations, CUDA calls and NVTX ranges of one process, in total or per
// device or stream. These are the numbers of `prof summary`. output/nvprof_text prints them.
#pragma once

#include "analyzer/analysis/bursts/estimates.h"
#include "analyzer/base/saturated.h"
#include "analyzer/model/names.h"
#include "analyzer/model/trace.h"
#include "analyzer/table/table.h"

#include <optional>
#include <string>
#include <vector>

namespace prof::analyzer {

enum class GroupBy { Process, Device, Stream };

struct SummaryOptions {
  bool gpu = true, api = true, nvtx = false;
  bool median = false, stddev = false;
  GroupBy group = GroupBy::Process;
  NameForm names = NameForm::Full;
  std::vector<bool> processes;  // by row of Trace::processes; empty: all
  bool has_process(uint32_t process) const { return processes.empty() || processes[process]; }
};

struct SummaryRow {
  std::string name;
  uint64_t calls = 0, failed = 0;  // failed: API calls only
  int64_t total_ns = 0, min_ns = 0, max_ns = 0;
  int64_t median_ns = 0;
  double stddev_ns = 0;  // of a sample (divided by N − 1); 0 for one call
  int64_t average_ns() const {
    return calls == 0 ? 0 : add_saturated(total_ns, static_cast<int64_t>(calls) / 2) / static_cast<int64_t>(calls);
  }
};

// Names the device and stream of a section of GPU operations, if sections are grouped: "NVIDIA H200 (0)", "Context 1,
// Stream 7".
struct SectionLabel {
  std::string device, stream;
};

// Rows are sorted by total time, then calls, both descending, then name.
struct SummarySection {
  enum Kind { Gpu, Api, Nvtx } kind = Gpu;
  SectionLabel of;
  std::vector<SummaryRow> rows;
  int64_t total_ns = 0;
};

// GPU sections of every group, then API, then NVTX, as requested. Without grouping there is one GPU section, which can
// be empty.
std::vector<SummarySection> summarize(const Trace& trace, const KernelNames& names, ProcessId process,
                                      const SummaryOptions& options);

// The GPU activities of a process with PROF_BUDGET, extrapolated to all of its launches. They are grouped like the
// sections: by name, the longest first, and their sum. Nothing if all launches were timed.
struct ExtrapolatedSection {
  SectionLabel of;
  Extrapolated all;
  std::vector<std::pair<std::string, Extrapolated>> rows;
};
struct ExtrapolatedSummary {
  std::string text;
  std::vector<ExtrapolatedSection> sections;
};
std::optional<ExtrapolatedSummary> extrapolate(const Trace& trace, const KernelNames& names, ProcessId process,
                                               const SummaryOptions& options);

// All processes in one table, for csv and json.
Table summary_table(const Trace& trace, const KernelNames& names, const SummaryOptions& options);

}  // namespace prof::analyzer
