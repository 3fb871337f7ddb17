// What are the bytes of one field? LEB128 varints, quick numbers, zigzag for signed values, text after its length. The
// record path uses these functions and must not allocate. The reader uses them too and must not trust any byte that it
// reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace prof::format {

inline constexpr size_t kMaxVarintBytes = 10;

constexpr uint64_t zigzag(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}
constexpr int64_t unzigzag(uint64_t value) {
  return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1);
}

// Writes a varint without a branch on its length, for values whose length changes from one to the next, such as times.
// A mispredicted branch costs more than the whole function. It writes 4 bytes; those after the varint are undefined.
// From 2^28 on, it writes up to 10 bytes.
// It is not inlined. A record that is written after other code of the program waits for its instructions. This function
// is two cache lines for all fields of all records, instead of two for each field.
__attribute__((noinline, hot, aligned(64))) inline uint8_t* put_uneven_varint(uint8_t* to, uint64_t value) {
  if (value < uint64_t{1} << 28) [[likely]] {
    const uint32_t v = static_cast<uint32_t>(value);
    const uint32_t more =
        ((31 - static_cast<uint32_t>(__builtin_clz(v | 1))) * 37) >> 8;  // bytes after the first: bits / 7
    const uint32_t spread = (v & 0x7f) | (v & 0x3f80) << 1 | (v & 0x1fc000) << 2 | (v & 0xfe00000) << 3;
    const uint32_t word = spread | (0x80808080u & ((1u << (8 * more)) - 1));
    const uint8_t bytes[4] = {static_cast<uint8_t>(word), static_cast<uint8_t>(word >> 8),
                              static_cast<uint8_t>(word >> 16), static_cast<uint8_t>(word >> 24)};
    std::memcpy(to, bytes, 4);
    return to + more + 1;
  }
  while (value >= 0x80) {
    *to++ = static_cast<uint8_t>(value | 0x80);
    value >>= 7;
  }
  *to++ = static_cast<uint8_t>(value);
  return to;
}

// Writes 1–10 bytes at `to` and returns the byte after the varint. It may write 4 bytes and so overwrite bytes after
// the varint.
inline uint8_t* put_varint(uint8_t* to, uint64_t value) {
  if (value < 0x80) {  // mostly true for ids, flags and differences
    *to = static_cast<uint8_t>(value);
    return to + 1;
  }
  return put_uneven_varint(to, value);
}

// Writes a quick number: 2, 3, 4 or 9 bytes. The two lowest bits of the first byte give the size. The value follows
// them, little-endian; in 9 bytes it is the last 8. A varint of the same value takes three times as many instructions.
// It may write 4 bytes and so overwrite bytes after the number.
inline constexpr size_t kMaxQuickBytes = 9;
inline uint8_t* put_quick(uint8_t* to, uint64_t value) {
  if (value < uint64_t{1} << 30) [[likely]] {
    const uint32_t v = static_cast<uint32_t>(value);
    const uint32_t size = (41 - static_cast<uint32_t>(__builtin_clz(v | 0x2000))) >> 3;
    const uint32_t word = v * 4 + size - 2;
    const uint8_t bytes[4] = {static_cast<uint8_t>(word), static_cast<uint8_t>(word >> 8),
                              static_cast<uint8_t>(word >> 16), static_cast<uint8_t>(word >> 24)};
    std::memcpy(to, bytes, 4);
    return to + size;
  }
  *to = 3;
  for (unsigned i = 0; i < 8; ++i) to[1 + i] = static_cast<uint8_t>(value >> (8 * i));
  return to + kMaxQuickBytes;
}

// Writes the first varint of a record. Its length depends only on the kind.
template <uint32_t kind> uint8_t* put_tag(uint8_t* to, uint32_t mask) {
  static_assert(kind < 1 << 11);
  const uint32_t tag = kind << 3 | mask;
  if constexpr (kind < 16) {
    *to = static_cast<uint8_t>(tag);
    return to + 1;
  } else {
    to[0] = static_cast<uint8_t>(tag | 0x80);
    to[1] = static_cast<uint8_t>(tag >> 7);
    return to + 2;
  }
}

inline uint8_t* put_text(uint8_t* to, std::string_view text) {
  to = put_varint(to, text.size());
  if (!text.empty()) std::memcpy(to, text.data(), text.size());
  return to + text.size();
}

// A cursor over bytes that may be hostile. After a failure, `ok` is false and every read returns 0.
struct Cursor {
  const uint8_t* at = nullptr;
  const uint8_t* end = nullptr;
  bool ok = true;

  bool at_end() const { return at == end; }

  // Most fields have one or two bytes. These are read in place, so that the cursor can stay in registers.
  __attribute__((always_inline)) uint64_t varint() {
    if (at < end && *at < 0x80) return *at++;
    if (end - at >= 2 && at[1] < 0x80) {
      const uint64_t value = static_cast<uint64_t>(at[0] & 0x7f) | static_cast<uint64_t>(at[1]) << 7;
      at += 2;
      return value;
    }
    const Read read = long_varint(at, end);
    if (read.next == nullptr) return fail();
    at = read.next;
    return read.value;
  }

  __attribute__((always_inline)) uint64_t quick() {
    const size_t left = static_cast<size_t>(end - at);
    const size_t size = left != 0 ? (*at & 3) == 3 ? kMaxQuickBytes : (*at & 3) + 2 : 1;
    if (left < size || size == 1 || (size == kMaxQuickBytes && *at != 3)) return fail();
    const size_t first = size == kMaxQuickBytes ? 1 : 0;
    uint64_t value = 0;
    for (size_t i = size; i-- > first;) value = value << 8 | at[i];
    at += size;
    return first != 0 ? value : value >> 2;
  }

  struct Read {
    uint64_t value;
    const uint8_t* next;  // null: no valid varint
  };
  static __attribute__((noinline)) Read long_varint(const uint8_t* from, const uint8_t* end) {
    if (end - from >= 8) {
      uint64_t word;
      std::memcpy(&word, from, sizeof word);
      const uint64_t stops = ~word & 0x8080808080808080;
      if (stops != 0) {  // at most 8 bytes: clear those after it, then join the groups of 7 bits
        word &= stops ^ (stops - 1);
        word = (word & 0x007f007f007f007f) | (word & 0x7f007f007f007f00) >> 1;
        word = (word & 0x00003fff00003fff) | (word & 0x3fff00003fff0000) >> 2;
        word = (word & 0x000000000fffffff) | (word & 0x0fffffff00000000) >> 4;
        return {word, from + (static_cast<unsigned>(__builtin_ctzll(stops)) >> 3) + 1};
      }
    }
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 70 && from != end; shift += 7) {
      const uint8_t byte = *from++;
      if (shift == 63 && byte > 1) break;  // would not fit 64 bits
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return {value, from};
    }
    return {0, nullptr};
  }

  std::string_view text() {
    const uint64_t size = varint();
    if (size > static_cast<uint64_t>(end - at)) {
      fail();
      return {};
    }
    const std::string_view view(reinterpret_cast<const char*>(at), static_cast<size_t>(size));
    at += size;
    return view;
  }

  uint64_t fail() {
    ok = false;
    at = end;
    return 0;
  }
};

}  // namespace prof::format
