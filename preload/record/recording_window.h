// Which part of the run this is: one that is recorded, one before it, or one after it. lifecycle/recording_period.h
// decides; hooks and the code that prepares GPU activity read it. In the program: one load.
//
//   Awaits… --begin--> Open --end_window()--> Ending --> Awaits… (another part may come) | Over
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

// Nothing is recorded yet, or a part has ended, and the recording may begin.
inline bool window_awaits() {
  const uint32_t window = g_window.load(std::memory_order_relaxed);
  return window >= static_cast<uint32_t>(Window::AwaitsProfiler) &&
         window <= static_cast<uint32_t>(Window::AwaitsControl);
}

// False: it was not `from`. Sequentially consistent, which the start of GPU activity relies on.
bool change_window(Window from, Window to);
// What was waited for has come: the next call records. False: another thread was faster.
bool begin_window(Window awaited);

// Nothing was ever waited for and no part has ended: what is turned on now was on before the program made anything on a
// GPU.
bool recorded_from_start();

}  // namespace prof::preload
