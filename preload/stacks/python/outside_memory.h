// How is memory of this process read that another thread may free at any time? Through the kernel, which reports an
// error where a load would crash. Only the helper thread and the end of a recording read so.
#pragma once

#include <cstddef>
#include <cstdint>

namespace prof::preload {

// Copies up to `bytes` bytes from `at`, as far as they can be read. Returns the number of copied bytes.
size_t read_outside(uint64_t at, void* to, size_t bytes);

}  // namespace prof::preload
