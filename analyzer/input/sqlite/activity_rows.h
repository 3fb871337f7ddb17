// What do the databases of nsys and nvprof share? Rows of CUPTI's activities, whose processes, threads, devices and
// streams are known only from the rows themselves. The class assigns ids on first use, keeps times out of range out of
// the model, and finishes the import.
#pragma once

#include "analyzer/input/import.h"
#include "analyzer/input/sqlite/sqlite_reader.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace prof::analyzer {

// CUPTI's value for "no number" of streams and events.
inline constexpr uint32_t kNoNumber = UINT32_MAX;

class ActivityRows {
 public:
  explicit ActivityRows(Trace& trace) : trace_(trace), mark_(trace), apis_(trace) {}

  // `key` distinguishes the processes of one file.
  ProcessId process(uint64_t key, uint32_t pid);
  template <class Take> void for_each_process(const Take& take) const {
    for (const auto& [key, id] : processes_) take(key, id);
  }
  ThreadId thread(ProcessId process, uint32_t tid);
  DeviceId device(ProcessId process, uint32_t ordinal);
  StreamId stream(ProcessId process, uint32_t ordinal, uint32_t context, uint32_t number,
                  uint32_t green_context = kNone);
  // For records whose device is unreliable (synchronisations): uses the device of the context, if GPU operations have
  // shown it.
  StreamId stream_of_context(ProcessId process, uint32_t ordinal, uint32_t context, uint32_t number,
                             uint32_t green_context);
  KernelId kernel(const Kernel& kernel);
  LabelId label(const Label& label);
  uint32_t api(std::string_view name) { return apis_.intern(name); }
  StringId text(std::string_view text) { return trace_.strings.intern(text); }
  const ImportMark& mark() const { return mark_; }
  Trace& trace() { return trace_; }

  // Skips the row and counts the reason if it has no start, or if a time is impossible. `end` may be missing only if a
  // range is still open.
  enum class Reversed { Keep, SetAside };
  bool good_span(SqliteRows& rows, std::optional<int64_t> begin_ns, std::optional<int64_t> end_ns, Reversed reversed);

  // Reads columns that both formats have, in a known order. False: the row is skipped.
  bool read_times(SqliteRows& rows, size_t start_column, size_t end_column, GpuKind kind, GpuOperation& operation);
  // Start and end; sets kHostUnfinished if there is no end.
  bool read_call(SqliteRows& rows, size_t begin_column, size_t end_column, HostEvent& event);
  static uint64_t bytes(SqliteRows& rows, size_t column);  // limited to the range of GpuOperation::bytes
  // Devices of a peer copy: the source and, in the next column, the destination.
  static void read_peers(SqliteRows& rows, size_t column, GpuOperation& operation);
  // gridX … Z, blockX … Z, registers, static, dynamic and local bytes.
  static void read_shape(SqliteRows& rows, size_t column, Kernel& kernel);

  void add(const HostEvent& event) {
    trace_.host.push_back(event);
    seen(event.thread, event.end_ns);
  }
  void add(const GpuOperation& operation) { trace_.operations.push_back(operation); }
  // A range without an end ends with the last call, range or mark of its thread.
  void add(Range range, std::optional<int64_t> end_ns);
  void add(const SyncEvent& sync) { trace_.syncs.push_back(sync); }

  // The process of a GPU operation without one: the only process, else the only one that has a call with that
  // correlation id. Otherwise a process without a number is used, and the operation is counted. Calls must have been
  // read before.
  ProcessId process_of(uint32_t correlation);

  // Tables with events that have rows and are not in the list `read`: a fact for those in the list `known` ("OSRT_*" is
  // a pattern); all others are in Process::partial. So is a version of a table of `read` that is not read.
  void note_unread(const SqliteFile& file, std::span<const std::string_view> read,
                   std::span<const std::string_view> known);
  void note_problems(const SqliteRows& rows);
  void note_problem(std::string problem) { problems_.push_back(std::move(problem)); }
  // Adds a fact to every process of the file.
  void fact(std::string key, std::string value) { facts_.emplace_back(std::move(key), std::move(value)); }

  // Orders devices and streams by their numbers, closes open ranges, adds problems to the first process, and calls
  // finish_import(). `zero_realtime_ns` empty: the file does not have the time of day.
  void finish(const std::string& path, std::optional<int64_t> zero_realtime_ns);

 private:
  void seen(ThreadId thread, int64_t time_ns);
  void sort_streams();

  Trace& trace_;
  ImportMark mark_;
  ApiNames apis_;
  std::map<uint64_t, ProcessId> processes_;
  std::map<std::pair<uint32_t, uint32_t>, ThreadId> threads_;                       // process, tid
  std::map<std::pair<uint32_t, uint32_t>, DeviceId> devices_;                       // process, ordinal
  std::map<std::tuple<uint32_t, uint32_t, uint32_t, uint32_t>, StreamId> streams_;  // device, context, green, number
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> ordinals_;                      // process, context -> device
  std::map<std::vector<uint32_t>, KernelId> kernels_;
  std::unordered_map<std::string, LabelId> labels_;
  std::vector<int64_t> last_ns_;                    // of each new thread: its last call, range or mark
  std::vector<uint32_t> open_;                      // rows of Trace::ranges
  std::unordered_map<uint32_t, uint32_t> callers_;  // correlation -> process; kNone: several
  uint64_t without_process_ = 0;
  uint64_t rows_lost_ = 0;
  std::vector<std::string> problems_, partial_;
  std::vector<std::pair<std::string, std::string>> facts_;
};

}  // namespace prof::analyzer
