// The model from which every table and picture is made: processes, threads, devices, streams, what the host did (calls,
// launches, NVTX ranges) and what the GPU did. Filled by builder.cpp from prof's logs and by other importers.
// Everything above it is independent of file formats.
//
// host_rows.h, gpu_rows.h and range_rows.h define the rows, this file the tables: plain structs of at most 48 bytes in
// Columns. All times are signed nanoseconds since `start_realtime_ns`, the first record of all inputs, on one clock.
// Host events and nested ranges are grouped by thread and sorted by start (enclosing ones first). Start/end ranges
// follow those of their process. GPU operations are grouped by stream and sorted by start. The difference of any two
// times fits 64 bits for any input: times of logs are between -kLatestNs and 2 kLatestNs (log_clock.h, builder.cpp),
// times of other inputs within 2^62. A sum of several times may overflow.
#pragma once

#include "analyzer/base/column.h"
#include "analyzer/base/strings.h"
#include "analyzer/model/coverage.h"
#include "analyzer/model/gpu_rows.h"
#include "analyzer/model/hardware_counters.h"
#include "analyzer/model/hardware_samples.h"
#include "analyzer/model/host_clock.h"
#include "analyzer/model/host_rows.h"
#include "analyzer/model/host_samples.h"
#include "analyzer/model/pc_samples.h"
#include "analyzer/model/range_rows.h"
#include "analyzer/model/row_ids.h"
#include "analyzer/model/stack_table.h"
#include "preload/format/loss_counters.h"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace prof::analyzer {

// A name of a native frame in the log itself. The innermost function of a frame is its first row.
struct KnownSymbol {
  FrameId frame{};
  StringId function{};  // mangled, if it has such a name
  StringId file{};
  uint32_t line = 0;
  bool inlined = false;  // into the function of the next row
};

struct Thread {
  ProcessId process{};
  uint32_t tid = 0;
  std::optional<int32_t> priority;  // of the system's scheduler, as nsys writes it
  std::string name;
  Rows host;
  Rows ranges;  // its push/pop ranges in order of opening
  Rows path_changes;
  Rows marks;  // rows of Trace::marks
};

// A loss counter of a log, or one of coverage.def that the importer counted.
struct CounterValue {
  std::string name;
  uint64_t value = 0;
  format::Severity severity = format::Severity::Info;
};

// Two clocks of a host that the recorder read one after the other. Only logs have them.
struct ClockReading {
  uint64_t monotonic_ns = 0;  // CLOCK_MONOTONIC
  uint64_t realtime_ns = 0;   // CLOCK_REALTIME: since 1970
};

// Where the rank of a process is from. Ranks of names of files are a last resort, so reports name that source.
enum class RankFrom : uint8_t { Unknown, Recorded, Communicator, FileName };

// Process::format of our own logs.
inline constexpr std::string_view kProfLogFormat = "prof log";

