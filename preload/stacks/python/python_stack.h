// The Python half of a stack: the calling thread's own frames, followed from its thread state by a layout that was checked. No
// hook in the interpreter, no GIL. In the program.
//
// Why that is safe: the chain of a thread changes only while that thread runs Python code, and it is here, in a hook, with the
// GIL or without. The frames hold their code objects, those their names. Other threads' frames are never looked at.
#pragma once

namespace prof::preload {

// When a life starts: reads PROF_PYTHON and looks for an interpreter. With one whose layout is not known or fails its check stacks have no
// Python frames: that is said once, and the fact `python` of the log is "unknown".
void open_python();

// At the first sight of a stack: an interpreter may have been loaded since. Costs a look at the loader's count of files.
void look_for_python();

}  // namespace prof::preload
