// The test makes this program set-user-ID and runs it as another user. It prints its user, and whether another user's
// preloaded library is loaded. With an argument it also prints whether the recorder has initialised itself, which sets
// NVTX_INJECTION64_PATH.
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