struct Process {
  uint32_t pid = 0;
  std::string host;
  std::optional<uint32_t> rank;  // in its job, see process_ranks.h
  RankFrom rank_from = RankFrom::Unknown;
  std::string executable;
  std::string command_line;
  std::string source;                                      // file from which it was read
  std::string_view format = kProfLogFormat;                // name of its importer
  std::vector<std::pair<std::string, std::string>> facts;  // everything that the recorder wrote about the run
  std::vector<CounterValue> counters;                      // only counters that are not 0
  std::vector<ClockReading> clock_readings;                // about one a second, by time
  std::vector<std::string> damage;                         // unreadable places of the file, the first of them
  uint64_t damaged_places = 0;                             // number of all of them, if it is more than are listed
  uint64_t damage_lost = 0;                                // events that are lost because of them
  std::vector<std::string> partial;                        // what the file has and the model has not, and why
  bool finished = true;                                    // the recording was finished in order
  bool still_written = false;                              // its process is alive and had not finished it
  bool buffered = false;                                   // written once a second: a kill loses the last records
  int64_t alive_ns = INT64_MIN;                            // of its log: the last reading of its clock
  bool copied = false;                                     // the recording went on: this is a copy of its log
  bool ring = false;                                       // its blocks were overwritten: complete from horizon_ns on
  int64_t horizon_ns = 0;
  uint64_t gpu_pending = 0;
  int64_t calls_under_way_ns = INT64_MAX;  // if it ended early: since then CUPTI's records of calls may be missing
#define PROF_NVTX_COUNTER(name, note) uint64_t name = 0;
#include "analyzer/model/coverage.def"
#undef PROF_NVTX_COUNTER
  uint64_t nvtx_times_unknown = 0;  // events with time stamps of a program's clock that cannot be mapped to the log's
  Rows start_end_ranges;            // rows of Trace::ranges, sorted by start
  int64_t last_ns = 0;              // time of its last record
  int64_t zero_realtime_ns = 0;     // other tools' traces: time of the trace's own 0
  uint32_t clock = kNone;           // row of Trace::clocks; kNone: the input has one clock
  Coverage coverage;

  uint64_t all_damage() const { return damaged_places > damage.size() ? damaged_places : damage.size(); }

  // Killed, copied, or finished before CUPTI had delivered everything.
  bool ended_early() const { return !finished || copied || gpu_pending != 0; }

  bool is_prof_log() const { return format == kProfLogFormat; }
  // Only prof's recorder knows the depth of a queue while the program runs.
  bool has_live_depth() const { return is_prof_log(); }

  std::string fact(std::string_view key) const {
    for (const auto& [name, value] : facts) {
      if (name == key) return value;
    }
    return {};
  }
  // 0: the log has no such counter.
  uint64_t counter(format::LossCounter counter) const;
  // Adds to a counter of the log.
  void count(format::LossCounter counter, uint64_t value);
  // Records of that kind were lost while recording.
  bool lost(format::Missing missing) const;
};

// An input of several that cannot be used.
struct UnusableInput {
  std::string path, why;  // why: a line that begins with the path
};

struct Trace {
  uint64_t start_realtime_ns = 0;   // of the first record: time 0 of the model
  uint64_t start_monotonic_ns = 0;  // the same moment on the first input's host
  int64_t last_ns = 0;              // end of the last event

  StringTable strings;
  std::vector<StringId> apis{StringId{}};  // names of calls, indexed by HostEvent::api(); 0: unknown
  std::vector<Process> processes;
  std::vector<UnusableInput> unusable;  // inputs that were left out
  std::vector<HostClock> clocks;        // of the hosts; empty: one clock
  std::string clocks_from;              // which operations of several ranks were matched, and how; empty: none
  std::vector<Thread> threads;
  std::vector<Device> devices;
  std::vector<Stream> streams;
  std::vector<HostStream> host_streams{HostStream{}};
  std::vector<MemoryPool> memory_pools{MemoryPool{}};  // row 0: none, or unknown
  std::vector<Kernel> kernels{Kernel{}};
  std::vector<Graph> graphs{Graph{}};
  std::vector<Label> labels{Label{}};
  std::vector<PathNode> paths{PathNode{}};
  StackTable stacks;
  std::vector<Rows> payloads{Rows{}};  // rows of payload_values; 0: none
  std::vector<PayloadValue> payload_values;
  std::unordered_map<uint32_t, ThreadId>
      ended_by;                        // row of `ranges` -> thread that closed it, if Range::other_thread is set
  std::vector<GivenName> given_names;  // in the order in which they were given
  std::vector<ProgramCounter> program_counters;
  std::vector<CounterSample> counter_samples;  // by counter, then by time

