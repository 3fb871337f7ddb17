// The second decoding: how do event structs become rows? Part of the builder.
#include "analyzer/input/log/build/staging.h"

#include "analyzer/input/log/build/horizon.h"
#include "analyzer/input/log/build/stages.h"
#include "analyzer/input/log/log_decode.h"
#include "analyzer/input/log/log_definitions.h"
#include "analyzer/model/memory_key.h"

#include "preload/format/sample_codec.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace prof::analyzer {

namespace {

// Start and end of a call go through the same monotone map, so calls keep the order of their ticks. Of a GPU operation
// only the start does: its end is the start plus the nanoseconds that CUPTI measured.
class Filler {
 public:
  Filler(const LogInput& input, LogTask& task)
      : ids_(input.ids),
        horizon_(input),
        to_(task),
        clock_{*input.clock},
        origin_ns_(input.origin_ns),
        horizon_ns_(input.horizon_tick == 0 ? INT64_MIN : clock_.tick(input.horizon_tick) - input.origin_ns),
        host_(task.host.next) {}

  void begin_block(uint32_t thread) { thread_ = ThreadId{thread}; }
  void unfinished(const BlockRef& block, uint64_t end_tick) {
    host(end_tick, end_tick - block.in_call_tick, 0, {}, 0, {}, ids_.apis.find_or(block.in_call_api, 0), HostKind::Call,
         kHostUnfinished, 0);
  }
  bool ok() const { return ok_; }
  void finish() { to_.host.next = host_; }

  void operator()(const format::KernelLaunch& r, RecordPlace) {
    const uint32_t kernel = ids_.configs.find_or(index(r.config), 0);
    host(r.end, r.duration, kernel, r.stream, r.depth, r.stack, kernel_api(r.config), HostKind::KernelLaunch,
         r.flags & 7, r.result);
  }
  void operator()(const format::MemoryLaunch& r, RecordPlace) {
    host(r.end, r.duration, r.bytes, r.stream, r.depth, r.stack, api(r.api), HostKind::MemoryLaunch, r.flags & 7,
         r.result);
  }
  void operator()(const format::GraphLaunch& r, RecordPlace) {
    host(r.end, r.duration, ids_.graphs.find_or(index(r.graph), 0), r.stream, r.depth, r.stack, api(r.api),
         HostKind::GraphLaunch, r.flags & 7, r.result);
  }
  void operator()(const format::ApiCall& r, RecordPlace) {
    host(r.end, r.duration, r.object, r.stream, 0, {}, api(r.api), HostKind::Call, 0, r.result);
  }
  void operator()(const format::StackedCall& r, RecordPlace) {
    host(r.end, r.duration, r.object, r.stream, 0, r.stack, api(r.api), HostKind::Call, 0, r.result);
  }
  void operator()(const format::AllocCall& r, RecordPlace) {
    host(r.end, r.duration,
         r.result != 0 ? r.bytes : HostEvent::allocated(r.bytes, ids_.pools.find_or(index(r.pool), 0)), r.stream,
         is_handle(r.api) ? handle_key(r.address) : memory_key(r.address), r.stack, api(r.api), HostKind::Allocation, 0,
         r.result);
    if (index(r.stream) == 0 && ok_ && !horizon_.is_behind(r.end))
      host_[-1].stream = HostStreamId{ids_.contexts.find_or(index(r.context), 0)};
  }

  void operator()(const format::NvtxPush& r, RecordPlace) {
    nvtx({r.time, r.payload, label(r.label), text(r.text), NvtxStep::Push, static_cast<uint8_t>(r.payload_type)});
  }
  void operator()(const format::NvtxPop& r, RecordPlace) {
    nvtx({r.time, 0, ids_.domains.find_or(index(r.domain), 0), 0, NvtxStep::Pop, 0});
  }
  void operator()(const format::NvtxStart& r, RecordPlace) {
    nvtx({r.time, r.range, label(r.label), text(r.text), NvtxStep::Start, static_cast<uint8_t>(r.payload_type)});
    if (r.payload_type != 0) to_.nvtx.push_back({r.payload, 0, 0, 0, NvtxStep::Payload, 0});
  }
  void operator()(const format::NvtxEnd& r, RecordPlace) { nvtx({r.time, r.range, 0, 0, NvtxStep::End, 0}); }
  void operator()(const format::NvtxMark& r, RecordPlace) {
    nvtx({r.time, r.payload, label(r.label), text(r.text), NvtxStep::Mark, static_cast<uint8_t>(r.payload_type)});
  }

