// Does a thread wait for the lock of CPython (GIL), and which thread has it? host_samples/ calls it on the helper
// thread, while the threads run.
#pragma once

#include <cstdint>

namespace prof::preload {

// Whether a thread that waits for the word at that address waits for a GIL. `holder`: pthread_self() of the thread that
// has it; 0: not known.
bool is_python_gil(uint64_t address, uint64_t& holder);

}  // namespace prof::preload
