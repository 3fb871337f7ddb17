// A run at random for property tests of reports about idle time: threads with calls, ranges, Python frames and waits,
// streams of two GPUs, waits of streams, operations that overlap, lack their launch or start before it.
#pragma once

#include "tests/unit/analyzer/hand_trace.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>

namespace prof::tests {

using namespace analyzer;

inline void random_run(HandTrace& hand, uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&](uint32_t n) { return static_cast<int64_t>(random() % n); };
  const char* const apis[] = {"cudaStreamSynchronize", "cudaMemcpyAsync",     "cudaMalloc",      "cudaFree",
                              "cuModuleLoadData",      "cudaStreamWaitEvent", "cuLaunchHostFunc"};
  const uint32_t threads = 1 + static_cast<uint32_t>(below(4));
  for (uint32_t t = 1; t < threads; ++t) hand.thread(0, 500 + t);
  hand.stream(0, 13);
  hand.stream(hand.device(0, 1), 7);
  const auto streams = static_cast<uint32_t>(hand.trace.streams.size());
  uint32_t id = 0;
  const auto nested = [&](auto& self, uint32_t thread, int64_t begin, int64_t end, int depth) -> void {
    for (int64_t now = begin + below(300); now + 20 < end;) {
      const int64_t until = std::min(end, now + 10 + below(2000));
      switch (below(5)) {
        case 0: {
          const RangeKind kinds[] = {RangeKind::Operator, RangeKind::Python, RangeKind::Nvtx, RangeKind::Overhead};
          const char* const waits[] = {"queue.get", "lock acquire", "poll", "thread join"};
          const std::string text = below(3) == 0
                                       ? waits[below(4)]
                                       : "range " + std::to_string(below(9)) + ", seq = " + std::to_string(below(40));
          hand.range(text, now, until, kinds[below(12) % 4], thread);
          if (depth < 4) self(self, thread, now, until, depth + 1);
          break;
        }
        case 1: {
          const char* const api = apis[below(7)];
          const auto stream = static_cast<uint32_t>(below(streams));
          hand.call(api, now, until, ++id, thread);
          hand.trace.host.back().stream = HostStreamId{1 + stream};
          if (api[4] == 'S' && api[10] == 'W') {
            const auto other = static_cast<uint32_t>(below(streams + 1));
            hand.sync(SyncKind::StreamWaitEvent, now, until, id, stream, other == streams ? kNone : other);
          }
          break;
        }
        case 2: break;
        default:
          hand.launch(now, until, ++id, thread);
          if (below(10) != 0) {
            const int64_t start = std::max<int64_t>(0, now - 50 + below(4000));
            hand.kernel(start, start + below(1500), below(12) == 0 ? 1'000'000 + id : id,
                        static_cast<uint32_t>(below(streams)));
          }
      }
      now = until + below(600);
    }
  };
  hand.call("cuInit", 0, 1);
  for (uint32_t t = 0; t < threads; ++t) nested(nested, t, 10 + below(3000), 20'000 + below(40'000), 0);
  hand.finish();
}

}  // namespace prof::tests
