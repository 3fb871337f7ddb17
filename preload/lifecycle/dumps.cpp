#include "preload/lifecycle/dumps.h"

#include "preload/base/clock.h"
#include "preload/base/helper_wake.h"
#include "preload/base/messages.h"
#include "preload/base/options.h"
#include "preload/driver/launch_numbers.h"
#include "preload/lifecycle/recording_period.h"
#include "preload/log/ring.h"
#include "preload/record/launch_extras.h"
#include "preload/record/thread.h"

#include <string_view>

namespace prof::preload {

std::atomic<bool> g_dump_at_marker{false};

namespace {

constexpr uint64_t kMinPollNs = 1'000'000, kMaxPollNs = 250'000'000;

std::string_view g_marker;
bool g_at_profiler = false;
uint64_t g_slow_ns = 0;

}  // namespace

void open_dumps() {
  const option::OneOf<option::Dump>& dump = options().dump;
  const bool ring = in_ring();
  if (!ring && dump != option::Dump::Off) {
    static std::atomic<bool> said{false};
    say(said, "PROF_DUMP needs PROF_RING, which is not set: PROF_DUMP is ignored");
  }
  g_at_profiler = ring && dump == option::Dump::Profiler;
  g_slow_ns = ring && dump == option::Dump::Slow ? dump.number : 0;
  g_marker = dump.text;
  g_dump_at_marker.store(ring && dump == option::Dump::Nvtx, std::memory_order_relaxed);
  set_nvtx_extra(kNvtxDump, marker_may_dump());
}

void request_dump(const char* why) {
  request_recording_end(why);
  wake_helper();
}

void profiler_dumps() {
  if (g_at_profiler) request_dump("cudaProfilerStop");
}

void marker_dumps(std::string_view name) {
  if (name == g_marker) request_dump("NVTX marker");
}

uint64_t slow_launch_poll_ns() {
  if (g_slow_ns == 0) return 0;
  const uint64_t quarter = g_slow_ns / 4;
  return quarter < kMinPollNs ? kMinPollNs : quarter > kMaxPollNs ? kMaxPollNs : quarter;
}

void look_for_slow_launch(uint64_t life) {
  if (g_slow_ns == 0) return;
  const auto ticks = static_cast<unsigned __int128>(g_slow_ns) * g_clock.ticks_per_second / 1'000'000'000;
  const uint64_t now = now_ticks();
  if (ticks >= now) return;
  if (recording_has_call_since(life, now - static_cast<uint64_t>(ticks), is_launch_number)) request_dump("slow launch");
}

}  // namespace prof::preload
