#include "preload/control/triggers.h"

#include "preload/base/name_list.h"
#include "preload/base/options.h"
#include "preload/capture/cupti/gpu_state.h"

#include <cstring>

namespace prof::preload {

std::atomic<const ThreadLocal*> g_range_thread{nullptr};
std::atomic<uint64_t> g_started_range{~0ull};  // a number that no range has

namespace {

uint64_t g_first_launch = 0;               // of PROF_START=launches:N
std::atomic<uint64_t> g_passed_launches;   // that entered while one was waited for
std::atomic<uint64_t> g_trigger_launches;  // that entered since the recording began

char g_wanted[512];
std::string_view g_range_name, g_domain;

// Of a pushed range, used by its thread alone: its domain, and how many ranges there are on that stack from it on.
const void* g_range_domain = nullptr;
uint32_t g_depth = 0;

bool read_first_launch(const char* text) {
  uint64_t number = 0;
  const char* at = text;
  for (; *at >= '0' && *at <= '9' && number < 1'000'000'000'000'000'000; ++at) {
    number = number * 10 + static_cast<uint64_t>(*at - '0');
  }
  g_first_launch = number;
  return at != text && *at == '\0';
}

void read_range(const char* text) {
  std::strcpy(g_wanted, text);
  split_range_name(g_wanted, g_range_name, g_domain);
}

}  // namespace

Window read_trigger(const char* start) {
  constexpr std::string_view kLaunches = "launches:", kRange = "nvtx:";
  const std::string_view text(start);
  if (text.starts_with(kLaunches) && read_first_launch(start + kLaunches.size()))
    return g_first_launch > 1 ? Window::AwaitsLaunch : Window::Open;
  if (text.starts_with(kRange) && text.size() > kRange.size() && text.size() - kRange.size() < sizeof g_wanted) {
    read_range(start + kRange.size());
    return Window::AwaitsRange;
  }
  return Window::Open;
}

bool begins_with_range() { return !g_range_name.empty(); }

void open_triggers() {
  g_trigger_launches.store(0, std::memory_order_relaxed);
  if (options().launches != 0) await_launches();
}

bool is_awaited_launch() {
  const uint64_t number = g_passed_launches.fetch_add(1, std::memory_order_relaxed) + 1;
  return number == g_first_launch && begin_window(Window::AwaitsLaunch);
}

bool ends_with_launch() {
  if (g_trigger_launches.fetch_add(1, std::memory_order_relaxed) != options().launches) return false;
  pass_gpu_activity();
  return true;
}

bool is_awaited_range(std::string_view domain, std::string_view name) {
  if (name != g_range_name || (g_domain != "*" && domain != g_domain)) return false;
  return begin_window(Window::AwaitsRange);
}

void awaited_range_is_pushed(const void* domain) {
  g_range_domain = domain;
  g_depth = 0;
  g_range_thread.store(&t_local, std::memory_order_relaxed);
}
void awaited_range_is_started(uint64_t range) { g_started_range.store(range, std::memory_order_relaxed); }

void clear_awaited_range() {
  g_range_thread.store(nullptr, std::memory_order_relaxed);
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
