// dlclose(): calls libc's dlclose, then checks whether code was unloaded, because the next library may be mapped at the
// same addresses. The check runs only while call stacks are recorded. The function has two symbol versions like libc's
// own, as dlsym has (dlsym.S).
#include "preload/base/libc.h"
#include "preload/base/life_page.h"
#include "preload/lifecycle/call_scope.h"
#include "preload/record/thread_local.h"
#include "preload/stacks/call_stack.h"
#include "preload/stacks/code_images.h"

namespace prof::preload {
namespace {

__attribute__((noinline)) void code_may_be_gone() {
  // A process that does not record yet, or no longer, starts nothing here.
  if (inside_our_calls() || life().epoch.load(std::memory_order_acquire) == 0) return;
  const int saved = errno;
  if (const EventScope scope; scope.recording()) look_for_unloaded();
  errno = saved;
}

}  // namespace
}  // namespace prof::preload

extern "C" {

__attribute__((visibility("hidden"))) int prof_dlclose(void* handle) {
  using namespace prof::preload;
  const int result = real_dlclose(handle);
  if (result == 0 && g_stack_uses.load(std::memory_order_relaxed) != 0) code_may_be_gone();
  return result;
}

__attribute__((visibility("default"), alias("prof_dlclose"))) int prof_dlclose_old(void* handle);
__attribute__((visibility("default"), alias("prof_dlclose"))) int prof_dlclose_new(void* handle);
__asm__(".symver prof_dlclose_old, dlclose@" PROF_OLDEST_GLIBC);
__asm__(".symver prof_dlclose_new, dlclose@@GLIBC_2.34");
}
