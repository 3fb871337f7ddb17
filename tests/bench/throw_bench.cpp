// Whether C++ exceptions of the program are slower if libprof.so records stacks. A million exceptions through ten
// frames each, in processes of this program that run in turn: plain, and preloaded with PROF_STACKS=all after launches
// with their stacks.
//
//   throw_bench [--filter=TEXT]
//   throw_bench --throw    the timed process: ns per throw
#include "tests/bench/measure.h"

#include <cuda.h>
#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace prof::bench {
namespace {

constexpr int kThrows = 120'000, kRounds = 9;  // a million in total
constexpr double kMaxRatio = 1.05;

// Launches below a few frames, so that unwind tables are read, rules are cached and libunwind is loaded.
void launch_some() {
  void* const library = dlopen("libcuda.so.1", RTLD_NOW);
  if (library == nullptr) std::exit(2);
  const auto get = [&]<class F>(F& to, const char* name) { to = reinterpret_cast<F>(dlsym(library, name)); };
  decltype(&cuInit) init;
  decltype(&cuDevicePrimaryCtxRetain) retain;
  decltype(&cuCtxSetCurrent) set_current;
  decltype(&cuModuleLoadData) load;
  decltype(&cuModuleGetFunction) function_of;
  decltype(&cuLaunchKernel) launch;
  get(init, "cuInit"), get(retain, "cuDevicePrimaryCtxRetain"), get(set_current, "cuCtxSetCurrent");
  get(load, "cuModuleLoadData"), get(function_of, "cuModuleGetFunction"), get(launch, "cuLaunchKernel");
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  if (init(0) || retain(&context, 0) || set_current(context) || load(&module, "image") ||
      function_of(&function, module, "bench_kernel")) {
    std::exit(2);
  }
  for (int i = 0; i < 10'000; ++i) launch(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr);
}

__attribute__((noinline)) void throw_below(int frames, int value) {
  if (frames == 0) throw std::runtime_error("thrown");
  const std::string held = frames == 5 ? std::string(40, 'x') : std::string();  // an object to destroy during unwinding
  throw_below(frames - 1, value + static_cast<int>(held.size()));
  __asm__ volatile("" ::: "memory");
}

double throws_ns() {
  launch_some();
  size_t caught = 0;
  const double ns = batch_ns(kThrows, [&] {
    try {
      throw_below(10, 1);
    } catch (const std::exception& error) {
      caught += std::strlen(error.what());
    }
  });
  if (caught == 0) std::exit(2);
  return ns;
}

double child_ns(const char* self, const std::string& folder, bool preloaded) {
  std::string command =
      std::string("LD_LIBRARY_PATH=") + PROF_BENCH_SIM_DIR + " SIM_CLOCK=real PROF_GPU=off PROF_OUTPUT=" + folder;
  if (preloaded) command += std::string(" PROF_STACKS=all LD_PRELOAD=") + PROF_BENCH_LIBPROF;
  command += std::string(" '") + self + "' --throw";
  FILE* const pipe = popen(command.c_str(), "r");
  double ns = 0;
  if (pipe == nullptr || std::fscanf(pipe, "%lf", &ns) != 1) std::exit(2);
  return pclose(pipe) == 0 ? ns : 0;
}

int run(const char* self) {
  const std::string folder = "/tmp/throw_bench." + std::to_string(getpid());
  std::filesystem::create_directory(folder);
  std::vector<double> plain, preloaded;
  for (int round = 0; round < kRounds; ++round) {
    for (const bool with : {round % 2 == 0, round % 2 != 0})
      (with ? preloaded : plain).push_back(child_ns(self, folder, with));
  }
  bool recorded = false;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) recorded |= entry.path().extension() == ".plog";
  std::filesystem::remove_all(folder);
  const Spread a = spread(plain), b = spread(preloaded);
  const double ratio = b.low / a.low;
  std::printf("A C++ exception through ten frames, CPU time, 10th percentile (median) of %d processes in turn\n",
              kRounds);
  std::printf("  plain                          %8.0f ns   (%.0f)\n", a.low, a.median);
  std::printf("  preloaded, PROF_STACKS=all     %8.0f ns   (%.0f)\n", b.low, b.median);
  const bool ok = recorded && ratio <= kMaxRatio;
  std::printf("  %s  preloaded / plain: %.3f, limit %.2f%s\n", ok ? "pass" : "FAIL", ratio, kMaxRatio,
              recorded ? "" : "; nothing was recorded");
  return ok ? 0 : 1;
}

}  // namespace
}  // namespace prof::bench

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "--throw") == 0) {
    std::printf("%f\n", prof::bench::throws_ns());
    return 0;
  }
  const std::string_view option = argc > 1 ? argv[1] : "", filter = "--filter=";
  if (option.starts_with(filter) &&
      std::string_view("throw").find(option.substr(filter.size())) == std::string_view::npos)
    return 0;
  return prof::bench::run(argv[0]);
}
