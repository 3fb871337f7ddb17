#include "analyzer/output/nvprof_text.h"

#include "analyzer/base/json/json_text.h"
#include "analyzer/table/cell_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <utility>

namespace prof::analyzer {

namespace {

std::string cut_name_text(std::string_view text) { return cut_text(readable_utf8(text), kLongestText); }

constexpr const char* kLabels[] = {"GPU activities:", "API calls:", "NVTX ranges:"};
constexpr const char* kEmpty[] = {"No kernels were profiled.", "No API activities were profiled.",
                                  "No NVTX ranges were recorded."};

// Which of the columns are written? On a narrow terminal, names need the place of some.
struct FittingColumns {
  static constexpr size_t kLeastName = 20, kColumn = 10;
  bool average = true, extremes = true;

  FittingColumns(const SummaryOptions& options, const NvprofLook& look) {
    const size_t others = 47 + (options.median ? kColumn : 0) + (options.stddev ? kColumn : 0) + kLeastName;
    average = look.width == 0 || look.width >= others + kColumn;
    extremes = look.width == 0 || look.width >= others + 3 * kColumn;
  }
};

void write_header(const SummaryOptions& options, const FittingColumns& columns, Sink& sink) {
  sink.write(fmt::format("{:>16}  {:>7}  {:>8}  {:>8}", "Type", "Time(%)", "Time", "Calls"));
  if (columns.average) sink.write(fmt::format("  {:>8}", "Avg"));
  if (columns.extremes) sink.write(fmt::format("  {:>8}  {:>8}", "Min", "Max"));
  if (options.median) sink.write(fmt::format("  {:>8}", "Median"));
  if (options.stddev) sink.write(fmt::format("  {:>8}", "StdDev"));
  sink.write("  Name\n");
}

void write_rows(uint32_t pid, const SummarySection& section, const SummaryOptions& options, const NvprofLook& look,
                const FittingColumns& columns, Sink& sink) {
  const char* label = kLabels[section.kind];
  const size_t rows = look.rows == 0 ? section.rows.size() : std::min(look.rows, section.rows.size());
  const double total = static_cast<double>(section.total_ns);
  for (const SummaryRow& row : std::span(section.rows).first(rows)) {
    const double percent = total > 0 ? 100 * static_cast<double>(row.total_ns) / total : 0;
    std::string line =
        fmt::format("{:>16}  {:6.2f}%  {:>8}  {:>8}", label, percent, scaled_time(row.total_ns), row.calls);
    if (columns.average) line += fmt::format("  {:>8}", scaled_time(row.average_ns()));
    if (columns.extremes) line += fmt::format("  {:>8}  {:>8}", scaled_time(row.min_ns), scaled_time(row.max_ns));
    if (options.median) line += fmt::format("  {:>8}", scaled_time(row.median_ns));
    if (options.stddev) line += fmt::format("  {:>8}", scaled_time(std::llround(row.stddev_ns)));
    line += "  " + cut_name_text(row.name);
    sink.write((look.width == 0 ? line : cut_text(std::move(line), look.width)) + "\n");
    label = "";
  }
  if (rows != section.rows.size())
    sink.write(fmt::format("=={}== first {} of {} rows; --limit 0 prints all\n", pid, rows, section.rows.size()));
}

// Writes the device and stream of the following lines, if sections are grouped. `device`: the last device that was
// written.
void write_label(uint32_t pid, const SectionLabel& of, std::string& device, Sink& sink) {
  if (!of.device.empty() && of.device != device) {
    sink.write(fmt::format("=={}== Device \"{}\"\n", pid, of.device));
    device = of.device;
  }
  if (!of.stream.empty()) sink.write(fmt::format("=={}==     {}\n", pid, of.stream));
}

// With PROF_BUDGET, the tables above contain the timed operations. These lines extrapolate them to the whole run.
void write_extrapolation(uint32_t pid, const std::optional<ExtrapolatedSummary>& summary, Sink& sink) {
  if (!summary.has_value()) return;
  sink.write(fmt::format("=={}== {}\n", pid, summary->text));
  std::string device;
  for (const ExtrapolatedSection& section : summary->sections) {
    write_label(pid, section.of, device, sink);
    const auto line = [&](const char* label, const Extrapolated& estimate, std::string_view name) {
      const std::string half = estimate.half < 0 ? "unknown" : std::string(scaled_time(std::llround(estimate.half)));
      sink.write(fmt::format("{:>16}  {:>8} +- {:>8}  {:>8} calls  {}\n", label,
                             scaled_time(std::llround(estimate.total)), half, std::llround(estimate.operations),
                             cut_name_text(name)));
    };
    line("Extrapolated:", section.all, "[all]");
    for (const auto& [name, estimate] : section.rows) line("", estimate, name);
  }
}

// Process ids repeat between hosts. nvprof has no such line.
void write_owner(const Process& process, Sink& sink) {
  if (!process.rank && process.host.empty()) return;
  const std::string rank = process.rank ? fmt::format("rank {}", *process.rank) : "";
  const std::string host = process.host.empty() ? "" : fmt::format("host {}", cut_name_text(process.host));
  sink.write(
      fmt::format("=={}== Process: {}{}{}\n", process.pid, rank, rank.empty() || host.empty() ? "" : ", ", host));
}

// nvprof has no such line. Without it, failing calls of a program remain unnoticed.
void write_failures(const Process& process, const std::vector<SummarySection>& sections, Sink& sink) {
  uint64_t failed = 0;
  std::string which;
  for (const SummarySection& section : sections) {
    for (const SummaryRow& row : section.rows) {
      if (row.failed == 0) continue;
      failed += row.failed;
      which += fmt::format("{}{} {}", which.empty() ? "" : ", ", cut_name_text(row.name), row.failed);
    }
  }
  if (failed == 0) return;
  sink.write(fmt::format("=={}== failed API calls: {} ({}); `prof report api-errors` has the reasons\n", process.pid,
                         failed, which));
}

}  // namespace

void write_nvprof_text(const Trace& trace, const KernelNames& names, const SummaryOptions& options,
                       const NvprofLook& look, Sink& sink) {
  const FittingColumns columns(options, look);
  bool first = true;
  for (uint32_t p = 0; p < trace.processes.size(); ++p) {
    if (!options.has_process(p)) continue;
    const Process& process = trace.processes[p];
    if (!std::exchange(first, false)) sink.write("\n");
    const std::vector<SummarySection> sections = summarize(trace, names, ProcessId{p}, options);
    const std::string& command = process.command_line.empty() ? process.executable : process.command_line;
    sink.write(fmt::format("=={}== Profiling application: {}\n", process.pid, cut_name_text(command)));
    if (trace.processes.size() > 1) write_owner(process, sink);
    sink.write(fmt::format("=={}== Profiling result:\n", process.pid));
    bool header_written = false;
    std::string device;
    for (const SummarySection& section : sections) {
      write_label(process.pid, section.of, device, sink);
      if (section.rows.empty()) {
        sink.write(fmt::format("{}\n", kEmpty[section.kind]));
        continue;
      }
      if (!header_written) write_header(options, columns, sink);
      header_written = true;
      write_rows(process.pid, section, options, look, columns, sink);
    }
    if (header_written && !columns.extremes) {
      sink.write(fmt::format("=={}== columns that do not fit the terminal, but are in files and pipes: {}Min, Max\n",
                             process.pid, columns.average ? "" : "Avg, "));
    }
    write_extrapolation(process.pid, extrapolate(trace, names, ProcessId{p}, options), sink);
    write_failures(process, sections, sink);
    sink.write(fmt::format("=={}== {}\n", process.pid, coverage_line(process)));
  }
}

}  // namespace prof::analyzer
