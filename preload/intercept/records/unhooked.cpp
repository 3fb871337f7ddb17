#include "preload/intercept/records/unhooked.h"

#include "preload/log/count.h"
#include "preload/record/append.h"
#include "preload/record/thread_local.h"

#include <atomic>
#include <cstring>

namespace prof::preload {
namespace {

// Names are copied, because the caller's string may no longer exist when there is a log. A full table loses names,
// never the count.
struct Noticed {
  std::atomic<uint32_t> state;    // 0 free, 1 being filled, 2 complete
  std::atomic<uint64_t> defined;  // epoch of the recording whose log has it
  char name[60];
};
constexpr int kNames = 32;
constinit Noticed g_noticed[kNames] = {};

bool launch_like(const char* name) {  // no searches of string_view: unoptimised they reference libstdc++'s exceptions
  return std::strstr(name, "Launch") != nullptr || std::strncmp(name, "cuMemcpy", 8) == 0 ||
         std::strncmp(name, "cuMemset", 8) == 0;
}

}  // namespace

void notice_unhooked(const char* name) {
  const size_t size = std::strlen(name) + 1;
  if (!launch_like(name) || size > sizeof(Noticed::name)) return;
  for (Noticed& slot : g_noticed) {
    uint32_t free = 0;
    if (slot.state.compare_exchange_strong(free, 1, std::memory_order_acquire)) {
      std::memcpy(slot.name, name, size);
      slot.state.store(2, std::memory_order_release);
      break;
    }
    if (free == 2 && std::strcmp(slot.name, name) == 0) return;
  }
  count(format::LossCounter::unhooked_launch_api);
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
