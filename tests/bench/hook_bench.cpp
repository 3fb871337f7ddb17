// What a hook costs, on the simulated driver, against calling the driver directly: direct and hooked calls in turn, in one
// process that runs under libprof.so (this program starts itself again that way, once per case, and reads the size of the
// log it left). scripts/bench runs it; it ends with status 1 when a limit is not met.
//
//   hook_bench [--benchmark_filter=TEXT]    only cases whose name contains TEXT
//   hook_bench --case NAME                  what runs under libprof.so
#include "tests/bench/direct_symbol.h"
#include "tests/bench/measure.h"
#include "tests/sim/libraries.h"

#include <cuda.h>
#include <nvtx3/nvToolsExt.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace prof::bench {
namespace {

constexpr double kMaxMeanNs = 45, kMaxTailNs = 500, kMaxNvtxNs = 60, kMaxBytes = 24, kMaxStackNs = 345,
                 kMaxLibraryNs = 150;

struct Case {
  std::string_view name, title;
  int threads;
  bool one_stream, disk_writer;
  enum What { Launch, Nvtx, Everything, Threads, Library } what;
  bool gates;
  const char* depth = "counts";  // PROF_DEPTH: a completion mark is two calls of the driver's own, no part of a hook
  const char* stacks = "off";    // PROF_STACKS
  int frames = 0;                // more than there are of the benchmark's own, below which it launches
  int places = 1;                // so many different stacks in turn
};
constexpr Case kCases[] = {
    {"launch_1", "cuLaunchKernel, 1 thread", 1, false, false, Case::Launch, true},
    {"launch_1_writer", "cuLaunchKernel, 1 thread, beside a disk writer", 1, false, true, Case::Launch, true},
    {"launch_8", "cuLaunchKernel, 8 threads, a stream each", 8, false, false, Case::Launch, false},
    {"launch_shared", "cuLaunchKernel, 4 threads on one stream", 4, true, false, Case::Launch, false},
    {"launch_1_marks", "cuLaunchKernel, 1 thread, with completion marks (the default)", 1, false, false, Case::Launch,
     false, "marks"},
    {"stack_10", "cuLaunchKernel with its stack, 10 frames", 1, false, false, Case::Launch, false, "counts", "launch",
     1},
    {"stack_31", "cuLaunchKernel with its stack, 31 frames", 1, false, false, Case::Launch, true, "counts", "launch",
     22},
    {"stack_31_places", "cuLaunchKernel with its stack, 31 frames, 64 places in turn", 1, false, false, Case::Launch,
     false, "counts", "launch", 22, 64},
    {"threads_off", "first launch of a thread, without stacks", 1, false, false, Case::Threads, false},
    {"threads_stacks", "first launch of a thread, with its stack", 1, false, false, Case::Threads, false, "counts",
     "launch", 22},
    {"nvtx", "nvtxRangePushA + nvtxRangePop", 1, false, false, Case::Nvtx, true},
    {"library", "cublasSgemm_v2 with PROF_LIBS=1", 1, false, false, Case::Library, true},
    {"library_lt", "cublasLtMatmul with PROF_LIBS=1", 1, false, false, Case::Library, true},
    {"library_sparse", "cusparseSpMM with PROF_LIBS=1", 1, false, false, Case::Library, true},
    {"library_off", "cublasSgemm_v2 linked, without PROF_LIBS", 1, false, false, Case::Library, false},
    {"everything", "launches with GPU times from the simulated CUPTI", 1, false, false, Case::Everything, true,
     "marks"},
};

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "hook_bench: %s\n", what);
  std::exit(2);
}

// --- under libprof.so --------------------------------------------------------------------------------------------------

struct Gpu {
  using Launch = decltype(&cuLaunchKernel);
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  Launch hooked = nullptr, direct = nullptr;
  CUfunction function = nullptr;
  CUcontext context = nullptr;

