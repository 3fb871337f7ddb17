// What the sources that real_source.py made need to run in relacy, and which order of theirs is weakened.
#pragma once

#include <relacy/relacy.hpp>

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

// relacy's own words for these are not needed: the sources use them for nothing that threads share.
#undef malloc
#undef calloc
#undef realloc
#undef free
#undef new
#undef delete
#undef errno
#define errno model::g_errno

namespace model {

inline int g_errno = 0;
extern int g_weak_site;             // 0: none
extern rl::memory_order g_weak_to;  // what the site has then
extern bool g_reached[1000];        // which sites an execution reached

inline rl::memory_order order(int site, rl::memory_order written) {
  g_reached[site] = true;
  return site == g_weak_site ? g_weak_to : written;
}

// Memory that the recorder uses is zero.
template <class T> struct atomic : rl::atomic<T> {
  atomic() : rl::atomic<T>(T{}) {}
  atomic(T value) : rl::atomic<T>(value) {}
};

// Memory that is no atomic: two threads must not touch it at once.
template <class T> class plain {
 public:
  plain() { value_($) = T{}; }
  operator T() const { return value_($); }
  T operator=(T value) { return value_($) = value; }

 private:
  mutable rl::var<T> value_;
};

// Fresh pages of atomics.
template <class Word> void* map_pages(size_t bytes) {
  auto* const memory = static_cast<atomic<Word>*>(std::malloc(bytes));
  for (size_t i = 0; i < bytes / sizeof(atomic<Word>); ++i) new (memory + i) atomic<Word>();
  return memory;
}
template <class Word> void unmap_pages(void* memory, size_t bytes) {
  for (size_t i = 0; i < bytes / sizeof(atomic<Word>); ++i) static_cast<atomic<Word>*>(memory)[i].~atomic();
  std::free(memory);
}

}  // namespace model
