// How many launches have GPU times and stacks, and why do the others have none? A step of the builder after
// correlate().
#include "analyzer/base/parallel.h"
#include "analyzer/base/row_chunks.h"
#include "analyzer/base/saturated.h"
#include "analyzer/input/log/build/stages.h"
#include "analyzer/model/graph_origins.h"
#include "preload/format/stack_definitions.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace prof::analyzer {

namespace {

StackGap gap_of(uint32_t flags) {
  constexpr struct {
    StackGap gap;
    uint32_t flags;
  } kGaps[] = {
#define PROF_STACK_GAP(name, flags, text) {StackGap::name, format::flags},
#include "analyzer/model/coverage.def"
#undef PROF_STACK_GAP
  };
  for (const auto& row : kGaps) {
    if ((flags & row.flags) != 0) return row.gap;
  }
  return StackGap::kCount;
}

class LaunchCount {
 public:
  LaunchCount(Trace& trace, const std::vector<UnusableOperation>& unusable)
      : trace_(trace), origins_(trace), last_delivered_ns_(trace.host_streams.size(), INT64_MIN) {
    for (const UnusableOperation& each : unusable) {
      if (each.operation.linked()) left_out_.emplace(each.operation.launch, launch_reason(each.reason));
    }
  }

  void run(unsigned workers) {
    struct Chunk {
      Process* process;
      Rows rows;
      uint64_t launches = 0, stacks = 0;
      uint64_t stack_gaps[static_cast<size_t>(StackGap::kCount) + 1] = {};
      std::vector<uint32_t> without;  // rows of launches without GPU operations
    };
    std::vector<Chunk> chunks;
    for (const Thread& thread : trace_.threads) {
      constexpr size_t kChunk = 1u << 18;
      each_chunk(thread.host.first, thread.host.last, kChunk, [&](uint32_t first, uint32_t last) {
        chunks.push_back({&trace_.processes[index(thread.process)], {first, last}, 0, 0, {}, {}});
      });
    }
    parallel_for(
        chunks.size(),
        [&](size_t c) {
          Chunk& chunk = chunks[c];
          HostStreamId stream{};
          int64_t last_ns = INT64_MIN;
          for (uint32_t row = chunk.rows.first; row < chunk.rows.last; ++row) {
            const HostEvent& event = trace_.host[row];
            if (!event.is_launch()) continue;
            ++chunk.launches;
            if (event.stack != 0) count_stack(StackId{event.stack}, chunk);
            if (event.has(kHostHasGpu)) {
              if (event.stream != stream) delivered(std::exchange(stream, event.stream), last_ns);
              last_ns = event.begin_ns;
            } else {
              chunk.without.push_back(row);
            }
          }
          delivered(stream, last_ns);
        },
        workers);
    for (const Chunk& chunk : chunks) {
      chunk.process->coverage.launches += chunk.launches;
      chunk.process->coverage.launches_with_gpu_time += chunk.launches - chunk.without.size();
      chunk.process->coverage.launches_with_stack += chunk.stacks;
      for (size_t i = 0; i < static_cast<size_t>(StackGap::kCount); ++i)
        chunk.process->coverage.launches_stack_gap[i] += chunk.stack_gaps[i];
    }
    for (const Chunk& chunk : chunks) {
      const bool lost = chunk.process->lost(format::Missing::GpuRecords);
      for (const uint32_t row : chunk.without) {
        const auto left_out = left_out_.find(row);
        const LaunchReason why =
            left_out != left_out_.end() ? left_out->second : reason(*chunk.process, trace_.host[row], lost);
        ++chunk.process->coverage.launches_without[static_cast<size_t>(why)];
      }
    }
    for (Process& process : trace_.processes) explain_unknown(process);
  }

 private:
  template <class Chunk> void count_stack(StackId id, Chunk& chunk) const {
    const Stack& stack = trace_.stacks[id];
    chunk.stacks += stack.native + stack.python != 0 ? 1 : 0;
    ++chunk.stack_gaps[static_cast<size_t>(gap_of(stack.flags))];
  }
  // Called by several threads. Rows of a thread are sorted, so its last row on a stream is the latest.
  void delivered(HostStreamId stream, int64_t begin_ns) {
    std::atomic_ref<int64_t> last(last_delivered_ns_[index(stream)]);
    int64_t old = last.load(std::memory_order_relaxed);
    while (old < begin_ns && !last.compare_exchange_weak(old, begin_ns, std::memory_order_relaxed)) {}
  }

