#include "preload/control/repeats.h"

#include "preload/base/decimal.h"
#include "preload/base/life_page.h"
#include "preload/base/messages.h"
#include "preload/base/name_list.h"
#include "preload/base/options.h"
#include "preload/capture/cupti/gpu_state.h"
#include "preload/hardware_counters/counter_recording.h"
#include "preload/record/thread.h"
#include "preload/record/thread_local.h"

#include <atomic>
#include <cstdio>
#include <cstring>

namespace prof::preload {

namespace {

constexpr size_t kNameBytes = 512;

std::atomic<uint64_t> g_seen{0};     // launches of that kernel
std::atomic<bool> g_awaited{false};  // the launch has not occurred yet
// This thread is inside the hook that checks a launch, or that repeats one.
constinit thread_local bool t_repeating __attribute__((tls_model("initial-exec"))) = false;

// Whether the kernel `mangled` is called `name`. A mangled name contains each source name after its length:
// "12vector_scale" in "_Z12vector_scalePff". Of a qualified name only the last component is searched.
bool is_called(std::string_view mangled, std::string_view name) {
  if (name_in_list(name, mangled)) return true;
  if (!mangled.starts_with("_Z") || name.find('*') != std::string_view::npos) return false;
  const size_t scope = name.rfind("::");
  const std::string_view last = scope == std::string_view::npos ? name : option::tail(name, scope + 2);
  char part[kNameBytes + 24];
  const int size = std::snprintf(part, sizeof part, "%zu%.*s", last.size(), static_cast<int>(last.size()), last.data());
  if (last.empty() || size <= 0 || static_cast<size_t>(size) >= sizeof part) return false;
  const std::string_view wanted(part, static_cast<size_t>(size));
  for (size_t at = mangled.find(wanted); at != std::string_view::npos; at = mangled.find(wanted, at + 1)) {
    if (at != 0 && (mangled[at - 1] < '0' || mangled[at - 1] > '9')) return true;
  }
  return false;
}

}  // namespace

void open_repeats() {
  static std::atomic<bool> said{false};
  g_awaited.store(false, std::memory_order_relaxed);
  if (options().repeat_kernel.kernel.empty()) return;
  if (!options().assume_idempotent) {
    say(said,
        "PROF_REPEAT_KERNEL needs PROF_ASSUME_IDEMPOTENT=1: a kernel that adds to its output, say, would change what "
        "the "
        "program computes; no launch is repeated");
    return;
  }
  g_seen.store(0, std::memory_order_relaxed);
  g_awaited.store(true, std::memory_order_relaxed);
  await_launches();
}

bool awaits_repeated_kernel() {
  return repeats_awaited() && !t_repeating && t_local.guard_frame == 0 && !inside_our_calls();
}

bool repeats_awaited() { return g_awaited.load(std::memory_order_relaxed); }

uint32_t repeat_count_of(const char* name) {
  t_repeating = true;
  if (name == nullptr || !is_called(name, options().repeat_kernel.kernel) ||
      g_seen.fetch_add(1, std::memory_order_relaxed) + 1 != options().repeat_kernel.launch) {
    clear_fills();
    return 0;
  }
  g_awaited.store(false, std::memory_order_relaxed);
  if (options().launches == 0 && !hardware_counters_on()) pass_gpu_activity();
  explain("repeats launch ", Decimal(options().repeat_kernel.launch).text(), " of ", name);
  return static_cast<uint32_t>(options().repeat_kernel.times);
}

void describe_repeats(char* text, uint32_t bytes) {
  const std::string_view name = options().repeat_kernel.kernel;
  std::snprintf(text, bytes, "repeat %.*s, launch %llu", static_cast<int>(name.size()), name.data(),
                static_cast<unsigned long long>(options().repeat_kernel.launch));
}

void repeat_is_over() { t_repeating = false; }

namespace {

// Null if this thread has recorded nothing in this recording.
KeptFills* kept_fills() {
  const bool of_this_life = t_local.state != nullptr && t_local.epoch == life().epoch.load(std::memory_order_relaxed);
  return of_this_life ? &t_local.state->fills : nullptr;
}

}  // namespace

void begin_fill() { t_repeating = true; }

void keep_fill(const KeptFill& fill, const void* stream, uint32_t null_stream) {
  KeptFills* const kept = kept_fills();
  if (kept == nullptr) return;
  kept->stream = stream;
  kept->null_stream = null_stream;
  if (kept->count == KeptFills::kMost) {
    kept->fills[0] = kept->fills[1];
    --kept->count;
  }
  kept->fills[kept->count++] = fill;
}

void clear_fills() {
  if (KeptFills* const kept = kept_fills(); kept != nullptr) kept->count = 0;
}

void clear_fills_of_others(const void* stream, uint32_t null_stream) {
  const KeptFills* const kept = kept_fills();
  if (kept == nullptr || kept->count == 0) return;
  if (kept->stream != stream || kept->null_stream != null_stream) clear_fills();
}

int repeat_kept_fills(uint32_t& made) {
  const KeptFills* const kept = kept_fills();
  for (uint32_t i = 0; kept != nullptr && i < kept->count; ++i) {
    if (const int result = kept->fills[i].again(kept->fills[i].words); result != 0) return result;
    ++made;
  }
  return 0;
}

void report_repeat_error(uint32_t number, uint32_t times, int result) {
  static std::atomic<bool> said{false};
  char text[kNameBytes + 128];
  const std::string_view name = options().repeat_kernel.kernel;
  std::snprintf(text, sizeof text, "repeating %.*s ended: the driver answered repetition %u of %u with error %d",
                static_cast<int>(name.size()), name.data(), number, times, result);
  say(said, text);
}

}  // namespace prof::preload
