#include "preload/stacks/python_gil.h"

#include "preload/stacks/python/outside_memory.h"
#include "preload/stacks/python/python_finder.h"
#include "preload/stacks/python/python_interpreters.h"
#include "preload/stacks/python/python_layouts.h"
#include "preload/stacks/python/python_stack.h"

#include <pthread.h>

namespace prof::preload {

namespace {

// The lock begins with four words: its interval, its last holder, whether it is held, a number. Two conditions, each
// with a mutex, follow.
constexpr uint64_t kLockWords = 32;
constexpr uint64_t kLockBytes = kLockWords + 2 * (sizeof(pthread_cond_t) + sizeof(pthread_mutex_t));

uint64_t owner_of(const PythonLayout& layout, uintptr_t state) {
  uint64_t owner = 0;
  return state != 0 && OutsideMemory().read(state + layout.thread_id, owner) ? owner : 0;
}

// Up to 3.11: one lock, in _PyRuntime before the thread state that has it.
bool is_lock_of_runtime(const KnownPython& known, uint64_t address, uint64_t& holder) {
  const PythonLayout& layout = *known.layout;
  const auto runtime = reinterpret_cast<uint64_t>(known.python->runtime);
  if (address - runtime >= layout.current_thread) return false;
  uintptr_t state = 0;
  if (OutsideMemory().read(runtime + layout.current_thread, state)) holder = owner_of(layout, state);
  return true;
}

}  // namespace

bool is_python_gil(uint64_t address, uint64_t& holder) {
  holder = 0;
  KnownPython known;
  if (!known_python(known)) return false;
  if (known.layout->current_thread != kNone) return is_lock_of_runtime(known, address, holder);
  PythonLock layout;
  if (!choose_lock(*known.python, layout)) return false;
  bool found = false;
  each_interpreter(known, [&](uintptr_t interpreter) {
    const OutsideMemory memory{};
    uintptr_t lock = 0, state = 0;
    int32_t held = 0;
    found = memory.read(interpreter + layout.pointer, lock) && address - lock - kLockWords < kLockBytes - kLockWords;
    if (found && memory.read(lock + layout.holder, state) && memory.read(lock + layout.held, held) && held != 0)
      holder = owner_of(*known.layout, state);
    return !found;
  });
  return found;
}

}  // namespace prof::preload