  // Two kinds of launches are counted by the recorder and not named in the log: those whose burst of GPU times had to
  // end before their records came, and those whose records had no valid times (kernels that a range profiler replays).
  static void explain_unknown(Process& process) {
    if (!process.is_prof_log()) return;
    uint64_t* const without = process.coverage.launches_without;
    uint64_t& unknown = without[static_cast<size_t>(LaunchReason::Unknown)];
    const auto move = [&](uint64_t most, LaunchReason to) {
      const uint64_t moved = std::min(unknown, most);
      unknown -= moved;
      without[static_cast<size_t>(to)] += moved;
    };
    const uint64_t pending = without[static_cast<size_t>(LaunchReason::Pending)];
    if (process.fact("gpu_times") == "in bursts" && process.gpu_pending > pending)
      move(process.gpu_pending - pending, LaunchReason::Pending);
    move(process.counter(format::LossCounter::gpu_clock_errors), LaunchReason::NotTimed);
  }

  // `gpu_records_lost`: CUPTI dropped some of the process.
  LaunchReason reason(const Process& process, const HostEvent& launch, bool gpu_records_lost) const {
    if (launch.has(kHostCaptured)) return LaunchReason::Captured;
    if (launch.result() != 0) return LaunchReason::Failed;
    if (launch.has(kHostNoGpuTimes) || process.counter(format::LossCounter::cupti_unavailable) != 0)
      return LaunchReason::NotCollected;
    if (launch.kind() == HostKind::MemoryLaunch && launch.subject == 0) return LaunchReason::NothingToDo;
    if (launch.kind() == HostKind::GraphLaunch && launch.subject != 0) {
      const Graph& graph = trace_.graphs[launch.subject];
      const bool none = graph.kernels + graph.copies + graph.fills == 0;  // outside conditional bodies
      if (none && graph.other_nodes == 0) return LaunchReason::NothingToDo;
      if (none && origins_.has_bodies(graph.process, graph.number)) return LaunchReason::Conditional;
    }
    if (process.ring && launch.begin_ns <= process.horizon_ns) return LaunchReason::Overwritten;
    // GPU records of one stream arrive in order. Launches after the last record were not delivered yet when the
    // recording ended.
    const bool call_pending = launch.correlation == 0 && launch.begin_ns >= process.calls_under_way_ns;
    if (process.ended_early() && (call_pending || launch.begin_ns > last_delivered_ns_[index(launch.stream)]))
      return LaunchReason::Pending;
    if (gpu_records_lost) return LaunchReason::Dropped;
    const bool repeated = process.coverage.operations_without[static_cast<size_t>(OperationReason::RepeatedId)] != 0;
    return repeated ? LaunchReason::RepeatedId : LaunchReason::Unknown;
  }

  Trace& trace_;
  const GraphOrigins origins_;
  std::unordered_map<uint32_t, LaunchReason> left_out_;  // by row: all its operations had no usable time
  std::vector<int64_t> last_delivered_ns_;  // by HostStreamId: start of the last launch with GPU operations
};

// A batch of copies is one launch with several operations. The driver may join copies, and CUPTI then has one record
// with the bytes of all (measured: CUPTI 13.0, an H100, between pinned memory and the device). Launches without any
// operation are counted with their reason.
void count_batches(Trace& trace) {
  struct OnGpu {
    uint64_t copies = 0, bytes = 0;
  };
  std::unordered_map<uint32_t, OnGpu> found;  // row of the launch -> its GPU operations
  const auto is_batch = [&trace](const CallDetails& said) {
    if (said.count == 0 || said.call == kNone) return false;
    const HostEvent& launch = trace.host[said.call];
    return launch.kind() == HostKind::MemoryLaunch && launch.has(kHostHasGpu);
  };
  for (const CallDetails& said : trace.call_arguments) {
    if (is_batch(said)) found.emplace(said.call, OnGpu{});
  }
  if (found.empty()) return;
  for (const GpuOperation& operation : trace.operations) {
    if (!operation.linked()) continue;
    if (const auto launch = found.find(operation.launch); launch != found.end()) {
      ++launch->second.copies;
      launch->second.bytes += operation.bytes;
    }
  }
  for (const CallDetails& said : trace.call_arguments) {
    if (!is_batch(said)) continue;
    const auto seen = found.find(said.call);
    if (seen == found.end()) continue;  // a second record of the same launch
    const HostEvent& launch = trace.host[said.call];
    Coverage& coverage = trace.processes[index(trace.thread(launch.thread).process)].coverage;
    // All copies are there if there is a record for each, or if fewer records have the requested bytes in total.
    // (Copies from or to arrays have elements instead of bytes in the call: then only the number of records counts.)
    const bool whole = seen->second.copies >= said.count || seen->second.bytes == launch.bytes();
    grow(coverage.batch_copies, said.count);
    grow(coverage.batch_copies_missing, whole ? 0 : said.count - seen->second.copies);
    found.erase(seen);
  }
}

}  // namespace

void count_launches(Trace& trace, const std::vector<UnusableOperation>& unusable, unsigned workers) {
  LaunchCount(trace, unusable).run(workers);
  count_batches(trace);
}

}  // namespace prof::analyzer
