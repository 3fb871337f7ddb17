// Made set-user-ID by the test and run as another user: who it is, and whether a preloaded library of another's is inside; with an
// argument also whether the recorder did what it does when it is loaded.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

int main(int argc, char**) {
  std::printf("real %u effective %u\n", getuid(), geteuid());
  std::FILE* const maps = std::fopen("/proc/self/maps", "r");
  char line[4096];
  bool inside = false;
  while (maps != nullptr && std::fgets(line, sizeof line, maps) != nullptr)
    inside |= std::strstr(line, "libprof.so") != nullptr;
  std::printf("recorder inside: %s\n", inside ? "yes" : "no");
  if (argc > 1) std::printf("NVTX tool named: %s\n", std::getenv("NVTX_INJECTION64_PATH") != nullptr ? "yes" : "no");
  return 4;
}
