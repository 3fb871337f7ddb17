// Forks while another thread is inside the loader. glibc never releases the loader's lock in such a child. A child that
// does not use the loader ends as if nothing were wrong.
#include <link.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <thread>

namespace {

std::atomic<int> inside{0};  // 1: the lock is held; 2: it may be released

int hold(dl_phdr_info*, size_t, void*) {
  inside = 1;
  while (inside != 2) std::this_thread::yield();
  return 1;
}

void run(int number) {
  const timespec pause = {0, 30'000'000};
  nanosleep(&pause, nullptr);
  if (number % 2 == 0) _exit(number);
  exit(number);
}

}  // namespace

int main() {
  long sum = 0;
  for (int i = 0; i < 20; ++i) {
    inside = 0;
    std::thread holder([] { dl_iterate_phdr(hold, nullptr); });
    while (inside != 1) std::this_thread::yield();
    const pid_t child = fork();
    if (child == 0) run(i);
    int status = 0;
    if (waitpid(child, &status, 0) == child && WIFEXITED(status)) sum += WEXITSTATUS(status);
    inside = 2;
    holder.join();
  }
  std::printf("sum of statuses %ld\n", sum);
}
