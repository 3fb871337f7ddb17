#include "preload/intercept/unhooked.h"

#include "preload/runtime/recorder.h"

#include <atomic>
#include <cstring>
#include <string_view>

namespace prof::preload {
namespace {

// Names are copied: the caller's string may be gone when there is a log. A full table drops names, never the count.
struct Noticed {
  std::atomic<uint32_t> state;  // 0 free, 1 being filled, 2 whole
  std::atomic<uint64_t> defined;  // life whose log has it
  char name[60];
};
constexpr int kNames = 32;
Noticed g_noticed[kNames];

bool launch_like(std::string_view name) {
  return name.starts_with("cu") && (name.find("Launch") != std::string_view::npos || name.starts_with("cuMemcpy") ||
                                    name.starts_with("cuMemset"));
}

}  // namespace

void notice_unhooked(const char* name) {
  const std::string_view text(name);
  if (!launch_like(text) || text.size() >= sizeof(Noticed::name)) return;
  for (Noticed& slot : g_noticed) {
    uint32_t free = 0;
    if (slot.state.compare_exchange_strong(free, 1, std::memory_order_acquire)) {
      std::memcpy(slot.name, name, text.size() + 1);
      slot.state.store(2, std::memory_order_release);
      break;
    }
    if (free == 2 && text == slot.name) return;
  }
  count(format::Counter::unhooked_launch_api);
}

void define_unhooked() {
  for (Noticed& slot : g_noticed) {
    if (slot.state.load(std::memory_order_acquire) != 2) return;
    if (slot.defined.load(std::memory_order_relaxed) == t_local.epoch) continue;
    format::UnhookedApi record;
    record.name = slot.name;
    if (define(record)) slot.defined.store(t_local.epoch, std::memory_order_relaxed);
  }
}

}  // namespace prof::preload
