// Which Python frames does the calling thread have? call_stack.cpp uses it, in the program. The frames are followed
// from the thread state by a layout that was checked. It installs no hook in the interpreter and takes no GIL.
//
// Why that is safe: the chain of a thread changes only while that thread runs Python code. The thread is here, in a
// hook, with the GIL or without. The frames hold their code objects, and these hold their names. Other threads' frames
// are never read.
#pragma once

#include "preload/format/stack_definitions.h"

#include <atomic>
#include <cstdint>

namespace prof::preload {

class PythonMemo;          // python_memo.h
struct PythonInterpreter;  // python_finder.h
struct PythonLayout;       // python_layouts.h

// The Python frames of one stack, innermost first. It is on the program's stack while the frames are read.
struct PythonStack {
  uint64_t* frames = nullptr;  // format::python_frame_word()
  uint32_t most = 0;
  uint32_t count = 0;
  uint32_t flags = 0;  // format::kStackPythonCut, kStackNoPython
  PythonMemo* memo = nullptr;
};
// Fills in the calling thread's Python frames and writes their definitions. Null: there is no Python here. It is set
// when a recording starts, or when the interpreter is found.
using PythonWalker = void (*)(PythonStack& to);
extern std::atomic<PythonWalker> g_python_walker;

// The interpreter of this process and its layout. `checked`: a thread has checked the layout.
struct KnownPython {
  const PythonInterpreter* python = nullptr;
  const PythonLayout* layout = nullptr;
  bool checked = false;
};
// False: there is none, or its layout is not known.
bool known_python(KnownPython& known);

// The id of a place in Python code; its definition is written if it is new. 0: no id. The caller is inside a scope.
uint32_t define_python_place(format::PythonFrameDef place);

// Called when a recording starts. `stacks`: whether any stacks are taken. Reads PROF_PYTHON and searches for an
// interpreter. If its layout is unknown or fails the check, stacks have no Python frames. That is reported once, and
// the fact `python` of the log is "unknown".
void open_python(bool stacks);

// Called at the first sight of a stack, because an interpreter may have been loaded since. It costs one query of the
// loader's count of files.
void look_for_python();

}  // namespace prof::preload
