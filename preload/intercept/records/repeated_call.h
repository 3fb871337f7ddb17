// Arguments of a call that the recorder repeats (control/repeats.h): a launch at once, a fill later. It runs in the
// program.
#pragma once

#include "preload/control/repeats.h"
#include "preload/driver/driver.h"

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace prof::preload {

// An argument as it is passed to a repeat.
template <class T> struct ForRepeat {
  T value;
  explicit ForRepeat(T given) : value(given) {}
  T get() const { return value; }
};

// A repeat runs alone, so that its time is its own. It does not start before the previous launch has ended. Events that
// a launch records on the way keep the program's values.
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
