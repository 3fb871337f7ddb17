// The part that runs under libprof.so: direct and hooked calls in turn in one process, and the cost of each.
#include "tests/bench/hook_cases.h"

#include "tests/bench/hook_measures.h"

#include <cudaProfiler.h>
#include <nvtx3/nvToolsExt.h>

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <initializer_list>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace prof::bench {
namespace {

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
  print_added(all);
  std::printf("#faults %.8f\n",
              static_cast<double>(all.hooked_faults) / (static_cast<double>(all.added_ns.size()) * plan.batch));
}

// Calls `body` below `frames` more frames, in one of 64 variants: at each level, counted from the top, the
// corresponding bit of `place` selects one of two return addresses.
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

// Brings the recording to its end.
void end_recording(Gpu& gpu, Case::When when) {
  const auto launch = [&] { Gpu::check(gpu.hooked(gpu.function, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr)); };
  if (when == Case::Over) {
    Gpu::check(gpu.get<decltype(&cuProfilerStart)>("cuProfilerStart")());
    launch();
    Gpu::check(gpu.get<decltype(&cuProfilerStop)>("cuProfilerStop")());
    return;
  }
  for (int i = 0; i < 20'000; ++i) launch();
  for (int i = 0; i < 1000 && recorder_has_thread(); ++i) usleep(10'000);
  if (recorder_has_thread()) fail("the log does not become full");
}

void bench_launch(const Case& which) {
  Gpu gpu;
  const CUstream shared = gpu.stream();
  if (which.when != Case::During) end_recording(gpu, which.when);
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
    if (which.places > 1) {  // direct and hooked calls use the same places
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

// Simulates a program between two launches: code and data that replace all others in the caches of the core.
class OtherWork {
 public:
  explicit OtherWork(size_t bytes) : data_(bytes) {
    void* const code = mmap(nullptr, kCode, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (code == MAP_FAILED) fail("mmap");
#if defined(__x86_64__)
    std::memset(code, 0x90, kCode);  // nop
    static_cast<unsigned char*>(code)[kCode - 1] = 0xc3;
#else
    std::fill_n(static_cast<uint32_t*>(code), kCode / 4 - 1, 0xd503201f);
    static_cast<uint32_t*>(code)[kCode / 4 - 1] = 0xd65f03c0;
#endif
    if (mprotect(code, kCode, PROT_READ | PROT_EXEC) != 0) fail("mprotect");
    __builtin___clear_cache(static_cast<char*>(code), static_cast<char*>(code) + kCode);
    run_ = reinterpret_cast<void (*)()>(code);
  }
  void operator()() {
    run_();
    for (size_t i = 0; i < data_.size(); i += 64) ++data_[i];
    asm volatile("" ::: "memory");
  }

 private:
  static constexpr size_t kCode = size_t{256} << 10;
  void (*run_)() = nullptr;
  std::vector<unsigned char> data_;
};

template <class Direct, class Hooked> void compare_cold(size_t other_bytes, Direct&& direct, Hooked&& hooked) {
  OtherWork other(other_bytes);
  Comparison result;
  constexpr int kCalls = 4000;
  const auto timed = [&](auto&& call, Histogram& into) {
    other();
    const uint64_t begin = ticks();
    call();
    into.add(ticks() - begin);
  };
  for (int i = 0; i < kCalls; ++i) {
    timed(direct, result.direct);
    timed(hooked, result.hooked);
  }
  print_singles(result);
  const double ns = ns_per_tick();
  std::printf(
      "  %-34s %8.0f ns\n", "the hook adds, median",
      (static_cast<double>(result.hooked.quantile(0.5)) - static_cast<double>(result.direct.quantile(0.5))) * ns);
  std::printf("#calls %d\n", kCalls);
}

void bench_cold(const Case& which) {
  Gpu gpu;
  const CUstream stream = gpu.stream();
  const auto launch = [&](Gpu::Launch function) {
    Gpu::check(function(gpu.function, 1, 1, 1, 32, 1, 1, 0, stream, nullptr, nullptr));
  };
  compare_cold(
      which.other_bytes, [&] { launch(gpu.direct); }, [&] { launch(gpu.hooked); });
}

// A call that makes no recorded driver call.
void bench_runtime(const Case& which) {
  Gpu gpu;
  using Function = int (*)(int*);
  constexpr const char* kName = "cudaGetDeviceCount";
  void* const library = dlopen("libcudart.so.13", RTLD_NOW);
  if (library == nullptr) fail("no simulated run time");
  const auto hooked = reinterpret_cast<Function>(dlsym(library, kName)),
             direct = reinterpret_cast<Function>(direct_symbol(library, kName));
  if (hooked == nullptr || direct == nullptr || direct == hooked)
    fail("the run time is not hooked: nothing to measure");
  const auto call = [](Function function) {
    int devices = 0;
    if (function(&devices) != 0) fail("a call of the simulated run time failed");
  };
  if (which.other_bytes != 0)
    return compare_cold(
        which.other_bytes, [&] { call(direct); }, [&] { call(hooked); });
  Plan plan;
  Comparison result;
  compare(
      plan, result, [&] { call(direct); }, [&] { call(hooked); });
  print_comparison(plan, result);
}

// There is nothing to call directly: without a tool, NVTX tests a pointer. The empty loop is the baseline.
void bench_nvtx() {
  Gpu gpu;  // a recorder may start only with the first CUDA event
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
  print_added(result);
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

// The cost for a short thread: its first launch opens its part of the log and, with stacks, finds the bounds of its
// stack.
void print_quantiles(std::initializer_list<std::pair<const char*, const Histogram*>> rows) {
  const double ns = ns_per_tick();
  std::printf("  single calls, ns %19s %8s %8s\n", "p50", "p99", "largest");
  for (const auto& [name, h] : rows) {
    std::printf("    %-30s %8.0f %8.0f %8.0f\n", name, static_cast<double>(h->quantile(0.5)) * ns,
                static_cast<double>(h->quantile(0.99)) * ns, static_cast<double>(h->largest()) * ns);
  }
}

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
  print_quantiles({{"first", &first}, {"second", &second}});
  std::printf("#first %.1f\n#calls %d\n", static_cast<double>(first.quantile(0.5)) * ns_per_tick(), 2 * kThreads);
}

// A distinct code address for each number.
template <int number, class Body> __attribute__((noinline)) void at_place(Body& body) {
  body();
  asm volatile("" ::"i"(number) : "memory");
}
template <class Body, int... numbers> void at_places(Body& body, std::integer_sequence<int, numbers...>) {
  for (void (*const place)(Body&) : {at_place<numbers, Body>...}) place(body);
}

// Single launches with new stacks: of known addresses in a new combination each; and with one new address each.
void bench_first_sights(const Case& which) {
  Gpu gpu;
  gpu.make_current();
  const CUstream stream = gpu.stream();
  Histogram again, new_stack, new_place;
  Histogram* into = &again;
  auto launch = [&] {
    const uint64_t begin = ticks();
    Gpu::check(gpu.hooked(gpu.function, 1, 1, 1, 32, 1, 1, 0, stream, nullptr, nullptr));
    into->add(ticks() - begin);
  };
  constexpr unsigned kStacks = 20000;
  constexpr int kPlaces = 1500;
  // now both return addresses of each level are known
  for (const unsigned place : {0u, ~0u}) below(which.frames, place, launch);
  again = {};
  for (unsigned i = 0; i < kStacks; ++i) below(which.frames, 0, launch);
  into = &new_stack;
  for (unsigned i = 0; i < kStacks; ++i) below(which.frames, i + 1, launch);
  into = &new_place;
  auto everywhere = [&] { at_places(launch, std::make_integer_sequence<int, kPlaces>()); };
  below(which.frames, 0, everywhere);
  print_quantiles(
      {{"a stack that is known", &again}, {"a new stack of known places", &new_stack}, {"a new place", &new_place}});
  std::printf("#calls %u\n", 2 * kStacks + kPlaces);
}

}  // namespace

int run_case(const Case& which) {
  ns_per_tick();
  wake_processor();
  switch (which.what) {
    case Case::Launch: bench_launch(which); break;
    case Case::Cold: bench_cold(which); break;
    case Case::Runtime: bench_runtime(which); break;
    case Case::Nvtx: bench_nvtx(); break;
    case Case::Library: bench_library(which); break;
    case Case::Everything: bench_everything(); break;
    case Case::Threads: bench_threads(which); break;
    case Case::FirstSights: bench_first_sights(which); break;
  }
  return 0;
}

}  // namespace prof::bench
