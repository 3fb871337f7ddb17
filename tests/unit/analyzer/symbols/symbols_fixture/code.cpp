// A library whose functions, inlined functions and lines symbols_test.cpp knows. It is built with debug information,
// which is then split off. The test looks for the words after "// @" in this file, so lines may move.
namespace fixture {

static volatile int sink;

static inline __attribute__((always_inline)) void innermost(int value) {
  sink = value * 3;  // @ innermost
}

static inline __attribute__((always_inline)) void middle(int value) {
  innermost(value + 1);  // @ middle
}

__attribute__((noinline)) void outer(int value) {
  sink = value;
  middle(value);  // @ outer
  sink = value;   // @ outer end
}

template <class T> __attribute__((noinline)) T twice(T value) {
  sink = static_cast<int>(value);  // @ twice
  return value + value;
}

template int twice<int>(int);
template double twice<double>(double);

}  // namespace fixture

extern "C" __attribute__((noinline)) int plain_c_function(int value) {
  fixture::outer(value);  // @ plain
  return value + 1;
}
