// How does a record hold a list of numbers, such as the frames of a stack? The record path passes an array. The reader
// gets a view of the bytes and iterates over it. So no record allocates memory for a list of unknown length.
#pragma once

#include "preload/format/wire.h"

#include <cstdint>

namespace prof::format {

// Encoded as the count, then the zigzag varint of the difference of each number to the previous one (the first: to 0).
struct Numbers {
  const uint64_t* data = nullptr;  // array to encode; if null, `bytes` is used
  const uint8_t* bytes = nullptr;  // as read: `count` varints, which are known to be complete
  uint32_t count = 0;

  template <class F> void for_each(F&& f) const {
    if (data != nullptr) {
      for (uint32_t i = 0; i < count; ++i) f(data[i]);
      return;
    }
    const uint8_t* at = bytes;
    uint64_t value = 0;
    for (uint32_t i = 0; i < count; ++i) f(value += static_cast<uint64_t>(unzigzag(one_varint(at))));
  }

 private:
  // It does not check for the end of the bytes, because read_numbers() has read every byte before.
  static uint64_t one_varint(const uint8_t*& at) {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
      const uint8_t byte = *at++;
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    return value;
  }
};

inline uint8_t* put_numbers(uint8_t* to, const Numbers& numbers) {
  to = put_varint(to, numbers.count);
  uint64_t before = 0;
  numbers.for_each([&](uint64_t number) {
    to = put_varint(to, zigzag(static_cast<int64_t>(number - before)));
    before = number;
  });
  return to;
}

// Skips the list and checks it, so that for_each() can trust it. If the count exceeds the number of remaining bytes,
// the list is not valid.
inline Numbers read_numbers(Cursor& from) {
  const uint64_t count = from.varint();
  if (count > static_cast<uint64_t>(from.end - from.at)) {
    from.fail();
    return {};
  }
  Numbers numbers{nullptr, from.at, static_cast<uint32_t>(count)};
  for (uint64_t i = 0; i < count && from.ok; ++i) from.varint();
  if (!from.ok) numbers = {};
  return numbers;
}

}  // namespace prof::format
