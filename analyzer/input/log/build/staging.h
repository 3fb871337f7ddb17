// One run of blocks of one log between decoding and placing. Offline, inside the builder only. Every block is decoded
// twice, because decoding (7 ns per record) is cheaper than storing rows that cannot be placed yet: first to count rows
// and to find clock anchors (survey.cpp), then to write each row to its place with its final time (staging.cpp). Tasks
// run in parallel and share nothing. NVTX rows are stored for nvtx_nesting.cpp.
#pragma once

#include "analyzer/input/log/build/log_ids.h"
#include "analyzer/input/log/log_clock.h"
#include "analyzer/input/log/log_file.h"
#include "analyzer/input/log/nvtx/payload_values.h"
#include "analyzer/input/log/nvtx/program_clocks.h"
#include "analyzer/input/log/nvtx/program_counters.h"
#include "analyzer/input/log/nvtx/scope_paths.h"
#include "analyzer/model/trace.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace prof::analyzer {

// Extended: a payload of the next row with the same tick.
enum class NvtxStep : uint8_t { Push, Pop, Start, End, Mark, Payload, Extended, Sync, Deferred };

struct StagedNvtx {
  uint64_t tick = 0;  // Payload: the payload of the Start row before it
  uint64_t value =
      0;  // Push, Mark: payload; Start, End: range id; Sync: object; Extended, Deferred: index of the task's
  uint32_t label = 0;  // LabelId; Pop: StringId of the domain
  uint16_t text = 0;   // 1 + index of LogTask::texts if the name was not interned
  NvtxStep step{};
  uint8_t payload_type = 0;  // Sync: format::SyncAction; Deferred: style
};
static_assert(sizeof(StagedNvtx) == 24);

// Time stamps of the program, and the scope of their batch.
struct StagedDeferred {
  format::StampClock clock{};
  uint64_t begin = 0, end = 0;
  uint64_t scope = 0;
  format::DomainId domain{};
};

// A library_call record.
struct StagedLibraryCall {
  uint64_t begin = 0, end = 0;  // ticks
  uint32_t thread = 0;          // ThreadId
  uint32_t label = 0;           // LabelId
  uint32_t text = 0;            // 1 + index of LogTask::library_texts if the name was not interned
  uint32_t status = 0;          // 0: success
};

// A resource_name record.
struct StagedName {
  uint64_t tick = 0;
  uint32_t what = 0;
  uint64_t object = 0;
  uint32_t type = 0;
  bool gone = false;
  uint32_t domain = 0;  // StringId
  std::string name;
};

// An nvtx_sample record.
struct StagedSample {
  uint64_t tick = 0;
  uint32_t counter = 0;  // of the log
  format::SampleForm form{};
  uint64_t value = 0;
  format::StampClock clock{};
  uint64_t stamp = 0;
  uint32_t thread = 0;  // ThreadId
  std::string data;
};

// A counter_values record. Its values are the next ones of the task.
struct StagedCounters {
  uint64_t tick = 0;
  uint32_t tid = 0;
  uint32_t set : 31 = 0;  // index into CounterTable::sets
  uint32_t of_range : 1 = 0;
};

// A sample of a counter_samples record. Its values are the next ones of the task.
struct StagedSampled {
  int64_t begin_ns = 0, end_ns = 0;
  uint32_t set = 0;  // index into SampleTable::sets
};

// A host_sample record.
struct StagedHostSample {
  uint64_t tick = 0;
  uint32_t thread = 0;  // ThreadId
  uint32_t detail = 0;  // StringId
  uint32_t stack = 0;   // StackId
  HostState state{};
  BlockedIn blocked_in{};
};

// A host_state record.
struct StagedHostState {
  uint64_t begin = 0, end = 0;  // ticks
  uint32_t thread = 0;          // ThreadId
  HostState state{};
};