  template <class F> F get(const char* name) {
    const F found = reinterpret_cast<F>(dlsym(library, name));
    if (found == nullptr) fail(name);
    return found;
  }
  static void check(CUresult result) {
    if (result != CUDA_SUCCESS) fail("a call of the simulated driver failed");
  }
  Gpu() {
    if (library == nullptr) fail("no simulated driver");
    hooked = get<Launch>("cuLaunchKernel");
    direct = reinterpret_cast<Launch>(direct_symbol(library, "cuLaunchKernel"));
    if (direct == nullptr || direct == hooked) fail("cuLaunchKernel is not hooked: nothing to measure");
    CUdevice device = 0;
    CUmodule module = nullptr;
    check(get<decltype(&cuInit)>("cuInit")(0));
    check(get<decltype(&cuDeviceGet)>("cuDeviceGet")(&device, 0));
    check(get<decltype(&cuDevicePrimaryCtxRetain)>("cuDevicePrimaryCtxRetain")(&context, device));
    make_current();
    check(get<decltype(&cuModuleLoadData)>("cuModuleLoadData")(&module, "image"));
    check(get<decltype(&cuModuleGetFunction)>("cuModuleGetFunction")(&function, module, "bench_kernel"));
  }
  void make_current() { check(get<decltype(&cuCtxSetCurrent)>("cuCtxSetCurrent")(context)); }
  CUstream stream() {
    CUstream made = nullptr;
    check(get<decltype(&cuStreamCreate)>("cuStreamCreate")(&made, CU_STREAM_NON_BLOCKING));
    return made;
  }
};

void print_row(const char* what, const Spread& s) {
  std::printf("  %-34s %8.1f ns   (10-90 %%: %.1f-%.1f)\n", what, s.median, s.low, s.high);
}

// p99.9 of single calls includes one reading of the clock and the driver itself; the median of direct calls is taken off.
void print_singles(const Comparison& c) {
  const double ns = ns_per_tick();
  const auto at = [ns](const Histogram& h, double share) { return static_cast<double>(h.quantile(share)) * ns; };
  std::printf("  single calls, ns %19s %8s %8s %8s %10s\n", "p50", "p99", "p99.9", "p99.99", "largest");
  for (const auto& [name, h] : {std::pair<const char*, const Histogram*>{"direct", &c.direct}, {"hooked", &c.hooked}}) {
    std::printf("    %-30s %8.0f %8.0f %8.0f %8.0f %10.0f\n", name, at(*h, 0.5), at(*h, 0.99), at(*h, 0.999),
                at(*h, 0.9999), static_cast<double>(h->largest()) * ns);
  }
  std::printf("#tail %.1f\n", at(c.hooked, 0.999) - at(c.direct, 0.5));
}

template <class Body> void on_threads(int count, Body&& body) {
  std::atomic<int> ready{0};
  std::vector<std::thread> threads;
  threads.reserve(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      body(i, [&] {
        ++ready;
        while (ready.load() < count) std::this_thread::yield();
      });
    });
  }
  for (std::thread& thread : threads) thread.join();
}

void print_comparison(const Plan& plan, const Comparison& all) {
  const Spread direct = spread(all.direct_ns), hooked = spread(all.hooked_ns), added = spread(all.added_ns);
  print_row("direct", direct);
  print_row("hooked", hooked);
  print_row("the hook adds", added);
  std::printf("  %-34s %8.2f\n", "hooked / direct", hooked.median / direct.median);
  double mean = 0;
  for (const double ns : all.added_ns) mean += ns / static_cast<double>(all.added_ns.size());
  print_singles(all);
  std::printf("#mean %.2f\n#calls %llu\n", mean, static_cast<unsigned long long>(all.hooked_calls));
  std::printf("#faults %.8f\n",
              static_cast<double>(all.hooked_faults) / (static_cast<double>(all.added_ns.size()) * plan.batch));
}

