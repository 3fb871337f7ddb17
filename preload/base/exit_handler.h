// When do the recorder's exit handlers run? exit() runs handlers last-in first-out, and ours must run before those of
// CUPTI and the driver. So they are registered when a recording starts, again at the first launch, and again by code
// that made CUPTI load a library. This code runs in the program.
#pragma once

namespace prof::preload {

// The functions that the handlers call. They are set once, before the first handler is registered.
struct ExitHandlers {
  void (*exit)(void*);        // exit(), and the return of main
  void (*quick_exit)(void*);  // quick_exit()
};
void set_exit_handlers(const ExitHandlers& handlers);

// Registers the handlers again, so that they run before all handlers that were registered until now.
void register_exit_handlers();

}  // namespace prof::preload
