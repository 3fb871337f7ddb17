#include "preload/base/exit_handler.h"

#include <atomic>

extern "C" {
extern void* __dso_handle;
int __cxa_atexit(void (*)(void*), void*, void*);
int __cxa_at_quick_exit(void (*)(void*), void*);
}

namespace prof::preload {

namespace {

ExitHandlers g_handlers{};

}  // namespace

void set_exit_handlers(const ExitHandlers& handlers) { g_handlers = handlers; }

void register_exit_handlers() {
  __cxa_atexit(g_handlers.exit, nullptr, &__dso_handle);
  static std::atomic<bool> quick{false};
  if (!quick.exchange(true)) __cxa_at_quick_exit(g_handlers.quick_exit, &__dso_handle);
}

}  // namespace prof::preload
