// How much code of libprof.so a call executes: instructions, cache lines of code (64 bytes) and pages, counted by
// single-stepping calls on the simulated driver. The numbers are the same in every run, so they have limits that
// scripts/test checks: a hook must find most of its code and data in caches, and if nothing is recorded it must cost
// almost nothing. Exit status 1: a limit is missed. 77: this machine does not allow one process to single-step another.
#include "tests/bench/hook_measures.h"

#include <cudaProfiler.h>
#include <nvtx3/nvToolsExt.h>

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <string_view>

namespace prof::bench {
namespace {

enum class What { Launch, Wait, RunTime, Nvtx, Collective };
enum class When { Recorded, Before, After, Full };  // before and after the recorded part of the run; the log is full

struct Steps {
  uint64_t instructions = 0, lines = 0, pages = 0;
};
struct Way {
  std::string_view name, title;
  What what;
  When when;
  Steps limit;
};
// Most are at least a quarter above the counts with g++ 12. The first and the sixth are promises: 0.85 and 0.55 of what
// a launch, and a push and a pop, took before (488 and 518).
constexpr Way kWays[] = {
    {"launch", "cuLaunchKernel, recorded", What::Launch, When::Recorded, {414, 44, 8}},
    {"launch_before", "cuLaunchKernel, before the start", What::Launch, When::Before, {120, 14, 8}},
    {"launch_after", "cuLaunchKernel, after the end", What::Launch, When::After, {120, 14, 8}},
    {"launch_full", "cuLaunchKernel, after the log was full", What::Launch, When::Full, {120, 14, 8}},
    {"wait", "cuStreamSynchronize, recorded", What::Wait, When::Recorded, {520, 42, 14}},
    {"run_time", "cudaGetDeviceCount, recorded", What::RunTime, When::Recorded, {340, 22, 6}},
    {"run_time_before", "cudaGetDeviceCount, before the start", What::RunTime, When::Before, {170, 20, 12}},
    {"nvtx", "nvtxRangePushA + nvtxRangePop, recorded", What::Nvtx, When::Recorded, {284, 30, 8}},
    {"nvtx_before", "nvtxRangePushA + nvtxRangePop, before the start", What::Nvtx, When::Before, {220, 20, 8}},
    {"nvtx_full", "nvtxRangePushA + nvtxRangePop, after the log was full", What::Nvtx, When::Full, {220, 20, 8}},
    {"collective", "ncclAllReduce, with PROF_COLLECTIVES=1", What::Collective, When::Recorded, {1440, 112, 18}},
};
constexpr int kStepped = 5, kWarm = 3000;

// Under libprof.so: the calls, each after a trap, and one more trap.
int make_calls(const Way& which) {
  Gpu gpu;
  const CUstream stream = gpu.stream();
  using RunTimeCall = int (*)(int*);
  void* const run_time = dlopen("libcudart.so.13", RTLD_NOW);
  if (run_time == nullptr) fail("no simulated run time");
  const auto device_count = reinterpret_cast<RunTimeCall>(dlsym(run_time, "cudaGetDeviceCount"));
  void* const nccl = dlopen("libnccl.so.2", RTLD_NOW);
  if (nccl == nullptr) fail("no simulated NCCL");
  using Reduce = int (*)(const void*, void*, size_t, int, int, void*, CUstream);
  using MakeAll = int (*)(void**, int, const int*);
  const auto reduce = reinterpret_cast<Reduce>(dlsym(nccl, "ncclAllReduce"));
  void* communicator = nullptr;
  reinterpret_cast<MakeAll>(dlsym(nccl, "ncclCommInitAll"))(&communicator, 1, nullptr);
  const auto synchronize = gpu.get<decltype(&cuStreamSynchronize)>("cuStreamSynchronize");
  const auto call = [&] {
    int devices = 0;
    switch (which.what) {
      case What::Launch: Gpu::check(gpu.hooked(gpu.function, 1, 1, 1, 32, 1, 1, 0, stream, nullptr, nullptr)); break;
      case What::Wait: Gpu::check(synchronize(stream)); break;
      case What::RunTime: device_count(&devices); break;
      case What::Nvtx: nvtxRangePushA("forward"), nvtxRangePop(); break;
      case What::Collective: reduce(nullptr, nullptr, 0, 7, 0, communicator, nullptr); break;  // launches nothing
    }
  };
  if (which.when == When::After) {
    Gpu::check(gpu.get<decltype(&cuProfilerStart)>("cuProfilerStart")());
    call();
    Gpu::check(gpu.get<decltype(&cuProfilerStop)>("cuProfilerStop")());
  }
  for (int i = 0; i < kWarm; ++i) call();
  if (which.when == When::Full) {
    for (int i = 0; i < 20'000; ++i) call();
    for (int i = 0; i < 1000 && recorder_has_thread(); ++i) usleep(10'000), call();
    if (recorder_has_thread()) fail("the log does not become full");
  }
  ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
  for (int i = 0; i < kStepped; ++i) {
    raise(SIGTRAP);
    call();
  }
  raise(SIGTRAP);
  return 0;
}

struct Code {
  uint64_t begin = 0, end = 0;
};
Code code_of(pid_t pid, std::string_view library) {
  std::ifstream maps("/proc/" + std::to_string(pid) + "/maps");
  for (std::string line; std::getline(maps, line);) {
    Code code;
    if (line.find(library) == std::string::npos || line.find(" r-xp ") == std::string::npos) continue;
    if (std::sscanf(line.c_str(), "%lx-%lx", &code.begin, &code.end) == 2) return code;
  }
  return {};
}

bool stopped(pid_t pid) {
  int status = 0;
  return waitpid(pid, &status, 0) == pid && WIFSTOPPED(status);
}

// Steps from one trap of the program to the next. A single step arrives as a trap of the kernel instead.
bool step_to_next_trap(pid_t pid, const Code& code, Steps& steps) {
  std::set<uint64_t> lines, pages;
  while (true) {
    siginfo_t info{};
    user_regs_struct registers{};
    if (ptrace(PTRACE_SINGLESTEP, pid, nullptr, nullptr) != 0 || !stopped(pid)) return false;
    if (ptrace(PTRACE_GETSIGINFO, pid, nullptr, &info) != 0 || ptrace(PTRACE_GETREGS, pid, nullptr, &registers) != 0)
      return false;
    if (info.si_code == SI_TKILL) break;
    if (registers.rip < code.begin || registers.rip >= code.end) continue;
    ++steps.instructions;
    lines.insert(registers.rip / 64), pages.insert(registers.rip / 4096);
  }
  steps.lines = lines.size(), steps.pages = pages.size();
  return true;
}

// The cheapest of a few calls, because one in many begins a new block of the log.
bool count_steps(const Way& which, const std::filesystem::path& logs, Steps& least) {
  struct Child {
    pid_t pid;
    ~Child() {
      kill(pid, SIGKILL);
      waitpid(pid, nullptr, 0);
    }
  };
  std::fflush(stdout);
  const pid_t pid = fork();
  if (pid == 0) {
    setenv("LD_PRELOAD", PROF_BENCH_LIBPROF, 1);
    setenv("LD_LIBRARY_PATH", PROF_BENCH_SIM_DIR, 1);
    setenv("PROF_OUTPUT", logs.c_str(), 1);
    setenv("PROF_GPU", "off", 1);
    setenv("PROF_DEPTH", "counts", 1);
    if (which.what == What::Collective) setenv("PROF_COLLECTIVES", "1", 1), setenv("PROF_HOST_SAMPLES", "off", 1);
    if (which.when == When::Before || which.when == When::After) setenv("PROF_START", "profiler", 1);
    if (which.when == When::Full) setenv("PROF_MAX_SIZE", "64K", 1), setenv("PROF_QUIET", "1", 1);
    execl("/proc/self/exe", "hook_steps", "--case", std::string(which.name).c_str(), nullptr);
    _exit(127);
  }
  if (!stopped(pid)) return false;  // it has ended
  const Child child{pid};
  const Code code = code_of(pid, "libprof.so");
  if (code.end == 0) fail("libprof.so is not in the program");
  for (int i = 0; i < kStepped; ++i) {
    Steps steps;
    if (!step_to_next_trap(pid, code, steps)) return false;
    if (i == 0 || steps.instructions < least.instructions) least = steps;
  }
  return true;
}

int run_all() {
  const std::filesystem::path logs = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "hook_steps.logs";
  std::filesystem::create_directories(logs);
  std::printf("What a call passes through in libprof.so; the limits are for g++ and Release.\n");
  std::printf("  %-48s %12s %14s %12s\n", "", "instructions", "lines of code", "pages");
  bool ok = true;
  for (const Way& which : kWays) {
    Steps found;
    if (!count_steps(which, logs, found)) {
      std::filesystem::remove_all(logs);
      std::printf("this machine does not let a process step through another\n");
      return 77;
    }
    const auto within = [&](uint64_t Steps::*what) { return found.*what != 0 && found.*what <= which.limit.*what; };
    const bool met = within(&Steps::instructions) && within(&Steps::lines) && within(&Steps::pages);
    std::printf("  %s %-43s %6lu ≤ %-3lu %8lu ≤ %-3lu %6lu ≤ %-3lu\n", met ? "pass" : "FAIL",
                std::string(which.title).c_str(), found.instructions, which.limit.instructions, found.lines,
                which.limit.lines, found.pages, which.limit.pages);
    ok &= met;
  }
  std::filesystem::remove_all(logs);
  return ok ? 0 : 1;
}

}  // namespace
}  // namespace prof::bench

int main(int argc, char** argv) {
  using namespace prof::bench;
  if (argc != 3 || std::strcmp(argv[1], "--case") != 0) return run_all();
  const auto* const which =
      std::find_if(std::begin(kWays), std::end(kWays), [&](const Way& one) { return one.name == argv[2]; });
  if (which == std::end(kWays)) fail("no such case");
  return make_calls(*which);
}
