#include "preload/stacks/python/outside_memory.h"

#include "preload/base/raw_call.h"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

namespace prof::preload {

namespace {

// A container may refuse process_vm_readv, for a process itself too.
size_t read_from_file(uint64_t at, void* to, size_t bytes) {
  const long file = raw_call(SYS_openat, AT_FDCWD, word_of("/proc/self/mem"), O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const long read = raw_call(SYS_pread64, file, word_of(to), static_cast<long>(bytes), static_cast<long>(at));
  raw_call(SYS_close, file);
  return read > 0 ? static_cast<size_t>(read) : 0;
}

}  // namespace

size_t read_outside(uint64_t at, void* to, size_t bytes) {
  static std::atomic<bool> refused{false};
  if (refused.load(std::memory_order_relaxed)) return read_from_file(at, to, bytes);
  const iovec local{to, bytes}, remote{reinterpret_cast<void*>(at), bytes};
  const long read = raw_call(SYS_process_vm_readv, raw_call(SYS_getpid), word_of(&local), 1, word_of(&remote), 1);
  if (read == -EPERM || read == -ENOSYS) {
    refused.store(true, std::memory_order_relaxed);
    return read_from_file(at, to, bytes);
  }
  return read > 0 ? static_cast<size_t>(read) : 0;
}

}  // namespace prof::preload
