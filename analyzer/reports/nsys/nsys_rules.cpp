// The rules of `nsys analyze`: gpu_gaps, gpu_time_util, cuda_api_sync, cuda_memcpy_async, cuda_memcpy_sync and
// cuda_memset_sync. Thresholds are nsys's: docs/reports/nsys.md.
#include "analyzer/base/saturated.h"
#include "analyzer/base/text_parts.h"
#include "analyzer/reports/nsys/nsys_tables.h"
#include "analyzer/reports/reports.h"

#include <algorithm>
#include <limits>

namespace prof::analyzer {

namespace {

constexpr size_t kRuleRowsInText = 50;

Table rule_table(const char* name, const char* title, const char* question) {
  Table table = nsys_table(name, title);
  table.notes.push_back(question);
  table.text_limit = kRuleRowsInText;
  return table;
}

void add_device_columns(Table& table) {
  table.add_columns({ColumnId::nsys_pid, ColumnId::nsys_device_id, ColumnId::nsys_context_id});
}

// Selected operations of each device, by start.
std::vector<std::vector<uint32_t>> operations_of_devices(const AnalysisInput& input) {
  std::vector<std::vector<uint32_t>> of_device(input.trace.devices.size());
  for (const uint32_t row : selected_operations(input, Order::Start))
    of_device[index(input.trace.stream(input.trace.operations[row].stream()).device)].push_back(row);
  return of_device;
}

}  // namespace

Table report_nsys_gpu_gaps(const AnalysisInput& input) {
  const Trace& trace = input.trace;
  constexpr int64_t kShortest = 500'000'000;
  Table table = rule_table("gpu_gaps", "GPU Gaps", "when was a GPU idle for 500ms or longer?");
  table.add_columns({ColumnId::nsys_row, ColumnId::nsys_duration, ColumnId::nsys_start});
  add_device_columns(table);
  struct IdleGap {
    int64_t start_ns, duration_ns;
    uint32_t device, context;
  };
  std::vector<IdleGap> gaps;
  const std::vector<std::vector<uint32_t>> operations = operations_of_devices(input);
  for (uint32_t d = 0; d < trace.devices.size(); ++d) {
    // The profiler's own overhead in the process counts as busy.
    std::vector<Interval> busy;
    for (const Range& range : trace.ranges) {
      if (range.kind == RangeKind::Overhead && trace.thread(range.thread).process == trace.devices[d].process)
        busy.push_back({range.begin_ns, range.end_ns});
    }
    const IntervalSet overhead(std::move(busy));
    int64_t end_ns = std::numeric_limits<int64_t>::min();
    for (const uint32_t row : operations[d]) {
      const GpuOperation& operation = trace.operations[row];
      if (end_ns != std::numeric_limits<int64_t>::min() && operation.start_ns - end_ns >= kShortest) {
        const IntervalSet idle = overhead.gaps(end_ns, operation.start_ns);
        for (const Interval& gap : idle.parts()) {
          if (gap.length_ns() >= kShortest)
            gaps.push_back({gap.begin_ns, gap.length_ns(), d, trace.stream(operation.stream()).context});
        }
      }
      end_ns = std::max(end_ns, operation.end_ns);
    }
  }
  const int64_t offset_ns = nsys_session_offset(trace);
  note_session_offset(table, offset_ns);
  std::stable_sort(gaps.begin(), gaps.end(),
                   [](const IdleGap& a, const IdleGap& b) { return a.duration_ns > b.duration_ns; });
  for (size_t i = 0; i < gaps.size(); ++i) {
    const Device& device = trace.devices[gaps[i].device];
    table.row()
        .add(uint64_t{i + 1})
        .add(gaps[i].duration_ns)
        .add(gaps[i].start_ns + offset_ns)
        .add(trace.processes[index(device.process)].pid)
        .add(device.ordinal)
        .add(gaps[i].context);
  }
  return table;
}

Table report_nsys_gpu_time_util(const AnalysisInput& input) {
  const Trace& trace = input.trace;
  constexpr int64_t kChunks = 30;
  constexpr double kLow = 50;
  Table table =
      rule_table("gpu_time_util", "GPU Time Utilization",
                 "which of 30 equal parts of a device's time were used for less than 50%? Sums: overlap counts twice");
  table.add_columns({ColumnId::nsys_row, ColumnId::nsys_in_use_percent, ColumnId::nsys_duration, ColumnId::nsys_start});
  add_device_columns(table);
  struct Chunk {
    double percent;
    int64_t start_ns, duration_ns;
    uint32_t device, context;
  };
  std::vector<Chunk> chunks;
  const std::vector<std::vector<uint32_t>> operations = operations_of_devices(input);
  for (uint32_t d = 0; d < trace.devices.size(); ++d) {
    if (operations[d].empty()) continue;
    const int64_t first_ns = trace.operations[operations[d].front()].start_ns;
    int64_t last_ns = first_ns;
    for (const uint32_t row : operations[d]) last_ns = std::max(last_ns, trace.operations[row].end_ns);
    const int64_t length_ns = last_ns - first_ns;
    if (length_ns < kChunks) continue;
    const auto begin_of = [&](int64_t chunk) {
      return first_ns + length_ns / kChunks * chunk + length_ns % kChunks * chunk / kChunks;
    };
    int64_t used_ns[kChunks] = {};
    int64_t started = 0;  // the chunk in which the next operation starts
    for (const uint32_t row : operations[d]) {
      const GpuOperation& operation = trace.operations[row];
      while (started < kChunks && begin_of(started + 1) <= operation.start_ns) ++started;
      for (int64_t chunk = started; chunk < kChunks && begin_of(chunk) < operation.end_ns; ++chunk) {
        const int64_t from = std::max(operation.start_ns, begin_of(chunk));
        const int64_t to = std::min(operation.end_ns, begin_of(chunk + 1));
        if (from < to) grow(used_ns[chunk], to - from);
      }
    }
    for (int64_t chunk = 0; chunk < kChunks; ++chunk) {
      const int64_t start_ns = begin_of(chunk), duration_ns = begin_of(chunk + 1) - start_ns;
      const double percent = 100 * static_cast<double>(used_ns[chunk]) / static_cast<double>(duration_ns);
      const uint32_t context = trace.stream(trace.operations[operations[d].front()].stream()).context;
      if (percent < kLow) chunks.push_back({percent, start_ns, duration_ns, d, context});
    }
  }
  const int64_t offset_ns = nsys_session_offset(trace);
  note_session_offset(table, offset_ns);
  std::stable_sort(chunks.begin(), chunks.end(), [](const Chunk& a, const Chunk& b) { return a.percent < b.percent; });
  for (size_t i = 0; i < chunks.size(); ++i) {
    const Device& device = trace.devices[chunks[i].device];
    table.row()
        .add(uint64_t{i + 1})
        .add(chunks[i].percent)
        .add(chunks[i].duration_ns)
        .add(chunks[i].start_ns + offset_ns)
        .add(trace.processes[index(device.process)].pid)
        .add(device.ordinal)
        .add(chunks[i].context);
  }
  return table;
}

Table report_nsys_cuda_api_sync(const AnalysisInput& input) {
  const Trace& trace = input.trace;
  Table table = rule_table("cuda_api_sync", "CUDA Synchronization APIs",
                           "which calls blocked the host until all work of a device, context or stream was done?");
  table.add_columns(
      {ColumnId::nsys_duration, ColumnId::nsys_start, ColumnId::nsys_pid, ColumnId::nsys_tid, ColumnId::nsys_api_name});
  constexpr std::string_view kBlocking[] = {"cudaDeviceSynchronize", "cudaThreadSynchronize", "cudaStreamSynchronize",
                                            "cuCtxSynchronize", "cuStreamSynchronize"};
  std::vector<bool> blocking;  // by HostEvent::api()
  for (const StringId api : trace.apis) {
    const std::string_view name = plain_api_name(trace.text(api));
    blocking.push_back(std::find(std::begin(kBlocking), std::end(kBlocking), name) != std::end(kBlocking));
  }
  std::vector<uint32_t> rows = selected_calls(input, Order::Start);
  std::erase_if(rows, [&](uint32_t row) { return !blocking[trace.host[row].api()]; });
  std::stable_sort(rows.begin(), rows.end(),
                   [&](uint32_t a, uint32_t b) { return trace.host[a].duration_ns() > trace.host[b].duration_ns(); });
  const int64_t offset_ns = nsys_session_offset(trace);
  note_session_offset(table, offset_ns);
  for (const uint32_t row : rows) {
    const HostEvent& event = trace.host[row];
    const Thread& thread = trace.thread(event.thread);
    table.row()
        .add(event.duration_ns())
        .add(event.begin_ns + offset_ns)
        .add(trace.processes[index(thread.process)].pid)
        .add(thread.tid)
        .add(trace.api_name(event));
  }
  return table;
}

namespace {

// A table of the memory operations for which `take` is true, longest first.
template <class Take> Table memory_rule(const AnalysisInput& input, Table table, GpuKind kind, Take take) {
  const Trace& trace = input.trace;
  table.add_columns({ColumnId::nsys_duration, ColumnId::nsys_start});
  if (kind == GpuKind::Copy) {
    table.add_columns({ColumnId::nsys_src_kind, ColumnId::nsys_dst_kind});
  } else {
    table.add_column(ColumnId::nsys_memory_kind);
  }
  table.add_columns({ColumnId::nsys_bytes_mb, ColumnId::nsys_pid, ColumnId::nsys_device_id, ColumnId::nsys_context_id,
                     ColumnId::nsys_green_context_id, ColumnId::nsys_stream_id, ColumnId::nsys_api_name});
  std::vector<uint32_t> rows = selected_operations(input, Order::Start);
  std::erase_if(rows, [&](uint32_t row) {
    const GpuOperation& operation = trace.operations[row];
    return operation.kind() != kind || !operation.linked() ||
           !take(operation, plain_api_name(trace.api_name(trace.host[operation.launch])));
  });
  std::stable_sort(rows.begin(), rows.end(), [&](uint32_t a, uint32_t b) {
    return trace.operations[a].duration_ns() > trace.operations[b].duration_ns();
  });
  const int64_t offset_ns = nsys_session_offset(trace);
  note_session_offset(table, offset_ns);
  for (const uint32_t at : rows) {
    const GpuOperation& operation = trace.operations[at];
    const Stream& stream = trace.stream(operation.stream());
    const Device& device = trace.device(stream.device);
    Table::Row row = table.row();
    row.add(operation.duration_ns()).add(operation.start_ns + offset_ns);
    if (kind == GpuKind::Copy) {
      row.add(memory_kind_name(operation.source_memory())).add(memory_kind_name(operation.destination_memory()));
    } else {
      row.add(memory_kind_name(operation.memory_kind()));
    }
    row.add(megabytes(operation.bytes)).add(trace.processes[index(device.process)].pid).add(device.ordinal);
    row.add(stream.context);
    row.add_if(stream.green_context != kNone, stream.green_context);
    row.add(stream.number).add(trace.api_name(trace.host[operation.launch]));
  }
  return table;
}

}  // namespace

Table report_nsys_cuda_memcpy_async(const AnalysisInput& input) {
  Table table = rule_table("cuda_memcpy_async", "CUDA Async Memcpy with Pageable Memory",
                           "which asynchronous copies blocked because their host memory is pageable?");
  constexpr uint32_t kPageable = 1;
  return memory_rule(input, std::move(table), GpuKind::Copy, [](const GpuOperation& copy, std::string_view api) {
    return has(api, "Async") && copy.touches_memory(kPageable);
  });
}

Table report_nsys_cuda_memcpy_sync(const AnalysisInput& input) {
  Table table =
      rule_table("cuda_memcpy_sync", "CUDA Synchronous Memcpy",
                 "which copies blocked the host? Not those from the host of 64 KiB or less, nor within a device");
  constexpr uint32_t kHostToDevice = 1, kDeviceToDevice = 8;
  constexpr uint64_t kStaged = 64 << 10;
  return memory_rule(input, std::move(table), GpuKind::Copy, [](const GpuOperation& copy, std::string_view api) {
    const uint32_t kind = copy.copy_kind();
    return has(api, "Memcpy") && !has(api, "Async") && kind != kDeviceToDevice &&
           (kind != kHostToDevice || copy.bytes > kStaged);
  });
}

Table report_nsys_cuda_memset_sync(const AnalysisInput& input) {
  Table table = rule_table("cuda_memset_sync", "CUDA Synchronous Memset", "which memsets were not asynchronous calls?");
  return memory_rule(input, std::move(table), GpuKind::Fill, [](const GpuOperation&, std::string_view api) {
    return has(api, "Memset") && !has(api, "Async");
  });
}

}  // namespace prof::analyzer