// Calls `body` below so many more frames, in one of 64 places: the level from the top where a bit of `place` is set has another
// return address than where it is not.
template <class Body> __attribute__((noinline)) void below(int frames, unsigned place, Body& body) {
  if (frames == 0) {
    body();
  } else if ((place & 1) != 0) {
    below(frames - 1, place >> 1, body);
  } else {
    below(frames - 1, place >> 1, body);
    asm volatile("nop");
  }
  asm volatile("" ::: "memory");
}

void bench_launch(const Case& which) {
  Gpu gpu;
  const CUstream shared = gpu.stream();
  Plan plan;
  if (which.threads > 1) plan.rounds = 30, plan.single_batches = 100;
  std::vector<Comparison> results(static_cast<size_t>(which.threads));
  on_threads(which.threads, [&](int index, auto wait) {
    gpu.make_current();
    const CUstream stream = which.one_stream ? shared : gpu.stream();
    const auto launch = [&](Gpu::Launch function) {
      Gpu::check(function(gpu.function, 1, 1, 1, 32, 1, 1, 0, stream, nullptr, nullptr));
    };
    wait();
    if (which.places > 1) {  // both ways go down to the same place
      unsigned direct = 0, hooked = 0;
      const auto in_turn = [&](Gpu::Launch function, unsigned& place) {
        auto body = [&] { launch(function); };
        below(which.frames, place++ % static_cast<unsigned>(which.places), body);
      };
      compare(
          plan, results[static_cast<size_t>(index)], [&] { in_turn(gpu.direct, direct); },
          [&] { in_turn(gpu.hooked, hooked); });
      return;
    }
    auto body = [&] {
      compare(
          plan, results[static_cast<size_t>(index)], [&] { launch(gpu.direct); }, [&] { launch(gpu.hooked); });
    };
    below(which.frames, 0, body);
  });
  Comparison all;
  for (const Comparison& one : results) all.merge(one);
  print_comparison(plan, all);
}

// Nothing to call directly: without a tool, NVTX is a test of a pointer. The empty loop is the baseline.
void bench_nvtx() {
  Gpu gpu;  // a recorder may start with the first CUDA event only
  Gpu::check(gpu.hooked(gpu.function, 1, 1, 1, 32, 1, 1, 0, gpu.stream(), nullptr, nullptr));
  Comparison result;
  if (nvtxRangePushA("probe") < 0 || nvtxRangePop() < 0) fail("NVTX is not connected to libprof.so");
  compare(
      Plan{}, result,
      [] {
        asm volatile("" ::: "memory");
      },
      [] {
        nvtxRangePushA("forward");
        nvtxRangePop();
      });
  print_row("push + pop", spread(result.added_ns));
  print_singles(result);
  double mean = 0;
  for (const double ns : result.added_ns) mean += ns / static_cast<double>(result.added_ns.size());
  std::printf("#mean %.2f\n#calls %llu\n", mean, static_cast<unsigned long long>(result.hooked_calls));
}