  Column<HostEvent> host;
  // By row of `host`, if a log has calls of the CUDA runtime (otherwise empty): the driver function inside the call,
  // as an index into `apis`. 0: there was none, or the row is the driver's call itself.
  Column<uint16_t> inner_apis;
  Column<GpuOperation> operations;
  Column<Range> ranges;  // push/pop and start/end ranges
  Column<Range> marks;
  Column<PathChange> path_changes;
  std::vector<GraphNode> graph_nodes;        // by time in each process
  std::vector<GraphMade> graphs_made;        // by time in each process
  std::vector<StreamMemoryOp> memory_ops;    // by time in each process
  std::vector<CollectiveStart> collectives;  // by time in each process
  std::vector<CallDetails> call_arguments;   // by call
  std::vector<UnifiedMemoryEvent> unified;   // by start in each process
  CounterTable counters;                     // values of hardware counters
  SampleTable samples;                       // hardware samples
  HostSampling host_sampling;                // samples of host threads
  PcSampleTable pc_samples;                  // samples of instructions

  // Only in traces of other tools.
  Column<OperatorDetail> details;  // row 0: none; empty if no range has details
  Column<MemoryEvent> memory;      // by time
  Column<SyncEvent> syncs;         // by start
  Column<GpuAnnotation> gpu_annotations;

  // Only in logs with embedded symbols.
  std::vector<KnownSymbol> symbols;

  const Thread& thread(ThreadId id) const { return threads[index(id)]; }
  const Process& process_of(const HostEvent& event) const { return processes[index(thread(event.thread).process)]; }
  const Stream& stream(StreamId id) const { return streams[index(id)]; }
  const Device& device(DeviceId id) const { return devices[index(id)]; }
  ProcessId process_of(StreamId id) const { return device(stream(id).device).process; }
  std::string_view text(StringId id) const { return strings[id]; }
  std::string_view api_name(const HostEvent& event) const { return strings[apis[event.api()]]; }
  // "cuLaunchKernel" of a row cudaLaunchKernel; empty if there is no call inside.
  std::string_view inner_api_name(uint32_t host_row) const {
    return host_row < inner_apis.size() ? strings[apis[inner_apis[host_row]]] : std::string_view{};
  }
  // Null: there are no further arguments.
  const CallDetails* arguments_of(uint32_t host_row) const;
  std::string_view range_name(const Range& range) const { return strings[labels[index(range.label)].text]; }
  // The values of an extended payload; empty: it has none, or a plain one.
  Rows payload_of(const Range& range) const {
    const bool extended = range.kind == RangeKind::Nvtx && range.payload_type == kExtendedPayload;
    return extended && range.payload < payloads.size() ? payloads[range.payload] : Rows{};
  }
  // Null: an NVTX range, or no details.
  const OperatorDetail* detail(const Range& range) const {
    return range.kind == RangeKind::Nvtx || range.payload == 0 ? nullptr : &details[range.payload];
  }
};

// The chain of ranges around a thread at a moment: "train/step/forward"; ranges of named domains as "domain:text".
std::string path_text(const Trace& trace, PathId path);

// Finds the ranges around a thread at increasing times (starts over if a time decreases). O(1) per step, amortised.
class RangeCursor {
 public:
  RangeCursor(const Trace& trace, ThreadId thread);
  // Row of the innermost open push/pop range that contains the moment; kNone if there is none. Python's ranges count
  // only with `with_python`.
  uint32_t at(int64_t time_ns, bool with_python = false);

 private:
  const Trace& trace_;
  Rows rows_;
  uint32_t next_ = 0;
  int64_t last_ns_ = 0;
  std::vector<uint32_t> open_;
};

// Finds the path of a thread at increasing times (searches if a time decreases).
class PathCursor {
 public:
  PathCursor(const Trace& trace, ThreadId thread);
  PathId at(int64_t time_ns);

 private:
  const Trace& trace_;
  RangeCursor ranges_;
  const PathChange* first_;
  const PathChange* last_;
  const PathChange* next_;
};

}  // namespace prof::analyzer
