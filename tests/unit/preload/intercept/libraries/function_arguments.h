// The types of a function's arguments, to compare forms (library_forms.h) with headers. A test includes library_api.def
// with a CHECK_ macro for its library; the macros of the other libraries are empty.
#pragma once

#include <tuple>
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
  using Types = std::tuple<Args...>;
};

// Whether argument `at` is a T. If the form does not have that argument, any type is right.
template <class Function, class T, int at = 0> constexpr bool is(int wanted) {
  if constexpr (at < ArgumentsOf<Function>::kCount) {
    if (wanted != at) return is<Function, T, at + 1>(wanted);
    return std::is_same_v<std::tuple_element_t<at, typename ArgumentsOf<Function>::Types>, T>;
  } else {
    return wanted < 0;
  }
}
template <class Function, int at = 0> constexpr bool is_pointer(int wanted) {
  if constexpr (at < ArgumentsOf<Function>::kCount) {
    if (wanted != at) return is_pointer<Function, at + 1>(wanted);
    return std::is_pointer_v<std::tuple_element_t<at, typename ArgumentsOf<Function>::Types>>;
  } else {
    return wanted < 0;
  }
}
// No argument is passed in a floating-point register, so argument words can be counted.
template <class Function, int at = 0> constexpr bool all_words() {
  if constexpr (at < ArgumentsOf<Function>::kCount) {
    using Type = std::tuple_element_t<at, typename ArgumentsOf<Function>::Types>;
    return !std::is_floating_point_v<Type> && std::is_scalar_v<Type> && all_words<Function, at + 1>();
  } else {
    return true;
  }
}

inline constexpr int kMostArguments = 6 + 18;  // registers and the 144 bytes that thunk_entry.S copies

}  // namespace prof::preload