// A pc_batch record.
struct StagedPcBatch {
  uint64_t tick = 0;
  PcBatchRow row;  // without process and time
};

// A pc_samples record.
struct StagedPcRecord {
  uint64_t tick = 0;
  size_t first = 0, end = 0;  // its entries
  uint32_t function = 0;      // StringId
  uint32_t cubin = 0;         // index of PcSampleTable::cubins
  DeviceId device{};
  uint8_t period = 0, ambiguous = 0;
};

// An entry of it, joined with the entry of the same reason for cycles without an issue.
struct StagedPcEntry {
  uint32_t offset = 0, samples = 0, not_issued = 0;
  uint32_t reason = 0;  // StringId
};

// A call_arguments record.
struct StagedArguments {
  CallDetails said;
  std::string file;
};

// A collective record.
struct StagedCollective {
  CollectiveStart start;
  uint32_t label = 0;  // LabelId; its text unless `text` has it
  std::string text;
};

// Records about a call, which is found when all rows have their places.
struct StagedBeside {
  std::vector<GraphNode> nodes;
  std::vector<GraphMade> made;
  std::vector<StreamMemoryOp> memory_ops;
  std::vector<StagedArguments> arguments;
  std::vector<StagedCollective> collectives;
};

// A driver call as CUPTI recorded it, on the model's time line.
struct DriverCall {
  int64_t time_ns = 0;
  uint32_t correlation = 0;
  uint32_t row = 0;  // correlate(): the launch's row of Trace::host, or the reason why there is none
};

// Blocks of one thread in a task, up to the next span.
struct TaskSpan {
  uint32_t thread = 0;          // ThreadId
  uint32_t host = 0, nvtx = 0;  // number of rows of the task before this span
};

// The call that a thread was in when the log ended.
struct UnfinishedCall {
  const BlockRef* block = nullptr;  // last block of its thread
  uint64_t end_tick = 0;
};

// The rows that a task writes to the model, filled from `next` on.
template <class Row> struct Room {
  uint64_t count = 0;  // rows found by the survey
  Row next{}, end{};
};

// CUPTI's calls are joined to launches by kind and system thread.
enum class CallSort : uint32_t { Driver, Runtime };
constexpr uint64_t call_group(CallSort sort, uint32_t tid) { return static_cast<uint64_t>(sort) << 32 | tid; }

struct LogTask {
  uint32_t log = 0;                     // index of the input
  std::vector<const BlockRef*> blocks;  // blocks to decode
  std::vector<TaskSpan> spans;
  std::vector<UnfinishedCall> unfinished;  // in the order of the blocks
  Room<HostEvent*> host;
  std::vector<Room<GpuOperation*>> operations;            // by stream, from LogIds::first_stream on
  std::unordered_map<uint64_t, Room<DriverCall*>> calls;  // by call_group()
  uint64_t nvtx_rows = 0;
  Column<StagedNvtx> nvtx;
  StagedBeside beside;
  std::vector<UnifiedMemoryEvent> unified;
  Column<StagedCounters> counters;
  Column<double> counter_values;
  Column<StagedSampled> sampled;
  Column<double> sampled_values;
  uint64_t samples_unreadable = 0;   // records: of lost sets, or of another form than their set
  uint64_t counters_unreadable = 0;  // of lost sets, or of another length than their set
  Column<StagedHostSample> host_samples;
  Column<StagedHostState> host_states;
  uint64_t host_samples_unplaced = 0;  // of threads that the log does not have
  std::vector<StagedPcBatch> pc_batches;
  std::vector<StagedPcRecord> pc_records;
  Column<StagedPcEntry> pc_entries;
  uint64_t pc_samples_unreadable = 0;  // records: of lost contexts, or with lists or numbers that do not fit
  std::vector<std::string> texts;      // inline NVTX names
  std::vector<RecordedPayload> payloads;
  std::vector<StagedDeferred> deferred;
  std::vector<StagedName> names;
  std::vector<StagedSample> samples;
  std::vector<format::NvtxSyncPoint> sync_points;
  std::vector<StagedLibraryCall> library;
  std::vector<std::string> library_texts;
  std::vector<std::pair<uint32_t, std::pair<uint32_t, std::string>>> threads;  // ThreadId -> tid, name
  uint64_t start_threads = 0, start_calls = 0, start_most_ns = 0;              // as in Coverage
  std::vector<std::pair<uint32_t, uint64_t>> thread_ends;                      // ThreadId -> tick
  std::vector<format::ClockAnchor> anchors;
  std::vector<Damage> damage;
  uint64_t records = 0;
  uint64_t before_horizon = 0;  // calls and GPU operations that are not imported
  uint64_t not_timed = 0;       // GPU operations without a time, not imported
  uint64_t first_tick = UINT64_MAX, last_tick = 0;
  uint64_t first_gpu_ns = UINT64_MAX, last_gpu_ns = 0;
  int64_t last_ns = INT64_MIN;  // after filling: end of the last GPU operation
};

