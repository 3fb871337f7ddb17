// The program of drivers/pc_sampling.py. Its argument is the case. Cases that need samples wait until their context is
// sampled, so no result depends on the speed of the machine.
#include "tests/sim/sim_program.h"

#include <cudaProfiler.h>
#include <cupti_pcsampling.h>
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <string>

using namespace sim_program;

namespace {

void* cupti() { return dlopen("libcupti.so.13", RTLD_NOW | RTLD_NOLOAD); }

template <class Function> Function* cupti_function(const char* name) {
  return reinterpret_cast<Function*>(dlsym(dlopen("libcupti.so.13", RTLD_NOW), name));
}

bool sampled(CUcontext context) {
  static bool (*query)(CUcontext) = nullptr;
  if (query == nullptr && cupti() != nullptr)
    query = reinterpret_cast<bool (*)(CUcontext)>(dlsym(cupti(), "sim_pc_sampled"));
  return query != nullptr && query(context);
}

void await_sampled(CUcontext context, bool yes = true) {
  for (int i = 0; i < 10'000; ++i) {
    if (sampled(context) == yes) return;
    usleep(1000);
  }
  fprintf(stderr, "the context is %s sampled after 10 s\n", yes ? "not" : "still");
  exit(98);
}

struct Module {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  explicit Module(const char* image, const char* name = "work") {
    SIM_CHECK(cuModuleLoadData(&module, image));
    SIM_CHECK(cuModuleGetFunction(&function, module, name));
  }
};

void run(CUfunction function, int times) {
  for (int i = 0; i < times; ++i) SIM_CHECK(launch(function));
  SIM_CHECK(cuCtxSynchronize());
}

template <class Time> void launch_for(Time time, CUfunction function) {
  for (const auto end = std::chrono::steady_clock::now() + time; std::chrono::steady_clock::now() < end;) {
    run(function, 1);
    usleep(500);
  }
}

// The first launch enables GPU activity, and with it PC samples.
CUcontext start(int device = 0) {
  const CUcontext context = make_context(device);
  run(Module("first module", "unsampled").function, 1);
  return context;
}

std::atomic<int> g_crc_calls{0};
void program_crc(const void*, size_t bytes, uint64_t* crc) {
  ++g_crc_calls;
  *crc = 0x1000 + bytes;
}

CUptiResult enable_own(CUcontext context) {
  CUpti_PCSamplingEnableParams params{};
  params.size = CUpti_PCSamplingEnableParamsSize;
  params.ctx = context;
  return cupti_function<decltype(cuptiPCSamplingEnable)>("cuptiPCSamplingEnable")(&params);
}

}  // namespace

int main(int, char** arguments) {
  const std::string what = arguments[1];
  if (what == "callback") {
    const auto registers = cupti_function<decltype(cuptiRegisterComputeCrcCallback)>("cuptiRegisterComputeCrcCallback");
    printf("registered %d\n", registers(program_crc));
  }
  const bool parts = what == "parts";
  if (parts) {
    const CUcontext context = make_context();
    const Module module("module of parts");
    for (int part = 0; part < 2; ++part) {
      SIM_CHECK(cuProfilerStart());
      run(module.function, 1);
      await_sampled(context);
      run(module.function, 10);
      SIM_CHECK(cuProfilerStop());
      await_sampled(context, false);
      run(module.function, 5);
    }
    return 0;
  }
  const CUcontext context = start();
  if (what == "refused") {
    run(Module("module").function, 3);
    usleep(300'000);
    return 0;
  }
  await_sampled(context);
  if (what == "plain" || what == "callback") {
    const Module one("the first cubin"), two("the second, longer cubin", "other");
    run(one.function, 10);
    run(two.function, 5);
    if (what == "callback") printf("called %s\n", g_crc_calls >= 2 ? "enough" : "too rarely");
  } else if (what == "contexts") {
    run(Module("a cubin").function, 4);
    CUcontext second = nullptr;
    SIM_CHECK(cuCtxCreate(&second, nullptr, 0, 1));
    const Module module("a cubin of the second context", "other");
    run(module.function, 1);
    await_sampled(second);
    run(module.function, 6);
    SIM_CHECK(cuCtxDestroy(second));
    SIM_CHECK(cuCtxSetCurrent(context));
    run(Module("another cubin", "last").function, 2);
  } else if (what == "reset") {
    run(Module("a cubin").function, 4);
    SIM_CHECK(cuDevicePrimaryCtxReset(0));
    const CUcontext again = make_context();
    const Module module("a cubin after the reset", "other");
    run(module.function, 1);
    await_sampled(again);
    run(module.function, 6);
  } else if (what == "unloads") {
    for (int i = 0; i < 200; ++i) {
      const std::string image = "cubin " + std::to_string(1000 + i);
      const Module module(image.c_str());
      run(module.function, 1 + i % 3);
      SIM_CHECK(cuModuleUnload(module.module));
    }
  } else if (what == "duration") {
    const Module module("a cubin");
    run(module.function, 10);
    launch_for(std::chrono::seconds(4), Module("another cubin", "unsampled").function);
    puts(sampled(context) ? "still sampled" : "not sampled");
    SIM_CHECK(cuDevicePrimaryCtxReset(0));  // CUPTI uses the buffer of the session once more
  } else if (what == "longer") {
    const Module module("a cubin");
    run(module.function, 10);
    usleep(1'000'000);
    launch_for(std::chrono::seconds(2),
               Module("another cubin", "unsampled").function);  // reads are timed in windows of 2 s
    run(module.function, 10);
  } else if (what == "late") {
    const Module module("a cubin");
    run(module.function, 2);
    SIM_CHECK(cuModuleUnload(module.module));
    run(Module("the next cubin").function, 1);
  } else if (what == "overflow") {
    const Module module("a cubin");
    run(module.function, 20);
    usleep(300'000);
    await_sampled(context);
    run(module.function, 2);
  } else if (what == "own" || what == "own_kill") {
    const Module module("a cubin");
    run(module.function, 4);
    printf("enabled %d\n", enable_own(context));
    run(module.function, 4);
    if (what == "own_kill") {
      usleep(1'000'000);
      raise(SIGKILL);
    }
    static CUpti_PCSamplingStallReason stalls[16][40];
    static CUpti_PCSamplingPCData pcs[16];
    for (int i = 0; i < 16; ++i) pcs[i].size = sizeof pcs[i], pcs[i].stallReason = stalls[i];
    CUpti_PCSamplingData data{};
    data.size = sizeof data;
    data.collectNumPcs = 16;
    data.pPcData = pcs;
    CUpti_PCSamplingGetDataParams params{};
    params.size = CUpti_PCSamplingGetDataParamsSize;
    params.ctx = context;
    params.pcSamplingData = &data;
    const int result = cupti_function<decltype(cuptiPCSamplingGetData)>("cuptiPCSamplingGetData")(&params);
    printf("data %d samples %s\n", result, data.totalSamples != 0 ? "some" : "none");
  } else if (what == "fork") {
    const Module module("a cubin");
    run(module.function, 3);
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      cuInit(0);  // the driver refuses in a forked child
      CUcontext none = nullptr;
      cuCtxCreate(&none, nullptr, 0, 0);
      usleep(100'000);
      return 0;
    }
    int status = 0;
    waitpid(child, &status, 0);
    SIM_CHECK(status == 0 ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN);
    run(module.function, 3);
  } else if (what == "kill") {
    run(Module("a cubin").function, 3);
    usleep(1'000'000);  // four times PROF_FLUSH
    raise(SIGKILL);
  } else if (what == "many") {
    run(Module("a cubin").function, 3);
  }
}