// Products of no rows: the stand-in returns at once.
void bench_library(const Case& which) {
  Gpu gpu;  // a recorder starts with the first CUDA event
  Gpu::check(gpu.hooked(gpu.function, 1, 1, 1, 32, 1, 1, 0, gpu.stream(), nullptr, nullptr));
  SimBlas* blas = nullptr;
  cublasCreate_v2(&blas);
  const float one = 1;
  void* const library = dlopen("libcublas.so.13", RTLD_NOW | RTLD_NOLOAD);
  const auto direct = reinterpret_cast<decltype(&cublasSgemm_v2)>(direct_symbol(library, "cublasSgemm_v2"));
  void* const lt_library = dlopen("libcublasLt.so.13", RTLD_NOW | RTLD_NOLOAD);
  const auto direct_lt = reinterpret_cast<decltype(&cublasLtMatmul)>(direct_symbol(lt_library, "cublasLtMatmul"));
  void* const sparse_library = dlopen("libcusparse.so.12", RTLD_NOW | RTLD_NOLOAD);
  const auto direct_sparse = reinterpret_cast<decltype(&cusparseSpMM)>(direct_symbol(sparse_library, "cusparseSpMM"));
  if (direct == nullptr || direct_lt == nullptr || direct_sparse == nullptr) fail("no simulated libraries");
  Comparison result;
  if (which.name == "library_lt") {
    SimMatmul* matmul = nullptr;
    SimLayout *a = nullptr, *b = nullptr, *d = nullptr;
    cublasLtMatmulDescCreate(&matmul, 68, 0);
    cublasLtMatrixLayoutCreate(&a, 14, 0, 64, 1);
    cublasLtMatrixLayoutCreate(&b, 14, 64, 32, 64);
    cublasLtMatrixLayoutCreate(&d, 14, 0, 32, 1);
    const auto call = [&](decltype(&cublasLtMatmul) function) {
      function(nullptr, matmul, &one, nullptr, a, nullptr, b, &one, nullptr, d, nullptr, d, nullptr, nullptr, 0,
               nullptr);
    };
    compare(
        Plan{}, result, [&] { call(direct_lt); }, [&] { call(&cublasLtMatmul); });
  } else if (which.name == "library_sparse") {
    SimSparse *handle = nullptr, *a = nullptr, *b = nullptr, *c = nullptr;
    cusparseCreate(&handle);
    cusparseCreateCsr(&a, 0, 64, 0, nullptr, nullptr, nullptr, 2, 2, 0, 0);
    cusparseCreateDnMat(&b, 64, 32, 64, nullptr, 0, 1);
    cusparseCreateDnMat(&c, 0, 32, 1, nullptr, 0, 1);
    const auto call = [&](decltype(&cusparseSpMM) function) {
      function(handle, 0, 0, &one, a, b, &one, c, 0, 0, nullptr);
    };
    compare(
        Plan{}, result, [&] { call(direct_sparse); }, [&] { call(&cusparseSpMM); });
  } else {
    const auto call = [&](decltype(&cublasSgemm_v2) function) {
      function(blas, 0, 1, 0, 32, 64, &one, nullptr, 1, nullptr, 32, &one, nullptr, 1);
    };
    compare(
        Plan{}, result, [&] { call(direct); }, [&] { call(&cublasSgemm_v2); });
  }
  print_row("added to a call", spread(result.added_ns));
  print_singles(result);
  double mean = 0;
  for (const double ns : result.added_ns) mean += ns / static_cast<double>(result.added_ns.size());
  std::printf("#mean %.2f\n#calls %llu\n", mean, static_cast<unsigned long long>(result.hooked_calls));
}

void bench_everything() {
  Gpu gpu;
  const CUstream stream = gpu.stream();
  const auto synchronize = gpu.get<decltype(&cuStreamSynchronize)>("cuStreamSynchronize");
  constexpr int kLaunches = 200'000;
  const uint64_t begin = clock_ns(CLOCK_MONOTONIC);
  for (int i = 0; i < kLaunches; ++i) {
    Gpu::check(gpu.hooked(gpu.function, 1, 1, 1, 32, 1, 1, 0, stream, nullptr, nullptr));
    if (i % 1000 == 999) Gpu::check(synchronize(stream));
  }
  std::printf("  %-34s %8.0f ns   (most of it is the simulated GPU)\n", "a launch",
              static_cast<double>(clock_ns(CLOCK_MONOTONIC) - begin) / kLaunches);
  std::printf("#calls %d\n", kLaunches);
}

// What a short thread pays: its first launch opens its part of the log and, with stacks, learns where its stack is.
void bench_threads(const Case& which) {
  Gpu gpu;
  const CUstream stream = gpu.stream();
  Histogram first, second;
  constexpr int kThreads = 3000;
  for (int i = 0; i < kThreads; ++i) {
    std::thread([&] {
      gpu.make_current();
      auto body = [&] {
        for (Histogram* const into : {&first, &second}) {
          const uint64_t begin = ticks();
          Gpu::check(gpu.hooked(gpu.function, 1, 1, 1, 32, 1, 1, 0, stream, nullptr, nullptr));
          into->add(ticks() - begin);
        }
      };
      below(which.frames, 0, body);
    }).join();
  }
  const double ns = ns_per_tick();
  std::printf("  single calls, ns %19s %8s %8s\n", "p50", "p99", "largest");
  for (const auto& [name, h] : {std::pair<const char*, const Histogram*>{"first", &first}, {"second", &second}}) {
    std::printf("    %-30s %8.0f %8.0f %8.0f\n", name, static_cast<double>(h->quantile(0.5)) * ns,
                static_cast<double>(h->quantile(0.99)) * ns, static_cast<double>(h->largest()) * ns);
  }
  std::printf("#calls %d\n", 2 * kThreads);
}