  void operator()(const format::NvtxPayload& r, RecordPlace) {
    to_.payloads.push_back({r.time, r.schema, r.type, r.bytes, r.address, std::string(r.data), std::string(r.texts)});
    nvtx({r.time, to_.payloads.size() - 1, 0, 0, NvtxStep::Extended, 0});
  }
  void operator()(const format::NvtxSync& r, RecordPlace) {
    nvtx({r.time, r.object, label(r.label), text(r.text), NvtxStep::Sync, static_cast<uint8_t>(r.action)});
  }
  void operator()(const format::NvtxDeferred& r, RecordPlace) {
    to_.deferred.push_back({r.clock, r.begin, r.end, r.scope, r.domain});
    nvtx({r.time, to_.deferred.size() - 1, label(r.label), text(r.text), NvtxStep::Deferred,
          static_cast<uint8_t>(r.style)});
  }
  void operator()(const format::LibraryCall& r, RecordPlace) {
    if (horizon_.is_behind(r.end)) return;
    if (!r.text.empty()) to_.library_texts.emplace_back(r.text);
    const auto text = static_cast<uint32_t>(r.text.empty() ? 0 : to_.library_texts.size());
    to_.library.push_back({r.end - r.duration, r.end, index(thread_), label(r.label), text, r.status});
  }
  void operator()(const format::ResourceName& r, RecordPlace) {
    to_.names.push_back({r.time, static_cast<uint32_t>(r.what), r.object, r.type, r.gone != 0,
                         ids_.domains.find_or(index(r.domain), 0), std::string(r.name)});
  }
  void operator()(const format::NvtxSample& r, RecordPlace) {
    if (horizon_.is_behind(r.time)) return;
    to_.samples.push_back(
        {r.time, index(r.counter), r.form, r.value, r.clock, r.stamp, index(thread_), std::string(r.data)});
  }
  void operator()(const format::NvtxSyncPoint& r, RecordPlace) { to_.sync_points.push_back(r); }
  void operator()(const format::ThreadEnd& r, RecordPlace) { to_.thread_ends.emplace_back(index(thread_), r.time); }

  void operator()(const format::GraphNode& r, RecordPlace) {
    GraphNode node;
    node.node = r.node;
    node.time_ns = clock_.tick(r.time) - origin_ns_;
    node.kernel = ids_.configs.find_or(index(r.config), 0);
    node.thread = thread_;
    node.stack = ids_.stacks.find_or(index(r.stack), 0);
    node.type = r.what & format::kNodeTypes;
    node.changed = (r.what & format::kNodeChanged) != 0;
    to_.beside.nodes.push_back(node);
  }
  void operator()(const format::GraphMade& r, RecordPlace) {
    GraphMade made;
    made.time_ns = clock_.tick(r.time) - origin_ns_;
    made.node = r.node;
    made.thread = thread_;
    made.origin = static_cast<uint32_t>(r.origin);
    made.graph = r.graph;
    made.from = r.source;
    made.renumbered = r.renumbered != 0;
    to_.beside.made.push_back(made);
  }
  void operator()(const format::StreamMemory& r, RecordPlace) {
    StreamMemoryOp op;
    op.time_ns = clock_.tick(r.time) - origin_ns_;
    op.address = r.address;
    op.value = r.value;
    op.thread = thread_;
    op.what = r.what;
    op.flags = r.flags;
    to_.beside.memory_ops.push_back(op);
  }

  void operator()(const format::Collective& r, RecordPlace) {
    if (horizon_.is_behind(r.time)) return;
    StagedCollective& staged = to_.beside.collectives.emplace_back();
    staged.label = label(r.label);
    staged.text = r.text;
    staged.start.time_ns = clock_.tick(r.time) - origin_ns_;
    staged.start.communicator = r.communicator;
    staged.start.sequence = r.sequence;
    staged.start.thread = thread_;
    staged.start.flags = r.flags;
  }

  void operator()(const format::CallArguments& r, RecordPlace) {
    StagedArguments& staged = to_.beside.arguments.emplace_back();
    staged.file = r.file;
    CallDetails& said = staged.said;
    said.time_ns = clock_.tick(r.time) - origin_ns_;
    said.count = r.count;
    said.bytes = r.bytes;
    said.thread = thread_;
    said.flags = r.flags;
    said.target = r.target;
  }

  void operator()(const format::KernelRun& r, RecordPlace) {
    gpu(r, 0, 0, 0, ids_.kernels.find_or(index(r.kernel), 0), GpuKind::Kernel);
  }
  void operator()(const format::CopyRun& r, RecordPlace) {
    gpu(r, r.bytes, r.peer_source(), r.peer_destination(), r.kind, GpuKind::Copy);
  }
  void operator()(const format::FillRun& r, RecordPlace) { gpu(r, r.bytes, 0, 0, r.memory_kind, GpuKind::Fill); }
  void operator()(const format::GraphRun& r, RecordPlace) {
    gpu(r, 0, 0, 0, ids_.graph_runs.find_or(r.graph, 0), GpuKind::Graph);
  }

