#include "tests/sim/idleness.h"

#include <dirent.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace sim {

bool all_others_sleep() {
  const long self = syscall(SYS_gettid);
  bool asleep = true;
  DIR* tasks = opendir("/proc/self/task");
  if (tasks == nullptr) return false;
  while (const dirent* entry = readdir(tasks)) {
    const long id = strtol(entry->d_name, nullptr, 10);
    if (id == 0 || id == self) continue;
    char path[64], text[512] = {};
    snprintf(path, sizeof path, "/proc/self/task/%ld/stat", id);
    if (FILE* file = fopen(path, "r")) {
      if (fgets(text, sizeof text, file) != nullptr) {
        const char* name_end = strrchr(text, ')');
        asleep = asleep && name_end != nullptr && name_end[1] == ' ' && name_end[2] == 'S';
      }
      fclose(file);
    }
  }
  closedir(tasks);
  return asleep;
}

bool other_threads() {
  struct stat tasks {};
  return stat("/proc/self/task", &tasks) != 0 || tasks.st_nlink > 3;
}

Ns processor_time() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<Ns>(time.tv_sec) * 1'000'000'000 + static_cast<Ns>(time.tv_nsec);
}

}  // namespace sim
