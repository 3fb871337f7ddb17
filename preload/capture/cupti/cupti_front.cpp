#include "preload/capture/cupti/cupti_front.h"

#include "preload/base/clock.h"
#include "preload/base/libc.h"
#include "preload/capture/cupti/cupti_client.h"
#include "preload/capture/cupti/cupti_client_copy.h"
#include "preload/capture/cupti/cupti_last_error.h"
#include "preload/capture/cupti/gpu_state.h"
#include "preload/log/count.h"
#include "preload/record/gpu_clock.h"
#include "preload/record/own_time.h"
#include "preload/record/thread_local.h"
#include "preload/record/thread_scope.h"

#include <cerrno>
#include <cstring>
#include <ctime>

namespace prof::preload {

CuptiLibrary g_cupti;
CuptiBuffers g_cupti_buffers;

namespace {

enum class Front : uint32_t { Closed, Opening, Open, Abandoned };
std::atomic<Front> g_front{Front::Closed};
std::atomic<const void*> g_base{nullptr};  // where the library is loaded
ReadCuptiBuffer g_read = nullptr;          // set before the buffers are registered

// Called on a program thread, inside its launch.
void CUPTIAPI buffer_requested(uint8_t** buffer, size_t* size, size_t* max_records) {
  note_cupti_thread();
  *max_records = 0;
  *size = 0;
  *buffer = g_cupti_buffers.take(*size);
  if (*buffer == nullptr) count(format::LossCounter::cupti_buffers_exhausted);
  const ProgramCuptiError program;
  request_spares_from_subscribers();
}

// Called on CUPTI's thread, or on a thread that flushes.
void CUPTIAPI buffer_completed(CUcontext context, uint32_t stream, uint8_t* buffer, size_t, size_t valid_bytes) {
  void* const scratch = g_cupti_buffers.scratch(buffer);
  if (scratch == nullptr) return;
  const int saved = errno;
  const uint64_t begin = now_ticks();
  ThreadLocal& local = t_local;
  const uint16_t passing = local.passing;
  const KeepCuptiError keep;
  if (valid_bytes != 0) {
    local.passing = 0;  // records of our own threads are wanted here
    const ThreadScope scope;
    local.passing = static_cast<uint16_t>(passing + kPassingOwn);  // hooks must not record these calls
    if (scope.recording() && gpu_activity_collects())
      g_read(g_cupti.api, g_cupti.version, buffer, valid_bytes, scratch);
    local.passing = passing;  // the other profiler's calls are its own
    hand_to_cupti_clients(context, stream, buffer, valid_bytes);
  }
  local.passing = static_cast<uint16_t>(passing + kPassingOwn);
  g_cupti_buffers.give_back(buffer, valid_bytes);
  count_cupti_dropped();
  if (passing == 0) budget_spend(now_ticks() - begin);  // else it is inside a flush, which is measured
  local.passing = passing;
  errno = saved;
}

const void* base_of(const void* function) {
  Dl_info info{};
  return prof_libc_dladdr != nullptr && prof_libc_dladdr(function, &info) != 0 ? info.dli_fbase : nullptr;
}

bool refuse(const char* what, CUptiResult result) {
  const char* text = nullptr;
  if (g_cupti.api.cuptiGetResultString == nullptr || g_cupti.api.cuptiGetResultString(result, &text) != CUPTI_SUCCESS) {
    text = nullptr;
  }
  set_reason(g_cupti, {g_cupti.path, ": ", what, ": ", text != nullptr ? text : "an error"});
  return false;
}

bool register_with_library() {
  const Cupti& api = g_cupti.api;
  if (!g_cupti_buffers.open()) {
    set_reason(g_cupti, {"no memory for buffers"});
    return false;
  }
  settle_clock();
  define_gpu_clock();
  // Once a process: a second registration corrupts records. It precedes every kind, so that all times are of our clock.
  CUptiResult result = api.cuptiActivityRegisterTimestampCallback(gpu_clock_ns);
  if (result != CUPTI_SUCCESS) return refuse("cuptiActivityRegisterTimestampCallback", result);
  if (api.cuptiSetThreadIdType != nullptr) api.cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
  if (api.cuptiActivitySetAttribute != nullptr) {
    uint8_t zeroed = 1;  // our buffers are zeroed; else CUPTI zeroes them inside the program's launches
    size_t size = sizeof zeroed;
    api.cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, &size, &zeroed);
  }
  result = api.cuptiActivityRegisterCallbacks(buffer_requested, buffer_completed);
  return result == CUPTI_SUCCESS || refuse("cuptiActivityRegisterCallbacks", result);
}

// One thread opens CUPTI. Another thread waits for it up to a limit, because half a registration is of no use to it.
template <class Find> bool open_with(ReadCuptiBuffer read, Find&& find) {
  Front closed = Front::Closed;
  if (!g_front.compare_exchange_strong(closed, Front::Opening, std::memory_order_acq_rel)) {
    const int saved = errno;
    for (int i = 0; i < 500 && g_front.load(std::memory_order_acquire) == Front::Opening; ++i) {
      sleep_ns(1'000'000);
    }
    errno = saved;
    return cupti_front_open();
  }
  const OwnCalls own;
  g_read = read;
  const bool found = find();
  const KeepCuptiError keep;
  const bool open = found && register_with_library();
  if (open)
    g_base.store(base_of(reinterpret_cast<const void*>(g_cupti.api.cuptiGetVersion)), std::memory_order_release);
  g_front.store(open ? Front::Open : Front::Closed, std::memory_order_release);
  return open;
}

}  // namespace

bool cupti_front_abandoned() { return g_front.load(std::memory_order_acquire) == Front::Abandoned; }
bool cupti_front_open() { return g_front.load(std::memory_order_acquire) == Front::Open; }

bool open_cupti_front(const char* named, int driver_version, ReadCuptiBuffer read) {
  return open_with(read, [&] { return find_cupti(named, driver_version, g_cupti); });
}

bool open_cupti_front_for(const void* function, ReadCuptiBuffer read) {
  return open_with(read, [&] { return adopt_cupti_around(function, g_cupti); });
}

bool cupti_front_has(const void* function) {
  if (!cupti_front_open()) return false;
  const void* const base = g_base.load(std::memory_order_acquire);
  return base != nullptr && base == base_of(function);
}

void count_cupti_dropped() {
  if (g_cupti.api.cuptiActivityGetNumDroppedRecords == nullptr) return;
  const KeepCuptiError keep;
  size_t dropped = 0;
  if (g_cupti.api.cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped) != CUPTI_SUCCESS || dropped == 0) return;
  count(format::LossCounter::cupti_dropped, dropped);
  count_dropped_for_cupti_clients(dropped);
}

void abandon_cupti_front() {
  if (g_front.load(std::memory_order_relaxed) == Front::Closed) return;
  g_front.store(Front::Abandoned, std::memory_order_relaxed);
  set_reason(g_cupti, {"this is a child of a process that used CUPTI"});
  g_cupti_buffers.abandon();
}

}  // namespace prof::preload