// One input while the model is built.
struct LogInput {
  std::unique_ptr<LogFile> file;
  ProcessId process{};
  LogIds ids;
  std::optional<format::GpuClock> gpu_clock;
  PayloadSchemas schemas;                                   // their texts are views into the file
  std::unordered_map<uint32_t, std::string> payload_texts;  // that payloads refer to, by the id of the string
  ById<format::NvtxCounterId, format::NvtxCounterDef> counters;
  CounterSemantics semantics;
  NvtxScopes scopes;
  std::vector<format::NvtxClockDef> clock_definitions;
  std::vector<format::HostSampling> host_samplings;
  std::vector<format::PipeHolder> pipe_holders;  // their texts are views into the file
  ProgramClocks clocks;                          // set when all blocks are decoded
  std::vector<format::ClockAnchor> anchors;
  std::optional<LogClock> clock;  // set when all blocks are decoded
  // For a ring that was overwritten: events that ended before it are left out. 0: the log is complete.
  uint64_t horizon_tick = 0;
  uint64_t horizon_gpu_ns = 0;  // the same moment on CUPTI's clock
  int64_t origin_ns = 0;        // model time = monotonic ns of this log - origin
};

struct LogDefinitions;

std::string damage_text(const LogFile& log, const Damage& damage);

// Sets what the log has about its process as a whole.
void describe_process(const LogInput& input, const LogDefinitions& definitions, Process& process);

// Rows of the model that the logs share, found by their contents. Kept from log to log: to collect them for each log
// would take time that is quadratic in the number of logs.
struct SharedRows {
  explicit SharedRows(const Trace& trace);
  using LabelKey = std::tuple<StringId, StringId, uint32_t, bool, uint32_t, StringId>;
  static LabelKey key(const Label& label) {
    return {label.domain, label.text, label.category, label.has_color, label.color, label.category_name};
  }
  std::map<LabelKey, uint32_t> labels;  // -> LabelId
};

// Adds process, threads, devices, streams, kernels, labels … of a log to the model. Definitions with two ids and
// equal contents become one row.
void import_definitions(LogInput& input, SharedRows& shared, Trace& trace);

// Of each log the indices of its tasks, in order.
std::vector<std::vector<uint32_t>> tasks_by_log(size_t logs, const std::vector<LogTask>& tasks);

// Imports the stacks of a log: `ids` maps the log's StackIds.
void import_stacks(const LogDefinitions& definitions, IdMap& ids, Trace& trace);

// Events in the definition blocks of a ring.
LogTask kept_events(const LogInput& input);

// First decoding: counts, anchors, thread names, damage.
void survey(const LogInput& input, LogTask& task);

// Second decoding: writes rows to the places that place_events() assigned to the task. False: the log has changed since
// the survey.
bool fill(const LogInput& input, LogTask& task);

}  // namespace prof::analyzer
