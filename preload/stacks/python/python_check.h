// Does a layout fit the interpreter that runs here? Answered once, at the first stack of a thread with Python frames, by walking
// these through the kernel: a wrong offset reads nonsense there, not a crash in the program.
#pragma once

#include "preload/stacks/python/python_finder.h"
#include "preload/stacks/python/python_layouts.h"

namespace prof::preload {

enum class Fit { Yes, No, NotYet };  // NotYet: the thread has no frames to check by

Fit check_layout(const PythonInterpreter& python, const PythonLayout& layout, uintptr_t thread);

}  // namespace prof::preload
