#include "preload/stacks/python/python_check.h"

#include "preload/stacks/python/python_frames.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace prof::preload {
namespace {

class CarefulMemory {
 public:
  CarefulMemory() : file_(static_cast<int>(syscall(SYS_openat, AT_FDCWD, "/proc/self/mem", O_RDONLY | O_CLOEXEC))) {}
  ~CarefulMemory() {
    if (file_ >= 0) syscall(SYS_close, file_);
  }
  CarefulMemory(const CarefulMemory&) = delete;
  CarefulMemory& operator=(const CarefulMemory&) = delete;
  template <class T> bool read(uintptr_t at, T& to) const {
    return syscall(SYS_pread64, file_, &to, sizeof to, at) == static_cast<long>(sizeof to);
  }

 private:
  int file_;
};

struct Check {
  const PythonInterpreter& python;
  const PythonLayout& layout;
  CarefulMemory memory;

  bool has_type(uintptr_t object, const void* type) const {
    uintptr_t found = 0;
    return object % 8 == 0 && memory.read(object + layout.object_type, found) &&
           found == reinterpret_cast<uintptr_t>(type);
  }
  bool points_to(uintptr_t field, const void* type) const {
    uintptr_t object = 0;
    return memory.read(field, object) && has_type(object, type);
  }

  // A text that is compact, has characters, and holds them at the expected place: ASCII ends with a zero there.
  bool text_fits(uintptr_t field) const {
    uintptr_t object = 0;
    uint32_t state = 0;
    uint64_t size = 0;
    if (!memory.read(field, object) || !has_type(object, python.text_type)) return false;
    if (!memory.read(object + layout.text_state, state) || !memory.read(object + layout.text_size, size)) return false;
    const uint32_t bits = state >> layout.text_kind, kind = bits & 7;
    if ((kind != 1 && kind != 2 && kind != 4) || (bits >> 3 & 1) == 0 || size > (1u << 20)) return false;
    if ((bits >> 4 & 1) == 0) return true;
    char end = 1, last = 1;
    const uintptr_t data = object + layout.text_ascii;
    return memory.read(data + size, end) && end == '\0' &&
           (size == 0 || (memory.read(data + size - 1, last) && last > 0));
  }

  bool code_fits(const PythonFrame& frame) const {
    const uintptr_t code = frame.code;
    int32_t first_line = -1;
    uint64_t units = 0, identity = 0;
    if (!has_type(code, python.code_type)) return false;
    if (!text_fits(code + layout.code_file) || !text_fits(code + layout.code_name)) return false;
    if (!points_to(code + layout.code_lines, python.bytes_type)) return false;
    if (!memory.read(code + layout.code_first_line, first_line) || first_line < 0) return false;
    if (!memory.read(code + layout.code_identity, identity)) return false;
    const int64_t offset = offset_of(layout, frame);
    if (layout.code_start == kNone) return offset >= -2 && offset < (1 << 28);
    int32_t first_traceable = -1;
    return memory.read(code + layout.bytes_size, units) && offset >= -2 && offset < static_cast<int64_t>(units) * 2 &&
           memory.read(code + layout.code_first_traceable(), first_traceable) && first_traceable >= 0 &&
           static_cast<uint64_t>(first_traceable) <= units;
  }
};

// Whether the list of interpreters contains that of `thread` and ends with the main one.
bool interpreters_fit(const Check& check, uintptr_t thread) {
  constexpr uint32_t kThreadInterpreter = 16, kMostInterpreters = 1000;
  const uint32_t list = check.layout.interpreters;
  if (list == kNone) return true;
  const auto runtime = reinterpret_cast<uintptr_t>(check.python.runtime);
  uintptr_t at = 0, main = 0, own = 0, next = 0, current = 0;
  if (!check.memory.read(runtime + list, at) || !check.memory.read(runtime + list + 8, main) ||
      !check.memory.read(runtime + check.layout.current_thread, current) ||
      !check.memory.read(thread + kThreadInterpreter, own) || current % 8 != 0) {
    return false;
  }
  bool has_own = false;
  for (uint32_t i = 0; i < kMostInterpreters; ++i, at = next) {
    has_own |= at == own;
    if (!check.memory.read(at, next)) return false;
    if (next == 0) return at == main && has_own;
  }
  return false;
}

}  // namespace

Fit check_layout(const PythonInterpreter& python, const PythonLayout& layout, uintptr_t thread, uintptr_t owner) {
  constexpr uint32_t kMostFrames = 256;
  const Check check{python, layout, {}};
  uintptr_t stored_owner = 0, at = 0, ending = 1;
  const bool known = check.memory.read(reinterpret_cast<uintptr_t>(python.runtime) + layout.finalizing, ending) &&
                     check.memory.read(thread + layout.thread_id, stored_owner) && ending == 0 &&
                     owner == stored_owner && top_frame(layout, check.memory, thread, at);
  if (!known || !interpreters_fit(check, thread)) return Fit::No;
  uint32_t codes = 0;
  for (uint32_t i = 0; at != 0 && i < kMostFrames; ++i) {
    PythonFrame frame;
    if (at % 8 != 0 || !read_frame(layout, check.memory, at, frame)) return Fit::No;
    if (frame.owner > kOwnedByLoop + 1) return Fit::No;
    if (frame.code != 0 && (!leave_copy(layout, check.memory, frame) || !check.code_fits(frame))) return Fit::No;
    codes += frame.code != 0;
    at = frame.previous;
  }
  return codes != 0 ? Fit::Yes : Fit::NotYet;
}

}  // namespace prof::preload
