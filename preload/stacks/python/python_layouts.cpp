#include "preload/stacks/python/python_layouts.h"

#include "preload/stacks/python/python_finder.h"

#include <cstring>

namespace prof::preload {
namespace {

struct Published {
  uint32_t minor, thread_state, thread_id, frame, code, object, bytes, unicode;
  uint32_t lock;
};
constexpr Published kPublished[] = {
#define PYTHON_LAYOUT(...)
#define PYTHON_PUBLISHED(...) {__VA_ARGS__},
#define PYTHON_LOCK(...)
#include "preload/stacks/python/python_layouts.def"
#undef PYTHON_LAYOUT
#undef PYTHON_PUBLISHED
#undef PYTHON_LOCK
};

struct KnownLock {
  uint32_t minor;
  PythonLock lock;
};
constexpr KnownLock kKnownLocks[] = {
#define PYTHON_LAYOUT(...)
#define PYTHON_PUBLISHED(...)
#define PYTHON_LOCK(minor, pointer, holder, held) {minor, {pointer, holder, held}},
#include "preload/stacks/python/python_layouts.def"
#undef PYTHON_LAYOUT
#undef PYTHON_PUBLISHED
#undef PYTHON_LOCK
};

// The fields that are read have the same index in their group in all versions, except thread_id.
const char* read_published(const char* runtime, const Published& words, PythonLayout& layout) {
  uint64_t version, free_threaded;
  std::memcpy(&version, runtime + 8, 8);
  std::memcpy(&free_threaded, runtime + 16, 8);
  if (std::memcmp(runtime, "xdebugpy", 8) != 0 || version >> 16 != (3u << 8 | words.minor))
    return "it does not publish its layout";
  bool fits = true;
  const auto word = [&](uint32_t index) {
    uint64_t value;
    std::memcpy(&value, runtime + index * 8, 8);
    fits &= value < 4096;
    return static_cast<uint32_t>(value);
  };
  layout = {};
  layout.minor = words.minor;
  layout.free_threaded = free_threaded != 0;
  layout.finalizing = word(4);
  layout.thread_frame = word(words.thread_state + 4);
  layout.thread_id = word(words.thread_state + words.thread_id);
  layout.cframe = kNone;
  layout.frame_previous = word(words.frame + 1);
  layout.frame_code = word(words.frame + 2);
  layout.frame_position = word(words.frame + 3);
  layout.frame_owner = word(words.frame + 5);
  layout.position = Position::Pointer;
  layout.frame_entry = kNone;
  layout.code_file = word(words.code + 1);
  layout.code_name = word(words.code + 3);
  layout.code_lines = word(words.code + 4);
  layout.code_first_line = word(words.code + 5);
  layout.lines = LineFormat::Locations;
  layout.code_start = word(words.code + 9);
  layout.code_identity = layout.code_first_line + 20;  // co_nfreevars, co_version
  if (free_threaded != 0 && words.minor >= 14) {
    layout.frame_copy = word(words.frame + 7);
    layout.code_copies = word(words.code + 10);
    fits &= layout.code_copies >= 24;
    layout.text_kind = 8;
  }
  layout.object_type = word(words.object + 1);
  layout.bytes_size = word(words.bytes + 1);
  layout.bytes_data = word(words.bytes + 2);
  layout.text_state = word(words.unicode + 1);
  layout.text_size = word(words.unicode + 2);
  layout.text_ascii = word(words.unicode + 3);
  layout.text_other = layout.text_ascii + 16;  // after utf8_length and utf8
  return fits && layout.code_start >= 24 ? nullptr : "the layout it publishes is not plausible";
}

}  // namespace

const char* choose_layout(const PythonInterpreter& python, PythonLayout& layout) {
  if (python.major != 3) return "its version is not known";
  for (const PythonLayout& known : kPythonLayouts) {
    if (known.minor != python.minor || known.minor >= kFirstPublished) continue;
    layout = known;
    return nullptr;
  }
  for (const Published& words : kPublished) {
    if (words.minor == python.minor) return read_published(python.runtime, words, layout);
  }
  return "its version is not known";
}

bool choose_lock(const PythonInterpreter& python, PythonLock& lock) {
  if (python.major != 3) return false;
  for (const KnownLock& known : kKnownLocks) {
    if (known.minor != python.minor) continue;
    lock = known.lock;
    return true;
  }
  for (const Published& words : kPublished) {
    if (words.minor != python.minor) continue;
    // Offsets in the interpreter: of the pointer, of its own lock, one that is not used, and two fields of that lock.
    uint64_t word[5];
    std::memcpy(word, python.runtime + words.lock * 8, sizeof word);
    constexpr uint64_t kMost = 1u << 22;
    const auto [pointer, own, unused, held, holder] = word;
    if (pointer == 0 || pointer > kMost || own > kMost || held < own || held - own > 64 || holder < own ||
        holder - own > 64)
      return false;
    lock = {static_cast<uint32_t>(pointer), static_cast<uint32_t>(holder - own), static_cast<uint32_t>(held - own)};
    return true;
  }
  return false;
}

}  // namespace prof::preload
