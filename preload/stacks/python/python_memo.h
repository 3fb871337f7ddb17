// Which id does a place in Python code have that this thread met before? python_stack.cpp uses it, in the program, one
// memo per thread. The shared table of python_stack.cpp hashes parts of the code object (10 to 14 ns a frame). This
// memo compares them word by word (2 ns a frame). The whole chain of frames is read again each time, so frames that
// moved, returned or belong to another call make no difference.
//
//   set of 2 entries, chosen by code object and position; the older one of the two is replaced
//
// The address of a code object may be used again. An entry therefore holds every field by which the shared table
// distinguishes code objects.
#pragma once

#include "preload/stacks/python/python_layouts.h"

#include <atomic>
#include <cstdint>
#include <cstring>

namespace prof::preload {

inline uint64_t word_at(uintptr_t at) {
  uint64_t word;
  std::memcpy(&word, reinterpret_cast<const void*>(at), sizeof word);
  return word;
}

// Whether each code object of an interpreter has a unique number.
inline bool has_number(const PythonLayout& layout) { return layout.minor >= 12; }

using WordPair __attribute__((vector_size(16))) = uint64_t;

inline WordPair pair_at(uintptr_t at) {
  WordPair pair;
  std::memcpy(&pair, reinterpret_cast<const void*>(at), sizeof pair);
  return pair;
}
inline bool is_zero(WordPair pair) { return (pair[0] | pair[1]) == 0; }

// Distinguishes a code object from one that had its address before: by the addresses of its parts (two fields, each
// with the word after it) and by its number. Up to 3.11 a copy of the same text, compiled again, may get all the
// addresses of the one before. The contents of the line table are therefore compared too: both ends if it is longer
// than 64 bytes.
struct PythonCodeParts {
  WordPair file, name, identity;
  uint64_t lines, lines_size;
  WordPair head[2], tail[2];         // of the line table
  uintptr_t head_begin, tail_begin;  // the addresses from which they were read

  static uint32_t identity_of(const PythonLayout& layout) {
    return has_number(layout) ? layout.code_identity - 8 : layout.code_first_line;
  }
  static PythonCodeParts read(const PythonLayout& layout, uintptr_t code) {
    PythonCodeParts parts{};
    parts.file = pair_at(code + layout.code_file);
    parts.name = pair_at(code + layout.code_name);
    parts.identity = pair_at(code + identity_of(layout));
    parts.lines = word_at(code + layout.code_lines);
    if (has_number(layout)) return parts;
    parts.lines_size = word_at(parts.lines + layout.bytes_size);
    // A table shorter than 32 bytes is read together with the bytes before it: size, type, at worst its reference
    // count.
    const uintptr_t begin = parts.lines + layout.bytes_data - 32;
    parts.head_begin = begin + (parts.lines_size < 32 ? parts.lines_size : 32);
    parts.tail_begin = begin + parts.lines_size;
    parts.head[0] = pair_at(parts.head_begin);
    parts.head[1] = pair_at(parts.head_begin + 16);
    parts.tail[0] = pair_at(parts.tail_begin);
    parts.tail[1] = pair_at(parts.tail_begin + 16);
    return parts;
  }

  __attribute__((always_inline)) bool are_of(const PythonLayout& layout, uintptr_t code) const {
    if (word_at(code + layout.code_lines) != lines) return false;
    WordPair different = (pair_at(code + layout.code_file) ^ file) | (pair_at(code + layout.code_name) ^ name) |
                         (pair_at(code + identity_of(layout)) ^ identity);
    if (!has_number(layout)) {
      if (word_at(lines + layout.bytes_size) != lines_size) return false;
      different |= (pair_at(head_begin) ^ head[0]) | (pair_at(head_begin + 16) ^ head[1]) |
                   (pair_at(tail_begin) ^ tail[0]) | (pair_at(tail_begin + 16) ^ tail[1]);
    }
    return is_zero(different);
  }
};

struct alignas(64) PythonPlace {
  uint64_t code, position;
  uint32_t id;
  PythonCodeParts parts;

  __attribute__((always_inline)) bool is(const PythonLayout& layout, uint64_t its_code, uint64_t its_position) const {
    return code == its_code && position == its_position && parts.are_of(layout, its_code);
  }
};

class PythonMemo {
 public:
  // Between enter() and leave() the memo belongs to one walk. False: it belongs to a walk that a signal handler
  // interrupted.
  bool enter() {
    if (in_walk_ != 0) return false;
    in_walk_ = 1;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    return true;
  }
  void leave() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    in_walk_ = 0;
  }

  // Returns 0 if the place is not known.
  __attribute__((always_inline)) uint32_t find(const PythonLayout& layout, uint64_t code, uint64_t position) const {
    const PythonPlace* const set = sets_[set_of(code, position)];
    if (set[0].is(layout, code, position)) [[likely]]
      return set[0].id;
    return set[1].is(layout, code, position) ? set[1].id : 0;
  }
  void keep(const PythonLayout& layout, uint64_t code, uint64_t position, uint32_t id) {
    const uint32_t at = set_of(code, position);
    sets_[at][oldest_[at]] = {code, position, id, PythonCodeParts::read(layout, code)};
    oldest_[at] ^= 1;
  }
  // Called when the memory goes to another thread. The last owner may have stopped inside a walk.
  void reset() { in_walk_ = 0; }

 private:
  static constexpr uint32_t kSets = 256;
  static uint32_t set_of(uint64_t code, uint64_t position) {
    return static_cast<uint32_t>(((code ^ position << 20) * 0x9e3779b97f4a7c15) >> 56) % kSets;
  }
  uint32_t in_walk_;
  uint8_t oldest_[kSets];
  PythonPlace sets_[kSets][2];
};

}  // namespace prof::preload
