// um_sum, um_total_sum and um_cpu_page_faults_sum: managed memory in nsys's columns. Definitions: docs/reports/nsys.md.
#include "analyzer/base/saturated.h"
#include "analyzer/model/unified_memory_text.h"
#include "analyzer/reports/nsys/nsys_tables.h"
#include "analyzer/reports/reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace prof::analyzer {

namespace {

struct UnifiedSum {
  uint64_t to_device = 0, to_host = 0, cpu_faults = 0, gpu_faults = 0;
  int64_t time_ns = 0;
  void add(const UnifiedMemoryEvent& event) {
    switch (event.what) {
      case UnifiedWhat::ToDevice: to_device += event.value; break;
      case UnifiedWhat::ToHost: to_host += event.value; break;
      case UnifiedWhat::CpuFault: ++cpu_faults; break;
      case UnifiedWhat::GpuFaults: gpu_faults += event.value; break;
      default: return;
    }
    if (event.moves()) grow(time_ns, std::max<int64_t>(event.end_ns - event.start_ns, 0));
  }
};

std::string address_text(uint64_t address) { return fmt::format("0x{:x}", address); }

template <class Visit> void each_selected(const AnalysisInput& input, Table& table, Visit&& visit) {
  const std::vector<UnifiedMemoryEvent> events = managed_memory_events(input.trace);
  for (const UnifiedMemoryEvent& event : events) {
    if (input.selection.has_unified(event)) visit(event);
  }
  if (events.empty()) table.notes.emplace_back(no_managed_memory_text(input.trace));
  if (std::any_of(events.begin(), events.end(), [](const UnifiedMemoryEvent& event) { return event.address == 0; }))
    table.notes.emplace_back("the input does not have the addresses of migrations: their cells are empty");
}

}  // namespace

Table report_nsys_um_sum(const AnalysisInput& input) {
  Table table = nsys_table("um_sum", "Unified Memory Analysis Summary");
  table.add_columns({ColumnId::nsys_virtual_address, ColumnId::nsys_htod_mb, ColumnId::nsys_dtoh_mb,
                     ColumnId::nsys_cpu_page_faults, ColumnId::nsys_gpu_page_faults,
                     ColumnId::nsys_migration_mb_per_s});
  std::map<uint64_t, UnifiedSum> sums;
  each_selected(input, table, [&](const UnifiedMemoryEvent& event) { sums[event.address].add(event); });
  std::vector<std::pair<uint64_t, UnifiedSum>> rows(sums.begin(), sums.end());
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return a.second.to_device + a.second.to_host > b.second.to_device + b.second.to_host;
  });
  for (const auto& [address, sum] : rows) {
    Table::Row row = table.row();
    if (address != 0) {
      row.add(std::string_view(address_text(address)));
    } else {
      row.empty();
    }
    row.add(megabytes(sum.to_device)).add(megabytes(sum.to_host));
    row.add(sum.cpu_faults).add(sum.gpu_faults);
    if (sum.time_ns > 0) {
      row.add(megabytes(sum.to_device + sum.to_host) * 1e9 / static_cast<double>(sum.time_ns));
    } else {
      row.empty();
    }
  }
  return table;
}

Table report_nsys_um_total_sum(const AnalysisInput& input) {
  Table table = nsys_table("um_total_sum", "Unified Memory Totals Summary");
  table.add_columns({ColumnId::nsys_total_htod_mb, ColumnId::nsys_total_dtoh_mb, ColumnId::nsys_total_cpu_page_faults,
                     ColumnId::nsys_total_gpu_page_faults, ColumnId::nsys_minimum_virtual_address,
                     ColumnId::nsys_maximum_virtual_address});
  UnifiedSum all;
  bool any = false;
  uint64_t lowest = UINT64_MAX, highest = 0;
  each_selected(input, table, [&](const UnifiedMemoryEvent& event) {
    all.add(event);
    any = true;
    if (event.address == 0) return;
    lowest = std::min(lowest, event.address);
    highest = std::max(highest, event.address);
  });
  if (!any) return table;
  Table::Row row = table.row();
  row.add(megabytes(all.to_device)).add(megabytes(all.to_host)).add(all.cpu_faults).add(all.gpu_faults);
  if (lowest <= highest) row.add(std::string_view(address_text(lowest))).add(std::string_view(address_text(highest)));
  return table;
}

Table report_nsys_um_cpu_page_faults_sum(const AnalysisInput& input) {
  Table table = nsys_table("um_cpu_page_faults_sum", "Unified Memory CPU Page Faults Summary");
  table.add_columns({ColumnId::nsys_cpu_page_faults, ColumnId::nsys_address});
  std::map<uint64_t, uint64_t> faults;
  each_selected(input, table, [&](const UnifiedMemoryEvent& event) {
    if (event.what == UnifiedWhat::CpuFault) ++faults[event.address];
  });
  std::vector<std::pair<uint64_t, uint64_t>> rows(faults.begin(), faults.end());
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  for (const auto& [address, count] : rows) table.row().add(count).add(std::string_view(address_text(address)));
  return table;
}

}  // namespace prof::analyzer
