// What the databases of nsys and nvprof have in common: rows of CUPTI's activities, whose processes, threads, devices and
// streams are only known from the rows themselves. Gives out ids when something is first seen, keeps what is out of range
// away from the model, and ends the import.
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

// CUPTI's "no such number" for streams and events.
inline constexpr uint32_t kNoNumber = UINT32_MAX;

class ActivityRows {
 public:
  explicit ActivityRows(Trace& trace) : trace_(trace), mark_(trace), apis_(trace) {}

  // `key` tells processes of one file apart.
  ProcessId process(uint64_t key, uint32_t pid);
  ThreadId thread(ProcessId process, uint32_t tid);
  DeviceId device(ProcessId process, uint32_t ordinal);
  StreamId stream(ProcessId process, uint32_t ordinal, uint32_t context, uint32_t number,
                  uint32_t green_context = kNone);
  // For records whose device is not to be trusted (synchronisations): that of the context, once GPU work has told.
  StreamId stream_of_context(ProcessId process, uint32_t ordinal, uint32_t context, uint32_t number,
                             uint32_t green_context);
  KernelId kernel(const Kernel& kernel);
  LabelId label(const Label& label);
  uint32_t api(std::string_view name) { return apis_.intern(name); }
  StringId text(std::string_view text) { return trace_.strings.intern(text); }
  const ImportMark& mark() const { return mark_; }
  Trace& trace() { return trace_; }

  // Sets the row aside, with the reason counted, if it has no begin, or if a time cannot be one. `end` may be missing only
  // where a range is still open.
  enum class Reversed { Keep, SetAside };
  bool good_span(SqliteRows& rows, std::optional<int64_t> begin_ns, std::optional<int64_t> end_ns, Reversed reversed);

  // The parts of rows that both write alike, from columns in a known order. False: the row is set aside.
  bool read_times(SqliteRows& rows, size_t start_column, size_t end_column, GpuKind kind, GpuOperation& operation);
  // Begin, end and kHostUnfinished, if it has no end.
  bool read_call(SqliteRows& rows, size_t begin_column, size_t end_column, HostEvent& event);
  static uint64_t bytes(SqliteRows& rows, size_t column);  // as much as GpuOperation::bytes holds
  // Devices of a peer copy: source and, in the next column, destination.
  static void read_peers(SqliteRows& rows, size_t column, GpuOperation& operation);
  // gridX … Z, blockX … Z, registers, static, dynamic and local bytes.
  static void read_shape(SqliteRows& rows, size_t column, Kernel& kernel);

  void add(const HostEvent& event) { trace_.host.push_back(event), seen(event.thread, event.end_ns); }
  void add(const GpuOperation& operation);
  // A range without an end is closed with the last row of its process.
  void add(Range range, std::optional<int64_t> end_ns);
  void add(const SyncEvent& sync) { trace_.syncs.push_back(sync); }

  // Of GPU work that does not say of which process it is: the only process, else the one that alone has a call with that
  // correlation id, else one without a number, and counted. Calls must have been read.
  ProcessId process_of(uint32_t correlation);

  // As a fact: the tables with events that have rows and are not in the list.
  void note_unread(const SqliteFile& file, std::span<const std::string_view> read);
  void note_problems(const SqliteRows& rows);
  void note_problem(std::string problem) { problems_.push_back(std::move(problem)); }
  // Of every process of the file.
  void fact(std::string key, std::string value) { facts_.emplace_back(std::move(key), std::move(value)); }

  // Devices and streams in order of their numbers, open ranges closed, problems given to the first process, then
  // finish_import(). `zero_realtime_ns` none: the file says nothing about the time of day.
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
  std::vector<int64_t> last_ns_;                    // of each new process
  std::vector<uint32_t> open_;                      // rows of Trace::ranges
  std::unordered_map<uint32_t, uint32_t> callers_;  // correlation -> process; kNone: several
  uint64_t without_process_ = 0;
  std::vector<std::string> problems_;
  std::vector<std::pair<std::string, std::string>> facts_;
};

}  // namespace prof::analyzer
