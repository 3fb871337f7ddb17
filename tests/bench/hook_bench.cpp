// The cost of a hook on the simulated driver, compared with direct calls of the driver. Direct and hooked calls run in
// turn in one process under libprof.so; this program starts itself again that way, once per case, and reads the size of
// the log. scripts/bench runs it; the status is 1 if a limit is missed.
//
//   hook_bench [--filter=TEXT]    only cases whose name contains TEXT
//   hook_bench --case NAME        the process under libprof.so
#include "tests/bench/hook_cases.h"
#include "tests/bench/limits.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace prof::bench {
namespace {

constexpr double kMaxMeanNs = 45, kMaxTailNs = 500, kMaxNvtxNs = 60, kMaxBytes = 24, kMaxOverNs = 20, kMaxStackNs = 345,
                 kMaxLibraryNs = 150, kMaxFirstStackNs = 10'000;

double one_page_fault_ns(const std::filesystem::path& folder) {
  const std::string name = (folder / "pages").string();
  constexpr size_t kPages = 4096, kBytes = kPages * 4096;
  const int fd = open(name.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600);
  if (fd < 0 || posix_fallocate(fd, 0, kBytes) != 0) fail("cannot write beside the benchmark");
  auto* memory = static_cast<char*>(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  if (memory == MAP_FAILED) fail("mmap");
  const uint64_t begin = clock_ns(CLOCK_MONOTONIC);
  for (size_t page = 0; page < kPages; ++page) memory[page * 4096] = 1;
  const double each = static_cast<double>(clock_ns(CLOCK_MONOTONIC) - begin) / kPages;
  munmap(memory, kBytes);
  close(fd);
  std::filesystem::remove(name);
  return each;
}

// First access to a page of a file that is mapped like the log and reserved ahead: the cost of a launch if the helper
// thread has not touched the page.
double page_fault_ns(const std::filesystem::path& folder) {
  double least = 1e9;
  for (int i = 0; i < 3; ++i) least = std::min(least, one_page_fault_ns(folder));
  return least;
}

// Writes and syncs a file repeatedly until it is ended.
pid_t start_disk_writer(const std::filesystem::path& folder) {
  const pid_t pid = fork();
  if (pid != 0) return pid;
  const std::vector<char> bytes(4 << 20, 'x');
  const int fd = open((folder / "writer").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  for (int i = 0;; ++i) {
    if (pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(i % 64) * static_cast<off_t>(bytes.size())) < 0)
      _exit(1);
    if (i % 8 == 7) fdatasync(fd);
  }
}

struct Output {
  std::string text;
  double mean = -1, tail = -1, calls = 0, faults = 0, first = -1;  // faults: page faults of the hooked batches per call
  double interrupted = 0;                                          // p99.9 of an empty wait as long as a call
  bool ended_well = false;
};

Output run_child(const Case& which, const std::filesystem::path& logs) {
  const std::string log_folder = logs.string();
  setenv("LD_LIBRARY_PATH", PROF_BENCH_SIM_DIR, 1);
  setenv("SIM_CLOCK", "real", 1);
  setenv("PROF_OUTPUT", log_folder.c_str(), 1);
  setenv("PROF_CUPTI", PROF_BENCH_SIM_DIR "/libcupti.so.13", 1);
  setenv("PROF_DEPTH", which.depth, 1);
  setenv("PROF_STACKS", which.stacks, 1);
  setenv("PROF_LIBS", which.what == Case::Library && which.gates ? "1" : "0", 1);
  setenv("PROF_START", which.when == Case::Over ? "profiler" : "now", 1);
  setenv("PROF_MAX_SIZE", which.when == Case::Full ? "64K" : "8G", 1);
  setenv("PROF_QUIET", which.when == Case::Full ? "1" : "0", 1);
  setenv("PROF_GPU", which.what == Case::Everything ? "on" : "off", 1);
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  // LD_PRELOAD is only for the benchmark, not for the shell that starts it.
  const std::string command =
      "exec env LD_PRELOAD=" PROF_BENCH_LIBPROF " '" + self + "' --case " + std::string(which.name);
  Output result;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) fail("popen");
  char line[512];
  while (std::fgets(line, sizeof line, pipe) != nullptr) {
    if (std::sscanf(line, "#mean %lf", &result.mean) == 1 || std::sscanf(line, "#tail %lf", &result.tail) == 1 ||
        std::sscanf(line, "#calls %lf", &result.calls) == 1 || std::sscanf(line, "#faults %lf", &result.faults) == 1 ||
        std::sscanf(line, "#first %lf", &result.first) == 1 ||
        std::sscanf(line, "#interrupted %lf", &result.interrupted) == 1) {
      continue;
    }
    result.text += line;
  }
  result.ended_well = pclose(pipe) == 0;
  return result;
}

// `first_ns`: time of a thread's first launch with its stack; this function measures the time without.
bool bench_first_stack(const Case& which, const std::filesystem::path& logs, double first_ns) {
  Case without = which;
  without.stacks = "off";
  std::filesystem::create_directories(logs);
  const Output out = run_child(without, logs);
  std::filesystem::remove_all(logs);
  if (!out.ended_well || out.first < 0 || first_ns < 0) fail("no first launch was measured");
  return at_most(kMaxFirstStackNs, "a thread's first stack adds at the median", first_ns - out.first, "ns");
}

// If the machine interrupts one of a thousand calls for longer than the limit, whatever the call does, the result is
// undecided. But a hook that takes longer than that by the limit misses it in this case too.
bool tail_within_limit(const Output& out) {
  constexpr const char* kWhat = "p99.9 of a hooked call less p50 of a direct one";
  if (out.tail <= kMaxTailNs || out.interrupted <= kMaxTailNs || out.tail - out.interrupted > kMaxTailNs)
    return at_most(kMaxTailNs, kWhat, out.tail, "ns");
  std::printf("  undecided  %s: %.1f ns, limit %.1f, but nothing at all takes %.1f here\n", kWhat, out.tail, kMaxTailNs,
              out.interrupted);
  return true;
}

bool bench(const Case& which, const std::filesystem::path& folder, double fault_ns) {
  const std::filesystem::path logs = folder / which.name;
  std::filesystem::remove_all(logs);
  std::filesystem::create_directories(logs);
  const pid_t writer = which.disk_writer ? start_disk_writer(folder) : 0;
  const Output out = run_child(which, logs);
  if (writer > 0) {
    kill(writer, SIGKILL);
    waitpid(writer, nullptr, 0);
    std::filesystem::remove(folder / "writer");
  }
  std::printf("%s\n%s", std::string(which.title).c_str(), out.text.c_str());
  double bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(logs)) bytes += static_cast<double>(entry.file_size());
  std::filesystem::remove_all(logs);
  if (!out.ended_well || out.calls == 0 || bytes == 0) {
    std::printf("  FAIL  the benchmark ended early or left no log\n");
    return false;
  }
  const double each = bytes / out.calls;
  std::printf("  %-34s %8.1f bytes\n", which.what == Case::Nvtx ? "log / pair" : "log, whole file / launches", each);
  const double share = out.faults * fault_ns;
  if (!which.gates) return true;
  bool ok = true;
  switch (which.what) {
    case Case::Launch:
      std::printf("  %-34s %8.1f ns   (%.5f faults a launch)\n", "page-fault share of a launch", share, out.faults);
      if (which.when != Case::During) {
        ok &= at_most(kMaxOverNs, "mean added to a launch that is not recorded", out.mean, "ns");
        break;
      }
      if (which.frames != 0) {
        ok &= at_most(kMaxStackNs + share, "mean added to a launch with its stack", out.mean, "ns");
        break;
      }
      ok &= at_most(kMaxMeanNs + share, "mean added to a launch", out.mean, "ns");
      ok &= tail_within_limit(out);
      break;
    case Case::Nvtx: ok &= at_most(kMaxNvtxNs, "mean of push + pop", out.mean, "ns"); break;
    case Case::Library: ok &= at_most(kMaxLibraryNs, "mean added to a library call", out.mean, "ns"); break;
    case Case::Threads: ok &= bench_first_stack(which, logs, out.first); break;
    case Case::Cold:
    case Case::Runtime:
    case Case::FirstSights: break;
    case Case::Everything: ok &= at_most(kMaxBytes, "bytes a launch with everything on", each, "bytes"); break;
  }
  return ok;
}

