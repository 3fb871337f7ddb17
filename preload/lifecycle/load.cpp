// When libprof.so is loaded into a process, next to nothing happens. No file, thread or heap before the first CUDA or NVTX
// event; only the variable that makes NVTX find us, because NVTX asks for it on its first use in each shared object.
#include "preload/lifecycle/load.h"

#include "preload/base/own_library.h"
#include "preload/control/wanted.h"
#include "preload/lifecycle/recording_period.h"
#include "preload/record/recording_window.h"

#include <cstdlib>
#include <cstring>

namespace prof::preload {

namespace {

char g_chained[4096];
__attribute__((constructor)) void loaded() {
  find_own_library();
  const char* const path = library_path();
  if (inert() || path[0] == '\0') return;
  leave_children_alone(path);
  open_window();
  const char* const nvtx = getenv("PROF_NVTX");
  if (nvtx != nullptr && std::strcmp(nvtx, "off") == 0 && !window_is(Window::AwaitsRange)) return;
  constexpr const char* kInjection = "NVTX_INJECTION64_PATH";
  constexpr const char* kChain = "PROF_NVTX_CHAIN";  // for children, which find our path in the first variable
  const char* other = getenv(kInjection);
  if (other != nullptr && std::strcmp(other, path) == 0) other = getenv(kChain);
  if (other != nullptr && other[0] != '\0' && std::strlen(other) < sizeof g_chained) {
    std::strcpy(g_chained, other);
    setenv(kChain, g_chained, 1);
  }
  setenv(kInjection, path, 1);
}

}  // namespace

const char* chained_nvtx_injection() { return g_chained; }

}  // namespace prof::preload
