// Does a layout fit the interpreter of this process? python_stack.cpp checks it once, at the first stack of a thread
// with Python frames. The check reads the frames through the kernel, so a wrong offset reads nonsense and never crashes
// the program.
#pragma once

#include "preload/stacks/python/python_finder.h"
#include "preload/stacks/python/python_layouts.h"

namespace prof::preload {

enum class Fit { Yes, No, NotYet };  // NotYet: the thread has no frames for the check

// `thread`: the state of the thread whose pthread_self() is `owner`. It may be another thread.
Fit check_layout(const PythonInterpreter& python, const PythonLayout& layout, uintptr_t thread, uintptr_t owner);

}  // namespace prof::preload