// A hook reads the clock twice. Under some hypervisors a reading costs several times its cost on bare metal.
double clock_reading_ns() {
  wake_processor();
  constexpr int kReadings = 10'000'000;
  const uint64_t begin = clock_ns(CLOCK_MONOTONIC);
  for (int i = 0; i < kReadings; ++i) {
    volatile uint64_t tick = ticks();
    (void)tick;
  }
  return static_cast<double>(clock_ns(CLOCK_MONOTONIC) - begin) / kReadings;
}

int run_all(std::string_view filter) {
  const std::filesystem::path folder =
      std::filesystem::read_symlink("/proc/self/exe").parent_path() / "hook_bench.logs";
  std::filesystem::create_directories(folder);
  const double fault_ns = page_fault_ns(folder);
  std::printf(
      "Simulated driver, clock real; rounds of 20,000 direct and 20,000 hooked calls in turn, thread CPU time a call.\n"
      "First touch of a page of a mapped file here: %.0f ns. Reading the clock, which every hook does twice: %.1f "
      "ns.\n\n",
      fault_ns, clock_reading_ns());
  std::fflush(stdout);
  bool ok = true, any = false;
  for (const Case& which : kCases) {
    if (which.name.find(filter) == std::string_view::npos) continue;
    any = true;
    ok &= bench(which, folder, fault_ns);
    std::printf("\n");
    std::fflush(stdout);
  }
  std::filesystem::remove_all(folder);
  return ok || !any ? 0 : 1;
}

}  // namespace
}  // namespace prof::bench

int main(int argc, char** argv) {
  using namespace prof::bench;
  std::string_view filter;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--case" && i + 1 < argc) {
      for (const Case& which : kCases) {
        if (which.name == argv[i + 1]) return run_case(which);
      }
      fail("no such case");
    }
    if (argument.starts_with("--filter=")) filter = argument.substr(argument.find('=') + 1);
  }
  return run_all(filter);
}
