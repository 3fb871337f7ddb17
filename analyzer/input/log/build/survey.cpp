// The first decoding: how many rows of each kind do a task's blocks have, and in which time span?
#include "analyzer/base/saturated.h"
#include "analyzer/input/log/build/horizon.h"
#include "analyzer/input/log/build/staging.h"
#include "analyzer/input/log/log_decode.h"

#include <algorithm>
#include <concepts>

namespace prof::analyzer {

namespace {

template <class T>
concept HostCall = requires(const T& r) {
  r.end, r.duration, r.result;
};
template <class T>
concept GpuRun = requires(const T& r) {
  r.start, r.duration, r.stream;
};
template <class T>
concept NvtxRow = std::same_as<T, format::NvtxPush> || std::same_as<T, format::NvtxPop> ||
    std::same_as<T, format::NvtxStart> || std::same_as<T, format::NvtxEnd> || std::same_as<T, format::NvtxMark> ||
    std::same_as<T, format::NvtxPayload> || std::same_as<T, format::NvtxSync> || std::same_as<T, format::NvtxDeferred>;
template <class T>
concept NvtxAside = std::same_as<T, format::ResourceName> || std::same_as<T, format::NvtxSample> ||
    std::same_as<T, format::NvtxSyncPoint>;

class Surveyor {
 public:
  Surveyor(const LogInput& input, LogTask& task) : ids_(input.ids), horizon_(input), to_(task) {}

  template <HostCall T> void operator()(const T& r, RecordPlace) {
    if (horizon_.is_behind(r.end)) {
      ++to_.before_horizon;
      return;
    }
    ++to_.host.count;
    seen(r.end - r.duration, r.end);
  }
  template <NvtxRow T> void operator()(const T& r, RecordPlace) {
    ++to_.nvtx_rows;
    if constexpr (std::same_as<T, format::NvtxStart>) to_.nvtx_rows += r.payload_type != 0 ? 1 : 0;
    seen(r.time, r.time);
  }
  template <NvtxAside T> void operator()(const T& r, RecordPlace) { seen(r.time, r.time); }
  void operator()(const format::LibraryCall& r, RecordPlace) { seen(r.end - r.duration, r.end); }
  void operator()(const format::Collective& r, RecordPlace) { seen(r.time, r.time); }
  template <GpuRun T> void operator()(const T& r, RecordPlace) {
    if (Horizon::not_timed(r.start, r.duration)) {
      ++to_.not_timed;
      return;
    }
    if (horizon_.gpu_is_behind(r.start, r.duration)) {
      ++to_.before_horizon;
      return;
    }
    const uint32_t stream = ids_.streams.find_or(index(r.stream), ids_.unknown_stream) - ids_.first_stream;
    if (to_.operations.size() <= stream) to_.operations.resize(stream + 1);
    ++to_.operations[stream].count;
    to_.first_gpu_ns = std::min(to_.first_gpu_ns, r.start);
    to_.last_gpu_ns = std::max(to_.last_gpu_ns, r.start);
  }
  void operator()(const format::UnifiedMemory& r, RecordPlace) {
    if (horizon_.gpu_is_behind(r.start, r.duration)) return;
    to_.first_gpu_ns = std::min(to_.first_gpu_ns, r.start);
    to_.last_gpu_ns = std::max(to_.last_gpu_ns, r.start);
  }
  void operator()(const format::HostSample& r, RecordPlace) {
    if (!horizon_.is_behind(r.time)) seen(r.time, r.time);
  }
  void operator()(const format::HostStateSpan& r, RecordPlace) {
    if (!horizon_.is_behind(r.end)) seen(r.end - r.duration, r.end);
  }
  void operator()(const format::PcBatch& r, RecordPlace) {
    if (!horizon_.is_behind(r.time)) seen(r.time, r.time);
  }
  void operator()(const format::DriverCalls& r, RecordPlace) {
    to_.calls[call_group(CallSort::Driver, r.tid)].count += r.calls.count;
  }
  void operator()(const format::RuntimeCalls& r, RecordPlace) {
    to_.calls[call_group(CallSort::Runtime, r.tid)].count += r.calls.count;
  }
  void operator()(const format::ClockAnchor& r, RecordPlace) { to_.anchors.push_back(r); }
  void operator()(const format::ThreadDef& r, RecordPlace place) {
    const uint32_t thread = ids_.threads.find(place.block->thread);
    if (thread != kNone) to_.threads.push_back({thread, {r.tid, std::string(r.name)}});
    if (r.calls_lost == 0) return;
    ++to_.start_threads;
    grow(to_.start_calls, r.calls_lost);
    to_.start_most_ns = std::max(to_.start_most_ns, r.lost_ns);
  }

 private:
  void seen(uint64_t first, uint64_t last) {
    if (first < to_.first_tick) to_.first_tick = first;
    if (last > to_.last_tick) to_.last_tick = last;
  }

  const LogIds& ids_;
  const Horizon horizon_;
  LogTask& to_;
};

}  // namespace

void survey(const LogInput& input, LogTask& task) {
  Surveyor surveyor(input, task);
  for (const BlockRef* block : task.blocks) {
    const uint32_t thread = input.ids.threads.find(block->thread);
    if (task.spans.empty() || task.spans.back().thread != thread) {
      task.spans.push_back({thread, static_cast<uint32_t>(task.host.count), static_cast<uint32_t>(task.nvtx_rows)});
    }
    const DecodeResult result = decode_block(*input.file, *block, surveyor);
    task.records += result.records;
    if (result.bad_record) task.damage.push_back(record_damage(*block, result));
  }
}

}  // namespace prof::analyzer
