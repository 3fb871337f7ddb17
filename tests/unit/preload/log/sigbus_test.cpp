// PROF_SIGBUS=1: which stores to truncated mappings does the program survive?
#include "preload/log/sigbus.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>

namespace prof::preload {
namespace {

constexpr size_t kPages = 2 * 4096;

// How a child ends that stores a byte at `at` of a mapping whose file was truncated. `guarded`: these bytes of it.
int status_of_store(size_t at, size_t guarded) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    signal(SIGBUS, SIG_DFL);  // not that of a sanitizer
    const int fd = memfd_create("log", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, kPages) != 0) _exit(1);
    void* const memory = mmap(nullptr, kPages, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED) _exit(2);
    if (guarded != 0) guard_mapping(memory, guarded);
    survive_truncation();
    if (ftruncate(fd, 0) != 0) _exit(3);
    auto* const bytes = static_cast<volatile char*>(memory);
    bytes[at] = 7;
    _exit(bytes[at] == 7 ? 0 : 4);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

TEST(Sigbus, AStoreAnywhereInATruncatedLogIsSurvived) {
  for (const size_t at : {size_t{0}, size_t{4095}, size_t{4096}, kPages - 1}) {
    EXPECT_EQ(status_of_store(at, kPages), 0) << at;
  }
}

TEST(Sigbus, AStoreToAnyOtherTruncatedFileEndsTheProgramAsBefore) {
  for (const size_t guarded : {size_t{0}, size_t{4096}}) {
    const int status = status_of_store(4096, guarded);
    ASSERT_TRUE(WIFSIGNALED(status)) << status;
    EXPECT_EQ(WTERMSIG(status), SIGBUS);
  }
}

}  // namespace
}  // namespace prof::preload
