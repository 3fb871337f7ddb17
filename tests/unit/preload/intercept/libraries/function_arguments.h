// The types of a function's arguments, to compare forms (library_forms.h) with headers. A test includes library_api.def
// with a CHECK_ macro for its library; the macros of the other libraries are empty.
#pragma once

#include <type_traits>

#define CHECK_CUBLAS(name, which)
#define CHECK_CUBLASLT(name, which)
#define CHECK_CUDNN(name, which)
#define CHECK_CUFFT(name, which)
#define CHECK_CUSPARSE(name, which)
#define CHECK_NCCL(name, which)

namespace prof::preload {

template <class Function> struct ArgumentsOf;
template <class Result, class... Args> struct ArgumentsOf<Result(Args...)> {
  static constexpr int kCount = sizeof...(Args);
  static constexpr bool kAllWords = ((!std::is_floating_point_v<Args> && std::is_scalar_v<Args>)&&...);

  template <class T> static constexpr bool is(int wanted) {
    int at = 0;
    bool same = wanted < 0;
    ((same = same || (at++ == wanted && std::is_same_v<Args, T>)), ...);
    return same;
  }
  static constexpr bool is_pointer(int wanted) {
    int at = 0;
    bool pointer = wanted < 0;
    ((pointer = pointer || (at++ == wanted && std::is_pointer_v<Args>)), ...);
    return pointer;
  }
};

// Whether argument `at` is a T. If the form does not have that argument, any type is right.
template <class Function, class T> constexpr bool is(int at) { return ArgumentsOf<Function>::template is<T>(at); }
template <class Function> constexpr bool is_pointer(int at) { return ArgumentsOf<Function>::is_pointer(at); }
// No argument is passed in a floating-point register, so argument words can be counted.
template <class Function> constexpr bool all_words() { return ArgumentsOf<Function>::kAllWords; }

inline constexpr int kMostArguments = 6 + 18;  // registers and the 144 bytes that thunk_entry.S copies

}  // namespace prof::preload
