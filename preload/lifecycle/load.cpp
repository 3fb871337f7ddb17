// What happens when libprof.so is loaded into a process? Almost nothing: no file, thread or heap before the first CUDA
// or NVTX event. Only the variable is set by which NVTX finds libprof.so, because NVTX reads it on its first use in
// each shared object.
#include "preload/lifecycle/load.h"

#include "preload/base/clock.h"
#include "preload/base/environment.h"
#include "preload/base/options.h"
#include "preload/base/own_library.h"
#include "preload/control/wanted.h"
#include "preload/lifecycle/recording_period.h"
#include "preload/record/recording_window.h"

#include <sys/auxv.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace prof::preload {

namespace {

char g_chained[4096];

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

__attribute__((constructor)) void loaded() {
  note_clocks_at_load();
  find_own_library();
  const char* const path = library_path();
  if (inert() || path[0] == '\0' || !ready_to_record()) return;
  exclude_children(path);
  if (!options().nvtx && !window_is(Window::AwaitsRange)) return;
  constexpr const char* kInjection = "NVTX_INJECTION64_PATH";
  constexpr const char* kChain = "PROF_NVTX_CHAIN";  // for children, which find our path in the first variable
  const char* other = environment_variable(kInjection);
  if (other != nullptr && std::strcmp(other, path) == 0) other = environment_variable(kChain);
  if (other != nullptr && other[0] != '\0' && std::strlen(other) < sizeof g_chained) {
    std::strcpy(g_chained, other);
    setenv(kChain, g_chained, 1);
  }
  setenv(kInjection, path, 1);
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

const char* chained_nvtx_injection() { return g_chained; }

}  // namespace prof::preload
