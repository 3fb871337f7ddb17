// Is there a CPython in this process? Found by what it exports, in the program itself or in a libpython, read from the symbol
// tables in memory inside dl_iterate_phdr(): no dlsym, no lock of ours. While a life starts, and at the first sight of a stack.
#pragma once

#include <cstdint>

namespace prof::preload {

struct PythonInterpreter {
  const char* runtime = nullptr;  // _PyRuntime
  const void* code_type = nullptr;
  const void* bytes_type = nullptr;
  const void* text_type = nullptr;
  char* (*this_thread)() = nullptr;  // PyGILState_GetThisThreadState: looks into thread-specific data, needs no GIL
  uint32_t major = 0, minor = 0;
  char version[24] = {};
};

// False: none among the files that are loaded now.
bool find_python(PythonInterpreter& python);

// How many files the loader has mapped so far: looking again makes sense when it grew.
uint64_t loads_so_far();

}  // namespace prof::preload
