#include "analyzer/reports/nvprof_summary.h"

#include "analyzer/base/saturated.h"
#include "analyzer/base/statistics.h"
#include "analyzer/model/results.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>

namespace prof::analyzer {

namespace {

// NamedSums by a key that represents a name. Names are created at the end, and rows with equal names are merged.
class NamedSums {
 public:
  explicit NamedSums(const SummaryOptions& options) : keep_all_(options.median) {}

  void add(uint64_t key, int64_t duration_ns, bool failed = false) {
    if (key != last_key_ || last_ == nullptr) {
      last_ = &sums_[key];
      last_key_ = key;
    }
    last_->add(std::max<int64_t>(duration_ns, 0), keep_all_);
    last_->failed += failed ? 1 : 0;
  }

  template <class NameOf> SummarySection section(SummarySection::Kind kind, NameOf&& name_of) {
    std::map<std::string, Sum> by_name;
    for (auto& [key, sum] : sums_) by_name[name_of(key)].join(std::move(sum));
    SummarySection section;
    section.kind = kind;
    for (auto& [name, sum] : by_name) {
      section.rows.push_back(sum.row(name));
      grow(section.total_ns, sum.total);
    }
    std::stable_sort(section.rows.begin(), section.rows.end(), [](const SummaryRow& a, const SummaryRow& b) {
      return a.total_ns != b.total_ns ? a.total_ns > b.total_ns : a.calls > b.calls;
    });
    return section;
  }

 private:
  struct Sum {
    uint64_t calls = 0, failed = 0;
    int64_t total = 0, least = INT64_MAX, most = 0;
    double squares = 0;
    std::vector<int64_t> all;
    void add(int64_t ns, bool keep) {
      ++calls;
      grow(total, ns);
      least = std::min(least, ns);
      most = std::max(most, ns);
      squares += static_cast<double>(ns) * static_cast<double>(ns);
      if (keep) all.push_back(ns);
    }
    void join(Sum&& other) {
      calls += other.calls;
      failed += other.failed;
      squares += other.squares;
      grow(total, other.total);
      least = std::min(least, other.least);
      most = std::max(most, other.most);
      all.insert(all.end(), other.all.begin(), other.all.end());
    }
    SummaryRow row(const std::string& name) {
      SummaryRow row{name, calls, failed, total, least, most, 0, 0};
      if (calls > 1) {
        const double n = static_cast<double>(calls), sum = static_cast<double>(total);
        row.stddev_ns = std::sqrt(std::max(0.0, (squares - sum * sum / n) / (n - 1)));
      }
      if (!all.empty()) {
        const size_t middle = all.size() / 2;
        std::nth_element(all.begin(), all.begin() + static_cast<ptrdiff_t>(middle), all.end());
        row.median_ns = all[middle];
        if (all.size() % 2 == 0) {
          const auto below = std::max_element(all.begin(), all.begin() + static_cast<ptrdiff_t>(middle));
          row.median_ns = std::midpoint(*below, row.median_ns);
        }
      }
      return row;
    }
  };

