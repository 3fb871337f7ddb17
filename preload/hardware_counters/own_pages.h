// Where do the images that CUPTI requires come from? They are tens of KiB to some MiB of mapped memory, never the
// program's heap. counter_host.h, counter_session.h and pm_sampler.h use it.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

namespace prof::preload {

struct OwnPages {
  uint8_t* at = nullptr;
  size_t bytes = 0;

  bool make(size_t size) {
    drop();
    void* const memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return false;
    at = static_cast<uint8_t*>(memory);
    bytes = size;
    return true;
  }
  void drop() {
    if (at != nullptr) munmap(at, bytes);
    at = nullptr;
    bytes = 0;
  }
};

}  // namespace prof::preload
