// Numbers of functions in a log. A function gets its number at its first call. The few functions that a program calls
// often therefore take one byte in a record. It runs in the program.
#pragma once

#include "preload/format/ids.h"

#include <atomic>
#include <cstdint>

namespace prof::preload {

using ApiNumber = std::atomic<uint16_t>;  // 0: not called yet

__attribute__((cold)) format::ApiId give_api_number(ApiNumber& number);

inline format::ApiId api_id(ApiNumber& number) {
  const uint16_t given = number.load(std::memory_order_relaxed);
  return given != 0 ? format::ApiId{given} : give_api_number(number);
}

}  // namespace prof::preload
