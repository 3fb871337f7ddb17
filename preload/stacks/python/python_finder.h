// Is there a CPython in this process? python_stack.cpp searches when a recording starts and at the first sight of a
// stack. CPython is recognised by the symbols that the program or a libpython exports. They are read from the symbol
// tables in memory inside dl_iterate_phdr(), without dlsym and without a lock of ours.
#pragma once

#include <cstdint>

namespace prof::preload {

struct PythonInterpreter {
  const char* runtime = nullptr;  // _PyRuntime
  const void* code_type = nullptr;
  const void* bytes_type = nullptr;
  const void* text_type = nullptr;
  char* (*this_thread)() = nullptr;  // PyGILState_GetThisThreadState: reads thread-specific data, needs no GIL
  // The evaluation loop, _PyEval_EvalFrameDefault; 0: not exported.
  uint64_t loop = 0, loop_bytes = 0;
  uint32_t major = 0, minor = 0;
  char version[24] = {};
};

// False: none of the loaded files is an interpreter.
bool find_python(PythonInterpreter& python);

// How many files the loader has mapped so far. Another search makes sense only if the number grew.
uint64_t loads_so_far();

}  // namespace prof::preload
