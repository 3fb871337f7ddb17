// The globals that every launch reads, in one cache line. A hook that runs after other code of the program waits for
// each line that it touches. Each member belongs to the header that its comment names. This code runs in the program.
#pragma once

#include <atomic>
#include <cstdint>

namespace prof::preload {

struct LifePage;                    // base/life_page.h
enum class GpuActivity : uint32_t;  // capture/cupti/gpu_state.h

struct alignas(64) EveryLaunch {
  std::atomic<LifePage*> life{};  // base/life_page.h
  std::atomic<bool> tsc{};        // base/clock.h: ticks are the counter's
  bool depth_on = false;          // capture/streams/launch_path.h
  std::atomic<bool> marks_on{};   // capture/streams/depth_marks.h
  std::atomic<bool> in_bursts{};  // capture/gpu_bursts.h
  std::atomic<GpuActivity> gpu_activity{};
  uint32_t gpu_activity_tried = 0;
  std::atomic<uint32_t> window{};               // record/recording_window.h
  std::atomic<uint32_t> captures{};             // capture/streams/depth_marks.h
  std::atomic<uint32_t> launch_extras{};        // record/launch_extras.h
  std::atomic<uint32_t> nvtx_extras{};          // record/launch_extras.h
  std::atomic<uint32_t> mark_every{};           // capture/streams/depth_marks.h
  std::atomic<uint64_t> mark_pause{};           // capture/streams/depth_marks.h
  std::atomic<uint64_t> function_generation{};  // driver/functions.h
};
static_assert(sizeof(EveryLaunch) == 64);
extern EveryLaunch g_every_launch;

}  // namespace prof::preload
