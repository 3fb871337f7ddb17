// NVTX finds the recorder although the program cleared its environment first, and the environment contains nothing of
// the recorder: getenv() and secure_getenv() answer the one name. A program that is started does not inherit it.
// Link: none
// Shell: {run} && {run} child && {run} cleared && PROF_NVTX=off {run} off
// Expect: status 0
// Expect: stderr empty
// Expect: stdout NVTX tool in the environment: 0, by getenv: 1, by secure_getenv: 1, another name: 1
// Expect: stdout off: 0
// Expect: logs 3
// Expect: log 1: 1 nvtx_push(range), 1 nvtx_pop, whole, 0 lost
// Expect: log 2: 1 nvtx_push(child), 1 nvtx_pop, whole, 0 lost
// Expect: log 3: 1 nvtx_push(cleared), 1 nvtx_pop, whole, 0 lost
#include <nvtx3/nvToolsExt.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

static const char* const kTool = "NVTX_INJECTION64_PATH";

static bool in_environment(const char* name) {
  for (char** at = environ; at != nullptr && *at != nullptr; ++at) {
    if (std::strncmp(*at, name, std::strlen(name)) == 0) return true;
  }
  return false;
}

static void record(const char* name) {
  nvtxRangePushA(name);
  nvtxRangePop();
}

int main(int argc, char** argv) {
  const std::string_view how = argc > 1 ? argv[1] : "";
  if (how == "off") return std::printf("off: %d\n", getenv(kTool) != nullptr), 0;
  if (how == "cleared") {
    if (clearenv() != 0 || getenv(kTool) == nullptr || getenv("PATH") != nullptr) return 1;
    record("cleared");
    return in_environment(kTool) ? 2 : 0;
  }
  if (how == "started") return in_environment(kTool) ? 3 : 0;
  if (how == "child") {
    record("child");
    return system((std::string(argv[0]) + " started; exit $(env | grep -c NVTX_)").c_str());
  }
  setenv("ANOTHER_NAME", "value", 1);
  std::printf("NVTX tool in the environment: %d, by getenv: %d, by secure_getenv: %d, another name: %d\n",
              in_environment(kTool), getenv(kTool) != nullptr, secure_getenv(kTool) != nullptr,
              getenv("ANOTHER_NAME") != nullptr && getenv("NVTX_INJECTION64_PAT") == nullptr &&
                  getenv("NVTX_INJECTION64_PATH_") == nullptr && secure_getenv("ANOTHER_NAME") != nullptr);
  record("range");
  return 0;
}
