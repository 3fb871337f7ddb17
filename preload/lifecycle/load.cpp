// What happens when libprof.so is loaded into a process? Almost nothing: no file, thread or heap before the first CUDA
// or NVTX event, unless PROF_HOST_PROCESSES names the program, and the environment stays as it is.
#include "preload/lifecycle/load.h"

#include "preload/base/clock.h"
#include "preload/base/environment.h"
#include "preload/base/loader_call.h"
#include "preload/base/options.h"
#include "preload/base/own_library.h"
#include "preload/control/triggers.h"
#include "preload/control/wanted.h"
#include "preload/lifecycle/call_scope.h"
#include "preload/lifecycle/recording_period.h"
#include "preload/record/recording_window.h"
#include "preload/record/thread.h"

#include <sys/auxv.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace prof::preload {

namespace {

// No thread waits: if another thread is preparing the process, a call passes through.
enum class Ready : uint32_t { NotYet, Now, Yes };
constinit std::atomic<Ready> g_ready{Ready::NotYet};

bool make_ready() {
  if (inert() || getauxval(AT_SECURE) != 0 || !read_options_once()) return false;
  Ready expected = Ready::NotYet;
  if (!g_ready.compare_exchange_strong(expected, Ready::Now, std::memory_order_acq_rel)) return expected == Ready::Yes;
  open_window();
  g_ready.store(Ready::Yes, std::memory_order_release);
  return true;
}

// PROF_HOST_PROCESSES: the recording starts here, and this thread has samples although it makes no call of CUDA.
void start_host_process() {
  const EventScope scope;
  if (scope.recording()) sample_this_thread();
}

__attribute__((constructor)) void loaded() {
  note_clocks_at_load();
  find_own_library();
  const char* const path = library_path();
  if (inert() || path[0] == '\0' || !ready_to_record()) return;
  exclude_children(path);
  if (!options().host_samples.wanted() || !is_host_process()) return;
  start_host_process();
  guard_forks();
  set_start_in_child(start_host_process);
}

}  // namespace

bool ready_to_record() {
  if (g_ready.load(std::memory_order_acquire) == Ready::Yes) [[likely]]
    return true;
  const int saved = errno;
  const bool ready = make_ready();
  errno = saved;
  return ready;
}

bool is_getting_ready() {
  return !inert() && getauxval(AT_SECURE) == 0 && g_ready.load(std::memory_order_acquire) != Ready::Yes;
}

const char* nvtx_injection() {
  if (library_path()[0] == '\0') find_own_library();  // before the constructor
  if (inert() || library_path()[0] == '\0' || !ready_to_record()) return nullptr;
  return options().nvtx || starts_with_range() ? library_path() : nullptr;
}

const char* chained_nvtx_injection() {
  const char* const named = environment_variable(kNvtxInjection);
  return named != nullptr && std::strcmp(named, library_path()) != 0 ? named : "";
}

}  // namespace prof::preload
