// How is a line of memory brought into the processor's cache ahead of its use? The record path uses it.
#pragma once

#include <cstddef>

namespace prof::preload {

inline constexpr size_t kCacheLineBytes = 64;

// Starts to fetch the line of an address, to write to it. Any address is allowed: one that is not mapped is ignored.
inline void fetch_for_writing(const void* address) {
#if defined(__x86_64__)
  // Not __builtin_prefetch: for the oldest x86-64 processors it fetches the line for reading only, and the write then
  // asks the other cores for it.
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(address)));
#else
  __builtin_prefetch(address, 1);
#endif
}

}  // namespace prof::preload
