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

// Another name of a word that others reach as an atomic: of a log that readers see while it is written.
template <class T> class atomic_ref {
 public:
  atomic_ref(rl::atomic<T>& word) : word_(word) {}
  T load(rl::memory_order order, rl::debug_info_param info) const { return word_.load(order, info); }
  void store(T value, rl::memory_order order, rl::debug_info_param info) const { word_.store(value, order, info); }
  T fetch_add(T value, rl::memory_order order, rl::debug_info_param info) const {
    return word_.fetch_add(value, order, info);
  }
  bool compare_exchange_weak(T& expected, T value, rl::memory_order order, rl::debug_info_param info) const {
    return word_.compare_exchange_weak(expected, value, order, info);
  }

 private:
  rl::atomic<T>& word_;
};
template <class T> atomic_ref(atomic<T>&) -> atomic_ref<T>;

inline void atomic_thread_fence(rl::memory_order order, rl::debug_info_param info) {
  if (order != rl::mo_relaxed) rl::atomic_thread_fence(order, info);
}
// relacy executes a thread's operations in the order of the source: only a compiler could exchange them.
inline void atomic_signal_fence(rl::memory_order, rl::debug_info_param) {}

// Memory that is no atomic: two threads must not touch it at once.
template <class T> class plain {
 public:
  plain() { value_($) = T{}; }
  operator T() const { return value_($); }
  T operator=(T value) { return value_($) = value; }

 private:
  mutable rl::var<T> value_;
};

// A word of the log. One thread at a time may use it. A reader of the log, and a thread that uses the value only if it
// then gets the word for itself, may see any value meanwhile.
template <class T> class log_word {
 public:
  operator T() const { return owned_; }
  T operator=(T value) {
    seen_.store(value, rl::mo_relaxed, $);
    return owned_ = value;
  }
  T peek() const { return seen_.load(rl::mo_relaxed, $); }

 private:
  plain<T> owned_;
  atomic<T> seen_;
};

// The same for a word that its owner also writes as an atomic.
template <class T> struct log_atomic : atomic<T> {
  T operator=(T value) {
    this->store(value, rl::mo_relaxed, $);
    return value;
  }
};

// Lets a thread stand still for some steps of the others. Every step of a thread is equally likely to be the next one,
// so without it a thread hardly ever does much between two steps of another.
class Pause {
 public:
  void any(unsigned most) {
    for (unsigned steps = rl::rand(most); steps != 0; --steps) nothing_.load(rl::mo_relaxed, $);
  }

 private:
  atomic<int> nothing_;
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