  void operator()(const format::UnifiedMemory& r, RecordPlace) {
    if (horizon_.gpu_is_behind(r.start, r.duration)) return;
    UnifiedMemoryEvent event;
    const int64_t start_ns = clock_.gpu(r.start);
    event.start_ns = start_ns - origin_ns_;
    event.end_ns = ClockReader::gpu_end(start_ns, r.duration) - origin_ns_;
    event.value = r.value;
    event.address = r.address;
    event.what = static_cast<UnifiedWhat>(r.what);
    event.source = r.source;
    event.destination = r.destination;
    event.flags = r.flags;
    to_.unified.push_back(event);
  }
  void operator()(const format::CounterValues& r, RecordPlace) {
    if (horizon_.is_behind(r.moment)) return;
    const uint32_t set = ids_.counter_sets.find(index(r.set));
    if (set == kNone || r.values.size() != ids_.counter_metrics[set - ids_.first_counter_set] * sizeof(double)) {
      ++to_.counters_unreadable;
      return;
    }
    StagedCounters row;
    row.tick = r.moment;
    row.tid = r.tid;
    row.set = set & 0x7fffffff;
    row.of_range = r.scope == format::CounterScope::Range ? 1 : 0;
    to_.counters.push_back(row);
    for (size_t at = 0; at < r.values.size(); at += sizeof(double)) {
      double value;  // the log's bytes are not aligned
      std::memcpy(&value, r.values.data() + at, sizeof value);
      to_.counter_values.push_back(value);
    }
  }
  void operator()(const format::HardwareSamples& r, RecordPlace) {
    const uint32_t set = ids_.sampled_sets.find(index(r.set));
    const size_t first = to_.sampled.size(), first_value = to_.sampled_values.size();
    const uint32_t metrics = set == kNone ? 0 : ids_.sampled_metrics[set - ids_.first_sampled_set];
    const auto span = [&](format::SampleSpan at) {
      to_.sampled.push_back({clock_.gpu(at.start) - origin_ns_, clock_.gpu(at.end) - origin_ns_, set});
      for (uint32_t m = 0; m < metrics; ++m) to_.sampled_values.push_back(0);
    };
    const auto value = [&](uint32_t metric, uint32_t sample, double number) {
      to_.sampled_values[first_value + size_t{sample} * metrics + metric] = number;
    };
    if (horizon_.gpu_is_behind(r.start, 0)) return;
    if (format::read_samples(r.samples, r.start, metrics, span, value)) return;
    to_.sampled.resize(first);
    to_.sampled_values.resize(first_value);
    ++to_.samples_unreadable;
  }
  void operator()(const format::HostSample& r, RecordPlace) {
    if (horizon_.is_behind(r.time)) return;
    const uint32_t thread = ids_.threads.find(index(r.thread));
    if (thread == kNone || r.state > HostState::Blocked) {
      ++to_.host_samples_unplaced;
      return;
    }
    StagedHostSample row;
    row.tick = r.time;
    row.thread = thread;
    row.detail = ids_.texts.find_or(index(r.detail), 0);
    row.stack = ids_.stacks.find_or(index(r.stack), 0);
    row.state = r.state;
    row.blocked_in = std::min(r.blocked_in, BlockedIn::Other);
    to_.host_samples.push_back(row);
  }
  void operator()(const format::HostStateSpan& r, RecordPlace) {
    if (horizon_.is_behind(r.end)) return;
    const uint32_t thread = ids_.threads.find(index(r.thread));
    if (thread == kNone || r.state > HostState::Blocked) return;
    to_.host_states.push_back({r.end - r.duration, r.end, thread, r.state});
  }
  void operator()(const format::PcBatch& r, RecordPlace) {
    if (horizon_.is_behind(r.time)) return;
    const uint32_t context = ids_.pc_contexts.find(index(r.context));
    if (context == kNone || r.period > 63) {
      ++to_.pc_samples_unreadable;
      return;
    }
    StagedPcBatch& batch = to_.pc_batches.emplace_back();
    batch.tick = r.time;
    batch.row.device = ids_.pc_sampled[context].device;
    batch.row.period = r.period;
    batch.row.total = r.total;
    batch.row.dropped = r.dropped;
    batch.row.non_user = r.non_user;
    batch.row.buffer_full = (r.flags & format::kPcBufferFull) != 0;
  }
  void operator()(const format::PcSamples& r, RecordPlace) {
    if (horizon_.is_behind(r.time)) return;
    const uint32_t context = ids_.pc_contexts.find(index(r.context));
    if (context == kNone || r.period > 63 || r.places.count != r.samples.count) {
      ++to_.pc_samples_unreadable;
      return;
    }
    const PcContext& sampled = ids_.pc_sampled[context];
    StagedPcRecord record;
    record.tick = r.time;
    record.function = ids_.texts.find_or(index(r.function), 0);
    record.cubin = ids_.cubins.find_or(index(r.cubin), 0);
    record.device = sampled.device;
    record.period = static_cast<uint8_t>(r.period);
    record.ambiguous = (r.flags & format::kPcAmbiguous) != 0 ? 1 : 0;
    record.first = to_.pc_entries.size();
    pc_not_issued_.clear();
    bool fits = true;
    r.places.for_each([&](uint64_t place) {
      const uint32_t reason = format::PcSamples::reason_of(place);
      const bool known = reason < sampled.reasons.size();
      const uint64_t offset = format::PcSamples::offset_of(place);
      fits = fits && offset <= UINT32_MAX;
      to_.pc_entries.push_back({static_cast<uint32_t>(offset), 0, 0, known ? index(sampled.reasons[reason].name) : 0});
      pc_not_issued_.push_back(known && sampled.reasons[reason].not_issued);
    });
    size_t next = record.first;
    uint64_t all = 0;
    r.samples.for_each([&](uint64_t samples) {
      fits = fits && samples <= UINT32_MAX && (all += samples) <= UINT32_MAX;
      to_.pc_entries[next++].samples = static_cast<uint32_t>(samples);
    });
    if (!fits) {
      to_.pc_entries.resize(record.first);
      ++to_.pc_samples_unreadable;
      return;
    }
    join_not_issued(record.first);
    record.end = to_.pc_entries.size();
    to_.pc_records.push_back(record);
  }
  void operator()(const format::DriverCalls& r, RecordPlace) {
    calls(r.calls, call_group(CallSort::Driver, r.tid), [&](uint64_t time) { return clock_.gpu(time); });
  }
  void operator()(const format::RuntimeCalls& r, RecordPlace) {
    calls(r.calls, call_group(CallSort::Runtime, r.tid), [&](uint64_t time) { return clock_.gpu(time); });
  }

