#include "analyzer/input/sqlite/activity_rows.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <numeric>

namespace prof::analyzer {

namespace {

// Rows of the table have a time: they are events.
bool has_times(const SqliteFile& file, std::string_view table) {
  constexpr std::string_view kNames[] = {"start", "end",     "timestamp", "rawTimestamp", "begin",
                                         "time",  "startNs", "endNs",     "start_ns",     "ts"};
  return std::any_of(std::begin(kNames), std::end(kNames),
                     [&](std::string_view name) { return file.has_column(table, name); });
}

template <class T> uint32_t length(const T& table) { return static_cast<uint32_t>(table.size()); }

template <class T> void append(std::string& key, T value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// The new position of each of `rows` rows from `first` on after sorting: entry i is that of old row `first + i`.
template <class Less> std::vector<uint32_t> new_places(uint32_t first, uint32_t rows, Less less) {
  std::vector<uint32_t> order(rows), places(rows);
  std::iota(order.begin(), order.end(), first);
  std::stable_sort(order.begin(), order.end(), less);
  for (uint32_t i = 0; i < rows; ++i) places[order[i] - first] = first + i;
  return places;
}

template <class T> void move_rows(std::vector<T>& rows, uint32_t first, const std::vector<uint32_t>& places) {
  std::vector<T> moved(places.size());
  for (uint32_t i = 0; i < places.size(); ++i) moved[places[i] - first] = std::move(rows[first + i]);
  std::move(moved.begin(), moved.end(), rows.begin() + first);
}

}  // namespace

ProcessId ActivityRows::process(uint64_t key, uint32_t pid) {
  const auto [found, added] = processes_.try_emplace(key, ProcessId{length(trace_.processes)});
  if (added) {
    trace_.processes.emplace_back().pid = pid;
  }
  return found->second;
}

ThreadId ActivityRows::thread(ProcessId process, uint32_t tid) {
  const auto [found, added] = threads_.try_emplace({index(process), tid}, ThreadId{length(trace_.threads)});
  if (added) {
    Thread& thread = trace_.threads.emplace_back();
    thread.process = process;
    thread.tid = tid;
  }
  return found->second;
}

DeviceId ActivityRows::device(ProcessId process, uint32_t ordinal) {
  const auto [found, added] = devices_.try_emplace({index(process), ordinal}, DeviceId{length(trace_.devices)});
  if (added) {
    Device& device = trace_.devices.emplace_back();
    device.process = process;
    device.ordinal = ordinal;
  }
  return found->second;
}

StreamId ActivityRows::stream(ProcessId process, uint32_t ordinal, uint32_t context, uint32_t number,
                              uint32_t green_context) {
  const DeviceId of = device(process, ordinal);
  const auto [found, added] =
      streams_.try_emplace({index(of), context, green_context, number}, StreamId{length(trace_.streams)});
  if (added) {
    Stream& stream = trace_.streams.emplace_back();
    stream.device = of;
    stream.context = context;
    stream.number = number;
    stream.green_context = green_context;
    ordinals_.try_emplace({index(process), context}, ordinal);
  }
  return found->second;
}

StreamId ActivityRows::stream_of_context(ProcessId process, uint32_t ordinal, uint32_t context, uint32_t number,
                                         uint32_t green_context) {
  const auto known = ordinals_.find({index(process), context});
  return stream(process, known != ordinals_.end() ? known->second : ordinal, context, number, green_context);
}

KernelId ActivityRows::kernel(const Kernel& kernel) {
  const std::vector<uint32_t> key{static_cast<uint32_t>(kernel.name),
                                  static_cast<uint32_t>(kernel.demangled),
                                  kernel.grid[0],
                                  kernel.grid[1],
                                  kernel.grid[2],
                                  kernel.block[0],
                                  kernel.block[1],
                                  kernel.block[2],
                                  kernel.registers,
                                  kernel.static_shared_bytes,
                                  kernel.dynamic_shared_bytes,
                                  kernel.local_bytes,
                                  kernel.launch_type};
  const auto [found, added] = kernels_.try_emplace(key, KernelId{length(trace_.kernels)});
  if (added) trace_.kernels.push_back(kernel);
  return found->second;
}

LabelId ActivityRows::label(const Label& label) {
  std::string key;
  append(key, label.domain);
  append(key, label.text);
  append(key, label.category);
  append(key, label.has_color);
  append(key, label.color);
  const auto [found, added] = labels_.try_emplace(std::move(key), LabelId{length(trace_.labels)});
  if (added) trace_.labels.push_back(label);
  return found->second;
}

bool ActivityRows::good_span(SqliteRows& rows, std::optional<int64_t> begin_ns, std::optional<int64_t> end_ns,
                             Reversed reversed) {
  // 73 years and 104 days: sums and differences of the remaining times fit 64 bits.
  constexpr int64_t kFarthest = int64_t{1} << 61, kLongest = int64_t{1} << 53;
  if (!begin_ns) {
    rows.set_aside("its begin is no number");
    return false;
  }
  const int64_t end = end_ns.value_or(*begin_ns);
  if (*begin_ns < -kFarthest || *begin_ns > kFarthest || end < -kFarthest || end > kFarthest ||
      end - *begin_ns > kLongest || *begin_ns - end > kLongest) {
    rows.set_aside("its time is out of range");
    return false;
  }
  if (end < *begin_ns && reversed == Reversed::SetAside) {
    rows.set_aside("it ends before it begins");
    return false;
  }
  return true;
}

bool ActivityRows::read_times(SqliteRows& rows, size_t start_column, size_t end_column, GpuKind kind,
                              GpuOperation& operation) {
  const std::optional<int64_t> start = rows.wanted(start_column), end = rows.wanted(end_column);
  if (!good_span(rows, start, end, Reversed::Keep)) return false;
  if (!end) {
    rows.set_aside("its end is no number");
    return false;
  }
  operation.start_ns = *start;
  operation.end_ns = *end;
  operation.set_kind(kind);
  return true;
}

bool ActivityRows::read_call(SqliteRows& rows, size_t begin_column, size_t end_column, HostEvent& event) {
  const std::optional<int64_t> begin = rows.wanted(begin_column), end = rows.integer(end_column);
  if (!good_span(rows, begin, end, Reversed::SetAside)) return false;
  event.begin_ns = *begin;
  event.end_ns = end.value_or(*begin);
  event.word = HostEvent::pack(0, HostKind::Call, end ? 0 : kHostUnfinished, 0);
  return true;
}

uint64_t ActivityRows::bytes(SqliteRows& rows, size_t column) {
  constexpr auto kMost = static_cast<int64_t>(GpuOperation::kMostBytes);
  return static_cast<uint64_t>(std::clamp<int64_t>(rows.integer_or(column, 0), 0, kMost));
}

void ActivityRows::read_peers(SqliteRows& rows, size_t column, GpuOperation& operation) {
  const uint32_t source = rows.number(column, kNone), destination = rows.number(column + 1, kNone);
  operation.set_peers(source < 255 ? source + 1 : 0, destination < 255 ? destination + 1 : 0);
}

void ActivityRows::read_shape(SqliteRows& rows, size_t column, Kernel& kernel) {
  for (size_t i = 0; i < 3; ++i) {
    kernel.grid[i] = rows.number(column + i);
    kernel.block[i] = rows.number(column + 3 + i);
  }
  kernel.registers = rows.number(column + 6);
  kernel.static_shared_bytes = rows.number(column + 7);
  kernel.dynamic_shared_bytes = rows.number(column + 8);
  kernel.local_bytes = rows.number(column + 9);
}

void ActivityRows::add(Range range, std::optional<int64_t> end_ns) {
  range.end_ns = end_ns.value_or(range.begin_ns);
  range.unfinished = !end_ns;
  seen(range.thread, range.end_ns);
  if (range.style == RangeStyle::Mark) {
    range.unfinished = false;
    trace_.marks.push_back(range);
    return;
  }
  if (range.unfinished) open_.push_back(length(trace_.ranges));
  trace_.ranges.push_back(range);
}

ProcessId ActivityRows::process_of(uint32_t correlation) {
  const ProcessId first{mark_.processes};
  if (trace_.processes.size() == mark_.processes + 1) return first;
  if (callers_.empty()) {
    for (uint32_t row = mark_.host; row < trace_.host.size(); ++row) {
      const HostEvent& event = trace_.host[row];
      const uint32_t caller = index(trace_.thread(event.thread).process);
      const auto [found, added] = callers_.try_emplace(event.correlation, caller);
      if (!added && found->second != caller) found->second = kNone;
    }
  }
  const auto caller = callers_.find(correlation);
  if (correlation != 0 && caller != callers_.end() && caller->second != kNone) return ProcessId{caller->second};
  if (trace_.processes.size() != mark_.processes) ++without_process_;
  return process(UINT64_MAX, 0);
}

void ActivityRows::note_unread(const SqliteFile& file, std::span<const std::string_view> read,
                               std::span<const std::string_view> known) {
  std::string left, unknown;
  for (const std::string& table : file.tables()) {
    const std::string_view base = SqliteFile::name_and_version(table).first;
    const bool is_read = std::find(read.begin(), read.end(), base) != read.end();
    if (is_read ? file.versioned(base) == table : !has_times(file, table)) continue;
    if (!file.has_rows(table)) continue;
    const bool is_known = !is_read && std::any_of(known.begin(), known.end(), [&](std::string_view each) {
      return each.ends_with('*') ? table.starts_with(each.substr(0, each.size() - 1)) : each == base;
    });
    std::string& list = is_known ? left : unknown;
    list += (list.empty() ? "" : ", ") + table;
  }
  if (!left.empty()) fact("tables not read", left);
  if (!unknown.empty()) partial_.push_back("tables with events that are not known here, not read: " + unknown);
}

void ActivityRows::note_problems(const SqliteRows& rows) {
  rows_lost_ += rows.rows_lost();
  for (std::string& line : rows.problems()) problems_.push_back(std::move(line));
}

void ActivityRows::seen(ThreadId thread, int64_t time_ns) {
  const size_t row = index(thread) - mark_.threads;
  if (row >= last_ns_.size()) last_ns_.resize(trace_.threads.size() - mark_.threads, INT64_MIN);
  last_ns_[row] = std::max(last_ns_[row], time_ns);
}

void ActivityRows::sort_streams() {
  const std::vector<uint32_t> devices =
      new_places(mark_.devices, length(trace_.devices) - mark_.devices, [&](uint32_t a, uint32_t b) {
        const Device &x = trace_.devices[a], &y = trace_.devices[b];
        return std::tuple(index(x.process), x.ordinal) < std::tuple(index(y.process), y.ordinal);
      });
  move_rows(trace_.devices, mark_.devices, devices);
  for (uint32_t s = mark_.streams; s < trace_.streams.size(); ++s) {
    DeviceId& device = trace_.streams[s].device;
    device = DeviceId{devices[index(device) - mark_.devices]};
  }
  const std::vector<uint32_t> streams =
      new_places(mark_.streams, length(trace_.streams) - mark_.streams, [&](uint32_t a, uint32_t b) {
        const Stream &x = trace_.streams[a], &y = trace_.streams[b];
        return std::tuple(index(x.device), x.context, x.number, x.green_context) <
               std::tuple(index(y.device), y.context, y.number, y.green_context);
      });
  move_rows(trace_.streams, mark_.streams, streams);
  const auto moved = [&](uint32_t row) { return row == kNone ? kNone : streams[row - mark_.streams]; };
  for (uint32_t row = mark_.operations; row < trace_.operations.size(); ++row) {
    GpuOperation& operation = trace_.operations[row];
    operation.set_stream(moved(operation.stream_index));
  }
  for (uint32_t row = mark_.syncs; row < trace_.syncs.size(); ++row) {
    SyncEvent& sync = trace_.syncs[row];
    sync.stream = moved(sync.stream);
    sync.waits_for = moved(sync.waits_for);
  }
}

void ActivityRows::finish(const std::string& path, std::optional<int64_t> zero_realtime_ns) {
  if (processes_.empty()) {
    process(0, 0);
    fact("contents", "no CUDA calls, GPU work or NVTX ranges");
  }
  for (const uint32_t row : open_) {
    Range& range = trace_.ranges[row];
    range.end_ns = std::max(range.begin_ns, last_ns_[index(range.thread) - mark_.threads]);
  }
  if (without_process_ != 0)
    note_problem(fmt::format("{} rows of GPU work do not say of which process they are", without_process_));
  for (const char* const kind : {"-wal", "-journal"}) {
    struct stat info {};
    if (stat((path + kind).c_str(), &info) == 0 && info.st_size > 0)
      note_problem(fmt::format("{}{} has changes that are not in the file yet: they are not read", path, kind));
  }
  sort_streams();
  int64_t zero = zero_realtime_ns.value_or(0);
  if (!zero_realtime_ns && mark_.processes != 0) {
    zero = static_cast<int64_t>(trace_.start_realtime_ns);
    problems_.push_back(
        "it does not say when it was recorded: its times are counted from the first moment of the other inputs");
  }
  for (std::string& problem : problems_)
    trace_.processes[mark_.processes].damage.push_back(fmt::format("{}: {}", path, problem));
  for (const std::string& what : partial_) trace_.processes[mark_.processes].partial.push_back(what);
  trace_.processes[mark_.processes].damage_lost = rows_lost_;
  for (uint32_t p = mark_.processes; p < trace_.processes.size(); ++p)
    trace_.processes[p].facts.insert(trace_.processes[p].facts.end(), facts_.begin(), facts_.end());
  finish_import(trace_, mark_, zero);
}

}  // namespace prof::analyzer
