// Does the process record now, does it wait for a start, or is it over? lifecycle/recording_period.h decides. Hooks and
// the code that prepares GPU activity read it. This code runs in the program and costs one load.
//
//   Awaits… --start--> Open --end_window()--> Ending --> Awaits… (another recording may follow) | Over
#pragma once

#include "preload/base/every_launch.h"

#include <atomic>
#include <cstdint>

namespace prof::preload {

enum class Window : uint32_t {
  Open = 0,
  AwaitsProfiler,
  AwaitsTime,
  AwaitsSignal,
  AwaitsLaunch,
  AwaitsRange,
  AwaitsControl,
  Ending,
  Over
};
inline constexpr std::atomic<uint32_t>& g_window = g_every_launch.window;
inline bool window_is(Window window) {
  return g_window.load(std::memory_order_relaxed) == static_cast<uint32_t>(window);
}

// Whether a recording may start: none has started yet, or one has ended and another may follow.
inline bool window_awaits() {
  const uint32_t window = g_window.load(std::memory_order_relaxed);
  return window >= static_cast<uint32_t>(Window::AwaitsProfiler) &&
         window <= static_cast<uint32_t>(Window::AwaitsControl);
}

// Returns false if the window was not `from`. Sequentially consistent: the start of GPU activity relies on that.
bool change_window(Window from, Window to);
// The awaited event has occurred: the next call is recorded. Returns false if another thread was faster.
bool start_window(Window awaited);

// Whether no start was ever awaited and no recording has ended. Then whatever is enabled now was enabled before the
// program created anything on a GPU.
bool recorded_from_start();

}  // namespace prof::preload
