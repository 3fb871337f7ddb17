#include "preload/stacks/python/python_text.h"

#include "preload/format/utf8.h"
#include "preload/log/count.h"
#include "preload/stacks/python/python_frames.h"

namespace prof::preload {

std::string_view python_text(const PythonLayout& layout, uintptr_t object, char* room) {
  constexpr PlainMemory memory;
  uint32_t state = 0;
  uint64_t size = 0;
  if (object == 0) return {};
  memory.read(object + layout.text_state, state);
  memory.read(object + layout.text_size, size);
  const uint32_t bits = state >> layout.text_kind, kind = bits & 7;
  const bool compact = (bits >> 3 & 1) != 0, ascii = (bits >> 4 & 1) != 0;
  if (!compact || (kind != 1 && kind != 2 && kind != 4) || size > (1u << 20)) return {};
  if (ascii) return {reinterpret_cast<const char*>(object + layout.text_ascii), size};
  const uintptr_t data = object + layout.text_other;
  size_t used = 0;
  for (uint64_t i = 0; i < size; ++i) {
    if (used + 4 > kMostPythonText) {
      count(format::LossCounter::text_cut);
      break;
    }
    uint8_t byte = 0;
    uint16_t pair = 0;
    uint32_t character = 0;
    if (kind == 1) {
      memory.read(data + i, byte);
      character = byte;
    }
    if (kind == 2) {
      memory.read(data + i * 2, pair);
      character = pair;
    }
    if (kind == 4) memory.read(data + i * 4, character);
    used += format::put_utf8(character, room + used);
  }
  return {room, used};
}

}  // namespace prof::preload