  bool keep_all_;
  std::unordered_map<uint64_t, Sum> sums_;
  uint64_t last_key_ = 0;
  Sum* last_ = nullptr;
};

// Cells of calls, total and half width. The cells are empty without an estimate.
void add_estimate(Table::Row& row, const Extrapolated* estimate) {
  if (estimate == nullptr) {
    row.empty().empty().empty();
    return;
  }
  row.add(whole_ns(estimate->operations)).add(whole_ns(estimate->total));
  if (estimate->half < 0) {
    row.empty();
  } else {
    row.add(whole_ns(estimate->half));
  }
}

std::string gpu_name(const KernelNames& names, uint64_t key, NameForm form) {
  return std::string(name_of_key(names, key, form));
}

// The section of a stream's operations: device, context, stream, which is also the order of sections. Components that
// are not separated are 0.
using SectionKey = std::tuple<uint32_t, uint32_t, uint32_t>;
SectionKey section_key(const Trace& trace, const Stream& stream, GroupBy group) {
  if (group == GroupBy::Process) return {};
  const uint32_t device = trace.device(stream.device).ordinal;
  return group == GroupBy::Device ? SectionKey{device, 0, 0} : SectionKey{device, stream.context, stream.number};
}

SectionLabel section_label(const Trace& trace, const Stream& stream, GroupBy group) {
  SectionLabel label;
  if (group == GroupBy::Process) return label;
  const Device& device = trace.device(stream.device);
  label.device = fmt::format("{} ({})", device.name, device.ordinal);
  if (group == GroupBy::Device) return label;
  label.stream = fmt::format("Context {}, Stream {}", stream.context, stream.number);
  if (index(stream.name) != 0) label.stream += fmt::format(" ({})", trace.text(stream.name));
  return label;
}

std::vector<SummarySection> gpu_sections(const Trace& trace, const KernelNames& names, ProcessId process,
                                         const SummaryOptions& options) {
  std::map<SectionKey, std::pair<NamedSums, SectionLabel>> groups;
  for (const Stream& stream : trace.streams) {
    if (stream.operations.size() == 0) continue;
    if (trace.device(stream.device).process != process) continue;
    auto& [sums, label] =
        groups.try_emplace(section_key(trace, stream, options.group), NamedSums(options), SectionLabel{}).first->second;
    label = section_label(trace, stream, options.group);
    for (uint32_t row = stream.operations.first; row < stream.operations.last; ++row) {
      const GpuOperation& operation = trace.operations[row];
      sums.add(operation_name_key(names, operation), operation.duration_ns());
    }
  }
  std::vector<SummarySection> sections;
  for (auto& [key, group] : groups) {
    SummarySection section =
        group.first.section(SummarySection::Gpu, [&](uint64_t k) { return gpu_name(names, k, options.names); });
    section.of = group.second;
    sections.push_back(std::move(section));
  }
  if (sections.empty()) sections.emplace_back();
  return sections;
}

}  // namespace

std::vector<SummarySection> summarize(const Trace& trace, const KernelNames& names, ProcessId process,
                                      const SummaryOptions& options) {
  std::vector<SummarySection> sections;
  if (options.gpu) sections = gpu_sections(trace, names, process, options);
  NamedSums calls(options), ranges(options);
  for (const Thread& thread : trace.threads) {
    if (thread.process != process) continue;
    for (uint32_t row = thread.host.first; options.api && row < thread.host.last; ++row) {
      const HostEvent& event = trace.host[row];
      calls.add(event.api(), event.duration_ns(), is_failure(event.result()));
    }
    for (uint32_t row = thread.ranges.first; options.nvtx && row < thread.ranges.last; ++row) {
      const Range& range = trace.ranges[row];
      if (range.kind != RangeKind::Overhead) ranges.add(index(range.label), range.end_ns - range.begin_ns);
    }
  }
  if (options.api) {
    sections.push_back(calls.section(SummarySection::Api, [&](uint64_t api) {
      return std::string(api == 0 ? "[unknown call]" : plain_api_name(trace.text(trace.apis[api])));
    }));
  }
  if (options.nvtx) {
    const Rows start_end = trace.processes[index(process)].start_end_ranges;
    for (uint32_t row = start_end.first; row < start_end.last; ++row) {
      ranges.add(index(trace.ranges[row].label), trace.ranges[row].end_ns - trace.ranges[row].begin_ns);
    }
    sections.push_back(ranges.section(SummarySection::Nvtx, [&](uint64_t label) {
      const Label& row = trace.labels[label];
      const std::string_view text = trace.text(row.text);
      return index(row.domain) == 0 ? std::string(text) : fmt::format("{}:{}", trace.text(row.domain), text);
    }));
  }
  return sections;
}

std::optional<ExtrapolatedSummary> extrapolate(const Trace& trace, const KernelNames& names, ProcessId process,
                                               const SummaryOptions& options) {
  if (!options.gpu || budget_of(trace.processes[index(process)]).empty()) return {};
  const Bursts bursts(trace);
  Extrapolation extrapolation(trace, bursts);
  uint64_t launches = 0, timed = 0;
  for (const Thread& thread : trace.threads) {
    if (thread.process != process) continue;
    for (uint32_t row = thread.host.first; row < thread.host.last; ++row) {
      extrapolation.launch(row, 0);
      launches += bursts.kind_of(row) == kNone ? 0 : 1;
      timed += bursts.burst_of(row) == kNone ? 0 : 1;
    }
  }
  if (launches == 0) return {};
  struct Section {
    SectionLabel label;
    std::map<std::string, uint32_t> groups;  // name -> number
  };
  std::map<SectionKey, Section> sections;
  uint32_t used = 0;
  for (const Stream& stream : trace.streams) {
    if (stream.operations.size() == 0 || trace.device(stream.device).process != process) continue;
    Section& section = sections[section_key(trace, stream, options.group)];
    section.label = section_label(trace, stream, options.group);
    std::unordered_map<uint64_t, uint32_t> group_of;
    for (uint32_t row = stream.operations.first; row < stream.operations.last; ++row) {
      const GpuOperation& operation = trace.operations[row];
      const auto [found, added] = group_of.try_emplace(operation_name_key(names, operation), 0);
      if (added) {
        const auto [group, fresh] = section.groups.try_emplace(gpu_name(names, found->first, options.names), used);
        used += fresh ? 1 : 0;
        found->second = group->second;
      }
      extrapolation.add(operation, 0, found->second, static_cast<double>(operation.duration_ns()));
    }
  }
  ExtrapolatedSummary summary{
      estimates_text(trace.processes[index(process)], timed, launches, bursts.count(process), extrapolation.not_met(0)),
      {}};
  for (const auto& [key, section] : sections) {
    ExtrapolatedSection of_section{section.label, {}, {}};
    std::vector<uint32_t> groups;
    for (const auto& [name, group] : section.groups) {
      groups.push_back(group);
      if (const Extrapolated estimate = extrapolation.of(group); estimate.known())
        of_section.rows.emplace_back(name, estimate);
    }
    of_section.all = extrapolation.of(groups);
    std::stable_sort(of_section.rows.begin(), of_section.rows.end(),
                     [](const auto& a, const auto& b) { return a.second.total > b.second.total; });
    if (!of_section.rows.empty()) summary.sections.push_back(std::move(of_section));
  }
  return summary;
}

Table summary_table(const Trace& trace, const KernelNames& names, const SummaryOptions& options) {
  Table table("summary", "Time by name");
  table.add_columns({ColumnId::nvprof_pid, ColumnId::nvprof_type});
  if (options.group != GroupBy::Process) table.add_column(ColumnId::nvprof_device);
  if (options.group == GroupBy::Stream) table.add_column(ColumnId::nvprof_stream);
  table.add_columns({ColumnId::nvprof_time_percent, ColumnId::nvprof_total_time, ColumnId::nvprof_calls,
                     ColumnId::nvprof_avg, ColumnId::nvprof_min, ColumnId::nvprof_max});
  if (options.median) table.add_column(ColumnId::nvprof_med);
  if (options.stddev) table.add_column(ColumnId::nvprof_stddev_ns);
  table.add_column(ColumnId::nvprof_failed);
  const bool estimated = options.gpu && std::any_of(trace.processes.begin(), trace.processes.end(),
                                                    [](const Process& process) { return !budget_of(process).empty(); });
  if (estimated) {
    table.add_columns(
        {ColumnId::nvprof_estimated_calls, ColumnId::nvprof_estimated_total, ColumnId::nvprof_estimated_half_width});
  }
  table.add_column(ColumnId::nvprof_name);
  constexpr std::string_view kTypes[] = {"GPU activities", "API calls", "NVTX ranges"};
  for (uint32_t p = 0; p < trace.processes.size(); ++p) {
    if (!options.has_process(p)) continue;
    using Key = std::tuple<std::string_view, std::string_view, std::string_view>;  // device, stream, name
    std::map<Key, Extrapolated> estimates;
    const std::optional<ExtrapolatedSummary> extrapolated = extrapolate(trace, names, ProcessId{p}, options);
    if (extrapolated.has_value()) {
      table.notes.push_back(extrapolated->text);
      for (const ExtrapolatedSection& section : extrapolated->sections) {
        for (const auto& [name, estimate] : section.rows)
          estimates.emplace(Key{section.of.device, section.of.stream, name}, estimate);
      }
    }
    for (const SummarySection& section : summarize(trace, names, ProcessId{p}, options)) {
      for (const SummaryRow& each : section.rows) {
        Table::Row row = table.row();
        row.add(trace.processes[p].pid).add(kTypes[section.kind]);
        if (options.group != GroupBy::Process) row.add(std::string_view(section.of.device));
        if (options.group == GroupBy::Stream) row.add(std::string_view(section.of.stream));
        const double total = static_cast<double>(section.total_ns);
        row.add(total > 0 ? 100 * static_cast<double>(each.total_ns) / total : 0.0);
        row.add(each.total_ns).add(each.calls).add(each.average_ns()).add(each.min_ns).add(each.max_ns);
        if (options.median) row.add(each.median_ns);
        if (options.stddev) row.add(each.stddev_ns);
        row.add_if(section.kind == SummarySection::Api, each.failed);
        if (estimated) {
          const auto found = section.kind == SummarySection::Gpu
                                 ? estimates.find(Key{section.of.device, section.of.stream, each.name})
                                 : estimates.end();
          add_estimate(row, found == estimates.end() ? nullptr : &found->second);
        }
        row.add(std::string_view(each.name));
      }
    }
  }
  table.coverage = coverage_line(trace);
  return table;
}

}  // namespace prof::analyzer
