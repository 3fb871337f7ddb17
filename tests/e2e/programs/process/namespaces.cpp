// unshare() and setns() succeed or fail as without the recorder, also where the kernel refuses them to a process with
// several threads: the helper thread is gone during the call and there again afterwards. A child in a new pid namespace
// has the pid 1, as its parent may have, and a log of its own.
// Env: PROF_GPU=off
// Expect: status 0
// Expect: stderr empty
// Expect: logs 4
// Expect: log 1: >=7 nvtx_mark, >=4 thread(libprof), whole, 0 lost
// Expect: log 2: 2 nvtx_mark, whole, 0 lost
// Expect: log 3: 2 nvtx_mark, whole, 0 lost
// Expect: log 4: 1 nvtx_mark, whole, 0 lost
#include <nvtx3/nvToolsExt.h>

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <thread>

#define CHECK(condition) \
  if (!(condition)) std::exit((std::printf("line %d: errno %d\n", __LINE__, errno), 1))

static unsigned long threads() {
  struct stat tasks {};
  CHECK(stat("/proc/self/task", &tasks) == 0);
  return tasks.st_nlink - 2;
}

static void await_threads(unsigned long wanted) {
  for (int i = 0; i < 2000 && threads() != wanted; ++i) usleep(1000);
  CHECK(threads() == wanted);
}

// The error of a call in a child that has no thread of the recorder; 0: it succeeds.
template <class Call> static int alone(Call&& call) {
  const pid_t child = fork();
  if (child == 0) _exit(call() == 0 ? 0 : errno);
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
  return WEXITSTATUS(status);
}

template <class Call> static void same_as_alone(Call&& call) {
  const int wanted = alone(call);
  errno = 0;
  const int found = call() == 0 ? 0 : errno;
  if (found != wanted) std::exit((std::printf("error %d, alone %d\n", found, wanted), 1));
  await_threads(2);
  nvtxMarkA("after");
}

// A process that records and whose child, in a new pid namespace, does so too, until `depth` is 0. Each has pid 1.
static void nest(int depth) {
  nvtxMarkA("nested");
  if (depth == 0 || unshare(CLONE_NEWPID) != 0) return;
  const pid_t child = fork();
  if (child == 0) {
    nest(depth - 1);
    std::exit(0);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  nvtxMarkA("parent again");
}

int main() {
  nvtxMarkA("start");
  await_threads(2);
  const int own = open("/proc/self/ns/user", O_RDONLY | O_CLOEXEC),
            mounts = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC), root = open("/", O_RDONLY | O_CLOEXEC);
  same_as_alone([own] { return setns(own, CLONE_NEWUSER); });
  same_as_alone([mounts, root] {
    const int result = setns(mounts, 0);
    const int error = errno;
    if (result == 0) CHECK(fchdir(root) == 0 && chroot(".") == 0);  // setns() leaves a chroot
    errno = error;
    return result;
  });
  {
    std::thread other([] { CHECK(unshare(CLONE_NEWUSER) != 0 && errno == EINVAL); });
    other.join();
  }
  await_threads(2);
#if defined(__x86_64__)
  same_as_alone([own] { return static_cast<int>(syscall(SYS_setns, own, CLONE_NEWUSER)); });
  same_as_alone([] { return static_cast<int>(syscall(SYS_unshare, CLONE_NEWUSER)); });
#endif
  same_as_alone([] { return unshare(CLONE_NEWUSER); });
  same_as_alone([] { return unshare(CLONE_NEWUTS); });
  nest(3);
}
