// The record side of the builder: event structs -> staged rows.
#include "analyzer/model/staging.h"

#include "analyzer/input/log_decode.h"

#include <algorithm>

namespace prof::analyzer {

namespace {

class Stager {
 public:
  Stager(const LogInput& input, Staged& to) : ids_(input.ids), to_(to) {}

  void operator()(const format::KernelLaunch& r, RecordPlace) {
    const uint32_t kernel = ids_.configs.find_or(index(r.config), 0);
    host(r.end, r.duration, kernel, r.stream, r.depth, r.stack, kernel_api(r.config), HostKind::KernelLaunch, r.flags,
         r.result);
  }
  void operator()(const format::MemoryLaunch& r, RecordPlace) {
    host(r.end, r.duration, r.bytes, r.stream, r.depth, r.stack, api(r.api), HostKind::MemoryLaunch, r.flags, r.result);
  }
  void operator()(const format::GraphLaunch& r, RecordPlace) {
    host(r.end, r.duration, ids_.graphs.find_or(index(r.graph), 0), r.stream, r.depth, r.stack, api(r.api),
         HostKind::GraphLaunch, r.flags, r.result);
  }
  void operator()(const format::ApiCall& r, RecordPlace) {
    host(r.end, r.duration, r.object, r.stream, 0, {}, api(r.api), HostKind::Call, 0, r.result);
  }
  void operator()(const format::AllocCall& r, RecordPlace) {
    host(r.end, r.duration, r.bytes, r.stream, 0, r.stack, api(r.api), HostKind::Allocation, 0, r.result);
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

  void operator()(const format::KernelRun& r, RecordPlace) {
    gpu(r, 0, 0, 0, ids_.kernels.find_or(index(r.kernel), 0), GpuKind::Kernel);
  }
  void operator()(const format::CopyRun& r, RecordPlace) {
    gpu(r, r.bytes, r.peer & 0xffff, r.peer >> 16, r.kind, GpuKind::Copy);
  }
  void operator()(const format::FillRun& r, RecordPlace) { gpu(r, r.bytes, 0, 0, r.memory_kind, GpuKind::Fill); }

  void operator()(const format::DriverCalls& r, RecordPlace) {
    for (uint32_t i = 0; i < r.calls.count; ++i) {
      to_.calls.push_back({r.calls.data[i].time, r.calls.data[i].correlation, r.tid});
    }
  }
  void operator()(const format::ExternalCalls& r, RecordPlace) {
    for (uint32_t i = 0; i < r.calls.count; ++i) {
      to_.calls.push_back({r.calls.data[i].time, r.calls.data[i].correlation, 0});
    }
  }
  void operator()(const format::ClockAnchor& r, RecordPlace) { to_.anchors.push_back(r); }
  void operator()(const format::ThreadDef& r, RecordPlace place) {
    const uint32_t thread = ids_.threads.find(place.block->thread);
    if (thread != kNone) to_.threads.push_back({thread, {r.tid, std::string(r.name)}});
  }

 private:
  uint32_t api(format::ApiId id) const { return ids_.apis.find_or(index(id), 0); }
  uint32_t kernel_api(format::ConfigId config) const { return ids_.config_apis.find_or(index(config), 0); }
  uint32_t label(format::LabelId id) const { return ids_.labels.find_or(index(id), 0); }
  uint16_t text(std::string_view inline_text) {
    if (inline_text.empty() || to_.texts.size() >= UINT16_MAX - 1) return 0;
    to_.texts.emplace_back(inline_text);
    return static_cast<uint16_t>(to_.texts.size());
  }

  void host(uint64_t end, uint64_t duration, uint64_t subject, format::StreamId stream, uint64_t depth,
            format::StackId stack, uint32_t api_index, HostKind kind, uint32_t flags, uint32_t result) {
    HostEvent event;
    event.begin_ns = static_cast<int64_t>(end - duration);
    event.end_ns = static_cast<int64_t>(end);
    event.subject = subject;
    event.stream = HostStreamId{ids_.host_streams.find_or(index(stream), 0)};
    event.live_depth = depth > UINT32_MAX ? UINT32_MAX : static_cast<uint32_t>(depth);
    event.stack = index(stack);
    event.word = HostEvent::pack(api_index, kind, flags & 7, result);
    to_.host.push_back(event);
    seen(end - duration, end);
  }
  void nvtx(const StagedNvtx& row) {
    to_.nvtx.push_back(row);
    seen(row.tick, row.tick);
  }
  void seen(uint64_t first, uint64_t last) {
    if (first < to_.first_tick) to_.first_tick = first;
    if (last > to_.last_tick) to_.last_tick = last;
  }
  template <class Run>
  void gpu(const Run& r, uint64_t bytes, uint32_t peer_source, uint32_t peer_destination, uint32_t detail, GpuKind kind) {
    const uint32_t stream = ids_.streams.find_or(index(r.stream), ids_.unknown_stream);
    GpuOperation operation;
    operation.start_ns = static_cast<int64_t>(r.start);
    operation.end_ns = static_cast<int64_t>(r.start + r.duration);
    operation.bytes = bytes & ((uint64_t{1} << 48) - 1);
    operation.peer_source = peer_source & 0xff;
    operation.peer_destination = peer_destination & 0xff;
    operation.graph_node = r.graph_node != 0 ? r.graph_node : uint64_t{r.graph} << 32;
    operation.correlation = r.correlation;
    operation.detail = detail;
    operation.stream_index = stream & ((1u << 29) - 1);
    operation.kind_bits = static_cast<uint32_t>(kind) & 7;
    to_.operations.push_back(operation);
    if (to_.per_stream.size() <= stream) to_.per_stream.resize(stream + 1);
    ++to_.per_stream[stream];
    to_.first_gpu_ns = std::min(to_.first_gpu_ns, r.start);
    to_.last_gpu_ns = std::max(to_.last_gpu_ns, r.start + r.duration);
  }

  const LogIds& ids_;
  Staged& to_;
};

}  // namespace

void decode_staged(const LogInput& input, Staged& staged) {
  Stager stager(input, staged);
  for (const BlockRef* block : staged.blocks) {
    const uint32_t thread = input.ids.threads.find(block->thread);
    if (staged.spans.empty() || staged.spans.back().thread != thread) {
      staged.spans.push_back(
          {thread, static_cast<uint32_t>(staged.host.size()), static_cast<uint32_t>(staged.nvtx.size())});
    }
    const DecodeResult result = decode_block(*input.file, *block, stager);
    staged.records += result.records;
    if (result.bad_record) staged.damage.push_back(record_damage(*block, result));
  }
}

}  // namespace prof::analyzer
