// The Python half of a stack: the calling thread's own frames, followed from its thread state by a layout that was checked. No
// hook in the interpreter, no GIL. In the program.
//
// Why that is safe: the chain of a thread changes only while that thread runs Python code, and it is here, in a hook, with the
// GIL or without. The frames hold their code objects, those their names. Other threads' frames are never looked at.
#pragma once

#include <atomic>
#include <cstdint>

namespace prof::preload {

class PythonMemo;  // python_memo.h

// What a stack is made of; on the program's stack while it is taken. The frames are innermost first.
struct PythonStack {
  uint64_t* frames = nullptr;  // format::python_frame_word()
  uint32_t most = 0;
  uint32_t count = 0;
  uint32_t flags = 0;  // format::kStackPythonCut, kStackNoPython
  PythonMemo* memo = nullptr;
};
// Fills in the calling thread's Python frames, their definitions written. Null: no Python here. Set while a life starts, or
// when the interpreter is found.
using PythonWalker = void (*)(PythonStack& to);
extern std::atomic<PythonWalker> g_python_walker;

// When a life starts; `stacks`: any are taken. Reads PROF_PYTHON and looks for an interpreter. With one whose layout is not known or fails its check stacks have no
// Python frames: that is said once, and the fact `python` of the log is "unknown".
void open_python(bool stacks);

// At the first sight of a stack: an interpreter may have been loaded since. Costs a look at the loader's count of files.
void look_for_python();

}  // namespace prof::preload