 private:
  // Makes one row of the two counts of a sample. Entries of an instruction are adjacent, at most one for each reason.
  // The recorder may write the two counts into two records. Then a row has the one and another row the other.
  void join_not_issued(size_t first) {
    Column<StagedPcEntry>& rows = to_.pc_entries;
    size_t kept = first;
    for (size_t i = first, of_offset = first; i < rows.size(); ++i) {
      const StagedPcEntry row = rows[i];
      if (kept == first || rows[kept - 1].offset != row.offset) of_offset = kept;
      of_offset = std::max(of_offset, kept - std::min<size_t>(kept, size_t{1} << format::PcSamples::kReasonBits));
      size_t at = of_offset;
      while (at < kept && rows[at].reason != row.reason) ++at;
      if (at == kept) rows[kept++] = {row.offset, 0, 0, row.reason};
      (pc_not_issued_[i - first] ? rows[at].not_issued : rows[at].samples) += row.samples;
    }
    rows.resize(kept);
  }

  uint32_t api(format::ApiId id) const { return ids_.apis.find_or(index(id), 0); }
  bool is_handle(format::ApiId id) const {
    const uint32_t call = api(id);
    return call < ids_.of_handles.size() && ids_.of_handles[call];
  }
  uint32_t kernel_api(format::ConfigId config) const { return ids_.config_apis.find_or(index(config), 0); }
  uint32_t label(format::LabelId id) const { return ids_.labels.find_or(index(id), 0); }
  uint16_t text(std::string_view inline_text) {
    if (inline_text.empty() || to_.texts.size() >= UINT16_MAX - 1) return 0;
    to_.texts.emplace_back(inline_text);
    return static_cast<uint16_t>(to_.texts.size());
  }

