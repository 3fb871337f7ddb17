// The part of an interpreter that a stack is read from: the data that CPython 3.14 publishes about itself, with offsets
// that no release has, one thread with two frames, and entries around them that are not frames.
#include <pthread.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED uint64_t _PyRuntime[128];
EXPORTED char PyCode_Type[8], PyBytes_Type[8], PyUnicode_Type[8];
EXPORTED const unsigned long Py_Version;
uint64_t _PyRuntime[128];
char PyCode_Type[8], PyBytes_Type[8], PyUnicode_Type[8];
const unsigned long Py_Version = 0x030e02f0;  // 3.14.2

namespace {

struct Text {
  void* type = PyUnicode_Type;
  uint64_t state = 1u << 5 | 1u << 6 | 1u << 2;  // compact, ASCII, one byte per character
  uint64_t size = 0;
  char characters[32] = {};
  explicit Text(const char* text) : size(std::strlen(text)) { std::memcpy(characters, text, size); }
};
struct Lines {
  void* type = PyBytes_Type;
  uint64_t size = 2;
  uint8_t bytes[8] = {0xe9, 4 << 1};  // no columns, 2 units, 4 lines on
};
struct Code {
  void* type = PyCode_Type;
  uint64_t units = 4;
  uint32_t first_line = 10, counts[4] = {}, free = 0, version = 0;
  Text* file = nullptr;
  Text* name = nullptr;
  Lines* lines = nullptr;
  int32_t first_traceable = 0, padding = 0;
  void* extra = nullptr;
  uint16_t instructions[4] = {};
};
struct Frame {
  uint64_t unused = ~0ull;
  Frame* previous = nullptr;
  char owner = 0;
  uint16_t* at = nullptr;
  uintptr_t executable = 0;  // tagged
};
struct Thread {
  uint64_t unused[4] = {};
  Frame* frame = nullptr;
  uint64_t id = 0;
};

Text file("made_up.py"), outer_name("outer"), inner_name("Class.inner");
Lines lines;
Code outer_code, inner_code;
Frame base, entry, outer, inner;
Thread thread;

__attribute__((constructor)) void make() {
  std::memcpy(_PyRuntime, "xdebugpy", 8);
  _PyRuntime[1] = Py_Version;
  _PyRuntime[4] = 127 * 8;  // finalizing
  _PyRuntime[26] = offsetof(Thread, frame), _PyRuntime[27] = offsetof(Thread, id);
  _PyRuntime[32] = offsetof(Frame, previous), _PyRuntime[33] = offsetof(Frame, executable);
  _PyRuntime[34] = offsetof(Frame, at), _PyRuntime[36] = offsetof(Frame, owner);
  _PyRuntime[40] = offsetof(Code, file), _PyRuntime[41] = _PyRuntime[42] = offsetof(Code, name);
  _PyRuntime[43] = offsetof(Code, lines), _PyRuntime[44] = offsetof(Code, first_line);
  _PyRuntime[48] = offsetof(Code, instructions);
  _PyRuntime[51] = offsetof(Code, type);
  _PyRuntime[75] = offsetof(Lines, size), _PyRuntime[76] = offsetof(Lines, bytes);
  _PyRuntime[78] = offsetof(Text, state), _PyRuntime[79] = offsetof(Text, size),
  _PyRuntime[80] = offsetof(Text, characters);
  outer_code.file = inner_code.file = &file, outer_code.lines = inner_code.lines = &lines;
  outer_code.name = &outer_name, inner_code.name = &inner_name;
  inner_code.first_line = 20;
  base.owner = 3, entry.owner = 3;
  entry.previous = &base, outer.previous = &entry, inner.previous = &outer;
  outer.executable = reinterpret_cast<uintptr_t>(&outer_code);
  inner.executable = reinterpret_cast<uintptr_t>(&inner_code) | 1;
  outer.at = outer_code.instructions + 1, inner.at = inner_code.instructions + 1;
  thread.frame = &inner, thread.id = static_cast<uint64_t>(pthread_self());
}

}  // namespace

EXPORTED const char* Py_GetVersion();
const char* Py_GetVersion() { return "3.14.2"; }
EXPORTED void* PyGILState_GetThisThreadState();
void* PyGILState_GetThisThreadState() { return pthread_self() == thread.id ? &thread : nullptr; }
EXPORTED void end_python();
void end_python() { _PyRuntime[127] = 1; }
