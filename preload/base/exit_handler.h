// Our exit handlers. exit() runs handlers last-in first-out, and ours must run before those of CUPTI and of the driver:
// so they are registered when a recording starts, and once more by whoever made CUPTI load something. In the program.
#pragma once

namespace prof::preload {

// What the handlers do; set once, before the first of them is registered.
struct ExitHandlers {
  void (*exit)(void*);        // exit(), and the return of main
  void (*quick_exit)(void*);  // quick_exit()
};
void set_exit_handlers(const ExitHandlers& handlers);

// Registers them again, so that they run before all that were registered until now.
void register_exit_handlers();

}  // namespace prof::preload
