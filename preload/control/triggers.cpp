#include "preload/control/triggers.h"

#include "preload/base/options.h"
#include "preload/capture/cupti/gpu_state.h"
#include "preload/control/unstarted.h"
#include "preload/record/launch_extras.h"

namespace prof::preload {

std::atomic<const ThreadLocal*> g_range_thread{nullptr};
std::atomic<uint64_t> g_started_range{~0ull};  // a number that no range has

namespace {

std::atomic<uint64_t> g_passed_launches;   // that entered while one was awaited
std::atomic<uint64_t> g_trigger_launches;  // that entered since the recording started

// For a pushed range, used by its thread only: its domain, and the number of ranges on that stack from it on.
const void* g_range_domain = nullptr;
uint32_t g_depth = 0;

}  // namespace

bool starts_with_range() { return options().start == option::Start::Nvtx; }

void open_triggers() {
  g_trigger_launches.store(0, std::memory_order_relaxed);
  if (options().launches != 0) await_launches();
}

bool is_awaited_launch() {
  const uint64_t number = g_passed_launches.fetch_add(1, std::memory_order_relaxed) + 1;
  return number == options().start.number && start_window(Window::AwaitsLaunch);
}

uint64_t passed_launches() { return g_passed_launches.load(std::memory_order_relaxed); }

bool stops_with_launch() {
  if (g_trigger_launches.fetch_add(1, std::memory_order_relaxed) != options().launches) return false;
  pass_gpu_activity();
  return true;
}

bool is_awaited_range(std::string_view domain, std::string_view name) {
  if (name != options().start.range.name || !options().start.range.in_domain(domain)) {
    saw_range(domain, name);
    return false;
  }
  return start_window(Window::AwaitsRange);
}

void awaited_range_is_pushed(const void* domain) {
  g_range_domain = domain;
  g_depth = 0;
  g_range_thread.store(&t_local, std::memory_order_relaxed);
  set_nvtx_extra(kNvtxAwaited, true);
}
void awaited_range_is_started(uint64_t range) { g_started_range.store(range, std::memory_order_relaxed); }

void clear_awaited_range() {
  g_range_thread.store(nullptr, std::memory_order_relaxed);
  set_nvtx_extra(kNvtxAwaited, false);
  g_started_range.store(~0ull, std::memory_order_relaxed);
}

void range_pushed(const void* domain) {
  if (domain == g_range_domain) ++g_depth;
}
bool ends_with_pop(const void* domain) {
  if (domain != g_range_domain || (g_depth != 0 && --g_depth != 0)) return false;
  clear_awaited_range();
  return true;
}

}  // namespace prof::preload
