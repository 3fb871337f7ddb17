// Which Python frames does another thread have? host_samples/ calls it on the helper thread. The thread may run
// meanwhile, without a lock, so every word is read through the kernel, and the frames count only if the copy of the
// thread's native stack has them too.
#pragma once

#include "preload/stacks/copied_stack.h"
#include "preload/stacks/python/python_stack.h"

#include <cstdint>

namespace prof::preload {

enum class PythonLook : uint8_t {
  None,  // the thread runs no Python, or its frames cannot be read
  Found,
  Outer,  // the outer frames only: the thread went on since the copy was made
  Moved   // the same, and no frame could be proven
};

// `handle`: pthread_self() of the thread. `native`: the frames of the copy. `registers`: those of the copy, if they are
// known. The caller is inside a scope.
PythonLook read_python_outside(uint64_t handle, const StackCopy& copy, const CopiedStack& native,
                               const uint64_t* registers, uint32_t register_count, PythonStack& to);

// pthread_self() of the Python thread with this thread id; 0: it runs no Python.
uint64_t python_thread_with(uint32_t tid, uint32_t (*tid_of)(uint64_t handle));

// Forgets what was found: a recording starts, or the process is a forked child.
void forget_python_outside();

}  // namespace prof::preload