// A processor that was idle takes some hundred milliseconds to its usual clock.
void wake_processor() {
  const uint64_t until = clock_ns(CLOCK_MONOTONIC) + 500'000'000;
  while (clock_ns(CLOCK_MONOTONIC) < until) {}
}

int run_case(const Case& which) {
  ns_per_tick();
  wake_processor();
  switch (which.what) {
    case Case::Launch: bench_launch(which); break;
    case Case::Nvtx: bench_nvtx(); break;
    case Case::Library: bench_library(which); break;
    case Case::Everything: bench_everything(); break;
    case Case::Threads: bench_threads(which); break;
  }
  return 0;
}

// --- the parent --------------------------------------------------------------------------------------------------------

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

// First touch of a page of a file mapped like the log, reserved ahead: what a launch pays that no helper was ahead of.
double page_fault_ns(const std::filesystem::path& folder) {
  double least = 1e9;
  for (int i = 0; i < 3; ++i) least = std::min(least, one_page_fault_ns(folder));
  return least;
}

// Writes and syncs a file over and over until it is ended.
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
  double mean = -1, tail = -1, calls = 0, faults = 0;  // faults: page faults of the hooked batches per call
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
  setenv("PROF_GPU", which.what == Case::Everything ? "on" : "off", 1);
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  // LD_PRELOAD is for the benchmark alone, not for the shell that starts it.
  const std::string command =
      "exec env LD_PRELOAD=" PROF_BENCH_LIBPROF " '" + self + "' --case " + std::string(which.name);
  Output result;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) fail("popen");
  char line[512];
  while (std::fgets(line, sizeof line, pipe) != nullptr) {
    if (std::sscanf(line, "#mean %lf", &result.mean) == 1 || std::sscanf(line, "#tail %lf", &result.tail) == 1 ||
        std::sscanf(line, "#calls %lf", &result.calls) == 1 || std::sscanf(line, "#faults %lf", &result.faults) == 1) {
      continue;
    }
    result.text += line;
  }
  result.ended_well = pclose(pipe) == 0;
  return result;
}

bool gate(const char* what, double found, double limit, const char* unit) {
  const bool ok = found <= limit;
  std::printf("  %s  %s: %.1f %s, limit %.1f\n", ok ? "pass" : "FAIL", what, found, unit, limit);
  return ok;
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
      if (which.frames != 0) {
        ok &= gate("mean added to a launch with its stack", out.mean, kMaxStackNs + share, "ns");
        break;
      }
      ok &= gate("mean added to a launch", out.mean, kMaxMeanNs + share, "ns");
      ok &= gate("p99.9 of a hooked call less p50 of a direct one", out.tail, kMaxTailNs, "ns");
      break;
    case Case::Nvtx: ok &= gate("mean of push + pop", out.mean, kMaxNvtxNs, "ns"); break;
    case Case::Library: ok &= gate("mean added to a library call", out.mean, kMaxLibraryNs, "ns"); break;
    case Case::Threads: break;
    case Case::Everything: ok &= gate("bytes a launch with everything on", each, kMaxBytes, "bytes"); break;
  }
  return ok;
}

// What a hook reads twice: under some hypervisors it costs several times what it does on metal.
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
    if (argument.starts_with("--benchmark_filter=")) filter = argument.substr(argument.find('=') + 1);
  }
  return run_all(filter);
}
