// A model made by hand, row by row, for tests of analyses. Times are in ns. Rows are joined and nested like importers'
// rows. The first event should be at 0: finish() shifts all times so that it is.
#pragma once

#include "analyzer/analysis/analysis.h"
#include "analyzer/input/import.h"
#include "analyzer/reports/reports.h"
#include "analyzer/reports/run_report.h"

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

namespace prof::tests {

class HandTrace {
 public:
  analyzer::Trace trace;

  HandTrace() : mark_(trace), apis_(trace) {
    process(100);
    thread(0, 500);
    device(0, 0);
    stream(0, 7);
  }

  uint32_t process(uint32_t pid) {
    trace.processes.emplace_back().pid = pid;
    return static_cast<uint32_t>(trace.processes.size() - 1);
  }
  uint32_t thread(uint32_t process, uint32_t tid) {
    analyzer::Thread& row = trace.threads.emplace_back();
    row.process = analyzer::ProcessId{process}, row.tid = tid;
    return static_cast<uint32_t>(trace.threads.size() - 1);
  }
  uint32_t device(uint32_t process, uint32_t ordinal) {
    analyzer::Device& row = trace.devices.emplace_back();
    row.process = analyzer::ProcessId{process}, row.ordinal = ordinal;
    return static_cast<uint32_t>(trace.devices.size() - 1);
  }
  uint32_t stream(uint32_t device, uint32_t number) {
    analyzer::Stream& row = trace.streams.emplace_back();
    row.device = analyzer::DeviceId{device}, row.context = 1, row.number = number;
    return static_cast<uint32_t>(trace.streams.size() - 1);
  }

  void call(std::string_view api, int64_t begin, int64_t end, uint32_t correlation = 0, uint32_t thread = 0,
            uint64_t subject = 0) {
    analyzer::HostEvent row;
    row.begin_ns = begin, row.end_ns = end, row.thread = analyzer::ThreadId{thread}, row.correlation = correlation;
    row.subject = subject;
    row.word = analyzer::HostEvent::pack(apis_.intern(api), analyzer::call_kind(api), 0, 0);
    trace.host.push_back(row);
  }
  void launch(int64_t begin, int64_t end, uint32_t correlation, uint32_t thread = 0) {
    call("cudaLaunchKernel", begin, end, correlation, thread);
  }
  void kernel(int64_t start, int64_t end, uint32_t correlation, uint32_t stream = 0, std::string_view name = "kernel") {
    analyzer::GpuOperation row = operation(start, end, correlation, stream);
    row.detail = kernel_id(name);
    trace.operations.push_back(row);
  }
  // kind: CUPTI's copy kind | source memory kind << 8 | destination memory kind << 16.
  void copy(int64_t start, int64_t end, uint32_t correlation, uint64_t bytes, uint32_t kind, uint32_t stream = 0) {
    analyzer::GpuOperation row = operation(start, end, correlation, stream);
    row.kind_bits = static_cast<uint32_t>(analyzer::GpuKind::Copy);
    row.bytes = bytes & 0xffffffffffff, row.detail = kind;
    trace.operations.push_back(row);
  }
  void fill(int64_t start, int64_t end, uint32_t correlation, uint64_t bytes, uint32_t stream = 0) {
    analyzer::GpuOperation row = operation(start, end, correlation, stream);
    row.kind_bits = static_cast<uint32_t>(analyzer::GpuKind::Fill);
    row.bytes = bytes & 0xffffffffffff, row.detail = 3;
    trace.operations.push_back(row);
  }
  void range(std::string_view name, int64_t begin, int64_t end,
             analyzer::RangeKind kind = analyzer::RangeKind::Operator, uint32_t thread = 0) {
    analyzer::Range row;
    row.begin_ns = begin, row.end_ns = end, row.thread = analyzer::ThreadId{thread}, row.kind = kind;
    row.label = analyzer::LabelId{static_cast<uint32_t>(trace.labels.size())};
    trace.labels.emplace_back().text = trace.strings.intern(name);
    trace.ranges.push_back(row);
  }
  void sync(analyzer::SyncKind kind, int64_t begin, int64_t end, uint32_t correlation, uint32_t stream,
            uint32_t waits_for = analyzer::kNone) {
    analyzer::SyncEvent row;
    row.begin_ns = begin, row.end_ns = end, row.correlation = correlation, row.kind = kind;
    row.stream = stream, row.waits_for = waits_for;
    trace.syncs.push_back(row);
  }
  void memory(int64_t time, int64_t bytes, uint64_t address, uint32_t device = 0, uint32_t thread = 0) {
    analyzer::MemoryEvent row;
    row.time_ns = time, row.bytes = bytes, row.address = address, row.device = device;
    row.thread = analyzer::ThreadId{thread};
    trace.memory.push_back(row);
  }

  analyzer::Trace& finish() {
    analyzer::finish_import(trace, mark_, 0);
    return trace;
  }

  // The table of a report on this model.
  analyzer::Table report(analyzer::Table (*run)(const analyzer::AnalysisInput&)) {
    if (views_ == nullptr) views_ = std::make_unique<analyzer::Views>(trace);
    analyzer::Table table = run({trace, *views_, selection, options});
    table.store();
    analyzer::name_owners(trace, analyzer::OwnersShown::WhenSeveral, table);
    return table;
  }
  analyzer::Views& views() {
    if (views_ == nullptr) views_ = std::make_unique<analyzer::Views>(trace);
    return *views_;
  }

  analyzer::Selection selection;
  analyzer::ReportOptions options;

 private:
  static analyzer::GpuOperation operation(int64_t start, int64_t end, uint32_t correlation, uint32_t stream) {
    analyzer::GpuOperation row;
    row.start_ns = start, row.end_ns = end, row.correlation = correlation;
    row.stream_index = stream & ((1u << 29) - 1);
    return row;
  }
  uint32_t kernel_id(std::string_view name) {
    const analyzer::StringId id = trace.strings.intern(name);
    for (uint32_t k = 1; k < trace.kernels.size(); ++k) {
      if (trace.kernels[k].name == id) return k;
    }
    trace.kernels.emplace_back().name = id;
    return static_cast<uint32_t>(trace.kernels.size() - 1);
  }

  analyzer::ImportMark mark_;
  analyzer::ApiNames apis_;
  std::unique_ptr<analyzer::Views> views_;
};

// The table as CSV with times in ns, which tests compare.
inline std::string cell_text(const analyzer::Table& table, size_t row, std::string_view key) {
  for (const analyzer::TableColumn& column : table.columns()) {
    if (column.key != key) continue;
    if (row >= column.cells.size()) return "no such row";
    const int64_t cell = column.cells[row];
    if (cell == analyzer::kEmptyCell) return "";
    if (column.type == analyzer::CellType::Text) return std::string(table.text(cell));
    if (!analyzer::is_real(column.type)) return std::to_string(cell);
    char text[64];
    if (column.type == analyzer::CellType::Real) {
      std::snprintf(text, sizeof text, "%.*f", column.decimals, analyzer::Table::real(cell));
    } else {
      std::snprintf(text, sizeof text, "%.12g", analyzer::Table::real(cell));
    }
    return text;
  }
  return "no such column";
}

// "a | b | c": the cells of one row with these keys.
inline std::string row_text(const analyzer::Table& table, size_t row, std::initializer_list<std::string_view> keys) {
  std::string text;
  for (const std::string_view key : keys)
    text += (text.empty() && key == *keys.begin() ? "" : " | ") + cell_text(table, row, key);
  return text;
}

}  // namespace prof::tests