  void host(uint64_t end, uint64_t duration, uint64_t subject, format::StreamId stream, uint64_t depth,
            format::StackId stack, uint32_t api_index, HostKind kind, uint32_t flags, uint32_t result) {
    if (horizon_.is_behind(end)) return;
    if (host_ == to_.host.end) {
      ok_ = false;
      return;
    }
    HostEvent& event = *host_++;
    event.begin_ns = std::max(clock_.tick(end - duration) - origin_ns_, horizon_ns_);
    event.end_ns = clock_.tick(end) - origin_ns_;
    event.subject = subject;
    event.thread = thread_;
    event.stream = HostStreamId{ids_.host_streams.find_or(index(stream), 0)};
    event.live_depth = depth > UINT32_MAX ? UINT32_MAX : static_cast<uint32_t>(depth);
    event.stack = index(stack) == 0 ? 0 : ids_.stacks.find_or(index(stack), 0);
    event.correlation = 0;
    event.word = HostEvent::pack(api_index, kind, flags, result);
  }
  void nvtx(const StagedNvtx& row) { to_.nvtx.push_back(row); }

  template <class Run>
  void gpu(const Run& r, uint64_t bytes, uint32_t peer_source, uint32_t peer_destination, uint32_t detail,
           GpuKind kind) {
    if (Horizon::not_timed(r.start, r.duration)) return;
    if (horizon_.gpu_is_behind(r.start, r.duration)) return;
    const uint32_t stream = ids_.streams.find_or(index(r.stream), ids_.unknown_stream);
    const uint32_t of_log = stream - ids_.first_stream;
    if (of_log >= to_.operations.size() || to_.operations[of_log].next == to_.operations[of_log].end) {
      ok_ = false;
      return;
    }
    GpuOperation operation;
    const int64_t start_ns = clock_.gpu(r.start);
    operation.start_ns = start_ns - origin_ns_;
    operation.end_ns = ClockReader::gpu_end(start_ns, r.duration) - origin_ns_;
    if (operation.start_ns < horizon_ns_) operation.start_ns = std::min(horizon_ns_, operation.end_ns);
    operation.set_bytes(bytes);
    operation.set_peers(peer_source, peer_destination);
    operation.graph_node = graph_node_id(r.graph, 0);
    if constexpr (requires { r.graph_node; }) {
      if (r.graph_node != 0) operation.graph_node = r.graph_node;
    }
    operation.correlation = r.correlation;
    operation.detail = detail;
    operation.set_stream(stream);
    operation.set_kind(kind);
    *to_.operations[of_log].next++ = operation;
    to_.last_ns = std::max(to_.last_ns, operation.end_ns);
  }
  template <class ToNs> void calls(const format::CallPairs& pairs, uint64_t group, ToNs&& to_ns) {
    const auto room = to_.calls.find(group);
    if (room == to_.calls.end() || static_cast<uint64_t>(room->second.end - room->second.next) < pairs.count) {
      ok_ = false;
      return;
    }
    for (uint32_t i = 0; i < pairs.count; ++i) {
      *room->second.next++ = {to_ns(pairs.data[i].time) - origin_ns_, pairs.data[i].correlation, 0};
    }
  }

  const LogIds& ids_;
  const Horizon horizon_;
  LogTask& to_;
  ClockReader clock_;
  const int64_t origin_ns_;
  const int64_t horizon_ns_;
  HostEvent* host_;
  ThreadId thread_{};
  bool ok_ = true;
  std::vector<bool> pc_not_issued_;  // by entry of one pc_samples record
};

// Records in definition blocks that are no definitions.
struct KeptFiller {
  static constexpr bool kSeldom = true;
  Filler& filler;
  template <KeptEvent T> void operator()(const T& r, RecordPlace place) { filler(r, place); }
};

}  // namespace

LogTask kept_events(const LogInput& input) {
  LogTask task;
  Filler filler(input, task);
  KeptFiller kept{filler};
  for (const BlockRef& block : input.file->blocks()) {
    if (block.kind != format::BlockKind::Definitions) continue;
    filler.begin_block(input.ids.threads.find(block.thread));
    decode_block(*input.file, block, kept);  // its damage was reported when its definitions were read
  }
  return task;
}

bool fill(const LogInput& input, LogTask& task) {
  Filler filler(input, task);
  task.nvtx.reserve(task.nvtx_rows);
  size_t unfinished = 0;
  for (const BlockRef* block : task.blocks) {
    filler.begin_block(input.ids.threads.find(block->thread));
    decode_block(*input.file, *block, filler);
    if (unfinished < task.unfinished.size() && task.unfinished[unfinished].block == block) {
      filler.unfinished(*block, task.unfinished[unfinished++].end_tick);
    }
  }
  filler.finish();
  const auto full = [](const auto& room) { return room.next == room.end; };
  return filler.ok() && full(task.host) && std::all_of(task.operations.begin(), task.operations.end(), full) &&
         std::all_of(task.calls.begin(), task.calls.end(), [&](const auto& each) { return full(each.second); }) &&
         task.nvtx.size() == task.nvtx_rows;
}

}  // namespace prof::analyzer
