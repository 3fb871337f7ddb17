// Arguments of a call that the recorder makes again (control/repeats.h): of a launch at once, of a fill later. In the program.
#pragma once

#include "preload/control/repeats.h"
#include "preload/driver/driver.h"

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace prof::preload {

// An argument as a repeat has it.
template <class T> struct ForRepeat {
  T value;
  explicit ForRepeat(T given) : value(given) {}
  T get() const { return value; }
};

// A repeat runs alone, so that its time is its own: it does not begin before the launch in front of it ended, and events that a launch
// marks on the way stay those of the program's.
template <> struct ForRepeat<const CUlaunchConfig*> {
  explicit ForRepeat(const CUlaunchConfig* given);
  const CUlaunchConfig* get() const { return changed_ ? &config_ : given_; }

 private:
  static constexpr unsigned kMostAttributes = 16;
  const CUlaunchConfig* given_;
  bool changed_ = false;
  CUlaunchConfig config_;
  CUlaunchAttribute attributes_[kMostAttributes];
};

template <class T> uint64_t word_of(T argument) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(uint64_t));
  uint64_t word = 0;
  std::memcpy(&word, &argument, sizeof(T));
  return word;
}
template <class T> T from_word(uint64_t word) {
  T argument;
  std::memcpy(&argument, &word, sizeof(T));
  return argument;
}

}  // namespace prof::preload
