#include "preload/record/recording_window.h"

namespace prof::preload {

namespace {

std::atomic<bool> g_from_start{true};

}  // namespace

bool change_window(Window from, Window to) {
  if (to != Window::Open) g_from_start.store(false, std::memory_order_relaxed);
  uint32_t expected = static_cast<uint32_t>(from);
  return g_window.compare_exchange_strong(expected, static_cast<uint32_t>(to));
}

bool start_window(Window awaited) { return change_window(awaited, Window::Open); }

bool recorded_from_start() { return g_from_start.load(std::memory_order_relaxed); }

}  // namespace prof::preload
