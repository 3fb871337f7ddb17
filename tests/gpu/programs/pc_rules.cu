// What CUPTI's PC sampling alone allows while other threads launch.
//   pc_rules MODE [SECONDS]
//     read      a thread reads the samples each 100 ms
//     flush     it also flushes CUPTI's activity records each 50 ms
//     restart   it also stops the samples and starts them again each 0.5 s, by CUPTI's start and stop control
//     disable   the same by cuptiPCSamplingDisable and cuptiPCSamplingEnable
// Prints kernels that were launched, kernels with a record, samples, and the longest and the sum of the times of the
// calls of the mode. A mode that hangs prints nothing. CUPTI is CUPTI_BASELINE_LIB or the one that the loader finds.
#include "check.cuh"

#include <cuda.h>
#include <cupti_pcsampling.h>

#define CUPTI_FUNCTIONS(F)                                                                                            \
  F(cuptiActivityRegisterCallbacks)                                                                                   \
  F(cuptiActivityEnable) F(cuptiActivityFlushAll) F(cuptiActivityGetNextRecord) F(cuptiGetResultString)               \
      F(cuptiPCSamplingEnable) F(cuptiPCSamplingDisable) F(cuptiPCSamplingStart) F(cuptiPCSamplingStop)               \
          F(cuptiPCSamplingGetData) F(cuptiPCSamplingSetConfigurationAttribute) F(cuptiPCSamplingGetNumStallReasons)
#include "cupti_alone.cuh"

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>

__global__ void spin_kernel(unsigned long long ns) { spin_for(ns); }

constexpr uint32_t kPeriod = 16;  // 2^16 cycles
constexpr size_t kPcs = 4096;
constexpr int kThreads = 4;

static uint64_t g_recorded = 0, g_samples = 0;

static void CUPTIAPI completed(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid) {
  const std::lock_guard<std::mutex> lock(g_mutex);
  CUpti_Activity* record = nullptr;
  while (valid != 0 && g_cupti.cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS)
    g_recorded += record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  g_free.push_back(buffer);
}

static void pc_check(CUptiResult result, const char* what) {
  if (result == CUPTI_SUCCESS) return;
  const char* text = "";
  g_cupti.cuptiGetResultString(result, &text);
  std::fprintf(stderr, "%s: %s\n", what, text);
  std::exit(103);
}

template <class Params> static Params of(CUcontext context, size_t size) {
  Params params{};
  params.size = size;
  params.ctx = context;
  return params;
}

// What CUPTI writes samples to: one for reads, and one that it keeps from the configuration on.
struct SampleBuffer {
  CUpti_PCSamplingData data{};
  std::vector<CUpti_PCSamplingPCData> pcs = std::vector<CUpti_PCSamplingPCData>(kPcs);
  std::vector<CUpti_PCSamplingStallReason> reasons;

  explicit SampleBuffer(size_t reason_count) : reasons(kPcs * reason_count), count_(reason_count) { clear(); }
  void clear() {
    data = {};
    data.size = sizeof(CUpti_PCSamplingData);
    data.collectNumPcs = kPcs;
    data.pPcData = pcs.data();
    for (size_t i = 0; i < kPcs; ++i) {
      pcs[i] = {};
      pcs[i].size = sizeof(CUpti_PCSamplingPCData);
      pcs[i].stallReason = reasons.data() + i * count_;
    }
  }

 private:
  size_t count_;
};

static void enable(CUcontext context) {
  auto params = of<CUpti_PCSamplingEnableParams>(context, CUpti_PCSamplingEnableParamsSize);
  pc_check(g_cupti.cuptiPCSamplingEnable(&params), "cuptiPCSamplingEnable");
}
static void disable(CUcontext context) {
  auto params = of<CUpti_PCSamplingDisableParams>(context, CUpti_PCSamplingDisableParamsSize);
  pc_check(g_cupti.cuptiPCSamplingDisable(&params), "cuptiPCSamplingDisable");
}
static void configure(CUcontext context, SampleBuffer& last, bool control) {
  CUpti_PCSamplingConfigurationInfo info[4] = {};
  info[0].attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD;
  info[0].attributeData.samplingPeriodData.samplingPeriod = kPeriod;
  info[1].attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_COLLECTION_MODE;
  info[1].attributeData.collectionModeData.collectionMode = CUPTI_PC_SAMPLING_COLLECTION_MODE_CONTINUOUS;
  info[2].attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER;
  info[2].attributeData.samplingDataBufferData.samplingDataBuffer = &last.data;
  info[3].attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_ENABLE_START_STOP_CONTROL;
  info[3].attributeData.enableStartStopControlData.enableStartStopControl = 1;
  auto params = of<CUpti_PCSamplingConfigurationInfoParams>(context, CUpti_PCSamplingConfigurationInfoParamsSize);
  params.numAttributes = control ? 4 : 3;
  params.pPCSamplingConfigurationInfo = info;
  pc_check(g_cupti.cuptiPCSamplingSetConfigurationAttribute(&params), "cuptiPCSamplingSetConfigurationAttribute");
}
static void start(CUcontext context) {
  auto params = of<CUpti_PCSamplingStartParams>(context, CUpti_PCSamplingStartParamsSize);
  pc_check(g_cupti.cuptiPCSamplingStart(&params), "cuptiPCSamplingStart");
}
static void stop(CUcontext context) {
  auto params = of<CUpti_PCSamplingStopParams>(context, CUpti_PCSamplingStopParamsSize);
  pc_check(g_cupti.cuptiPCSamplingStop(&params), "cuptiPCSamplingStop");
}
static void read(CUcontext context, SampleBuffer& buffer) {
  do {
    buffer.clear();
    auto params = of<CUpti_PCSamplingGetDataParams>(context, CUpti_PCSamplingGetDataParamsSize);
    params.pcSamplingData = &buffer.data;
    pc_check(g_cupti.cuptiPCSamplingGetData(&params), "cuptiPCSamplingGetData");
    g_samples += buffer.data.totalSamples;
  } while (buffer.data.remainingNumPcs != 0);
}
static size_t stall_reasons(CUcontext context) {
  size_t count = 0;
  auto params = of<CUpti_PCSamplingGetNumStallReasonsParams>(context, CUpti_PCSamplingGetNumStallReasonsParamsSize);
  params.numStallReasons = &count;
  pc_check(g_cupti.cuptiPCSamplingGetNumStallReasons(&params), "cuptiPCSamplingGetNumStallReasons");
  return count;
}

static void launches(const std::atomic<bool>& end, std::atomic<uint64_t>& launched) {
  cudaStream_t stream = nullptr;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  unsigned long long ns = 5000;
  void* arguments[] = {&ns};
  while (!end) {
    for (int i = 0; i < 50; ++i)
      CHECK(cudaLaunchKernel(reinterpret_cast<const void*>(&spin_kernel), dim3(8), dim3(64), arguments, 0, stream));
    launched += 50;
    CHECK(cudaStreamSynchronize(stream));
  }
}

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  const int seconds = argc > 2 ? std::atoi(argv[2]) : 8;
  if (mode != "read" && mode != "flush" && mode != "restart" && mode != "disable") {
    std::fprintf(stderr, "usage: pc_rules read|flush|restart|disable [SECONDS]\n");
    return 2;
  }
  open_cupti();
  CHECK(cudaFree(nullptr));
  CUcontext context = nullptr;
  if (cuCtxGetCurrent(&context) != CUDA_SUCCESS) return 102;
  g_cupti.cuptiActivityRegisterCallbacks(requested, completed);
  pc_check(g_cupti.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), "cuptiActivityEnable");
  enable(context);
  SampleBuffer reads(stall_reasons(context)), last(stall_reasons(context));
  configure(context, last, mode == "restart");
  if (mode == "restart") start(context);

  std::atomic<bool> end{false};
  std::atomic<uint64_t> launched{0};
  std::thread threads[kThreads];
  for (std::thread& thread : threads) thread = std::thread([&] { launches(end, launched); });
  uint64_t calls = 0, longest = 0, sum = 0;
  const auto timed = [&](auto&& call) {
    const uint64_t begin = clock_ns();
    call();
    const uint64_t took = clock_ns() - begin;
    ++calls, longest = std::max(longest, took), sum += took;
  };
  const uint64_t until = clock_ns() + static_cast<uint64_t>(seconds) * 1000000000;
  for (int turn = 1; clock_ns() < until; ++turn) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    if (mode == "flush") timed([] { g_cupti.cuptiActivityFlushAll(0); });
    if (turn % 2 == 0) read(context, reads);
    if (turn % 10 != 0) continue;
    if (mode == "restart") timed([&] { stop(context), start(context); });
    if (mode == "disable") timed([&] { disable(context), enable(context), configure(context, last, false); });
  }
  end = true;
  for (std::thread& thread : threads) thread.join();
  CHECK(cudaDeviceSynchronize());
  if (mode == "restart") stop(context);
  read(context, reads);
  disable(context);
  g_cupti.cuptiActivityFlushAll(1);
  std::printf("launched %llu recorded %llu samples %llu calls %llu longest_us %llu sum_us %llu\n",
              static_cast<unsigned long long>(launched), static_cast<unsigned long long>(g_recorded),
              static_cast<unsigned long long>(g_samples), static_cast<unsigned long long>(calls),
              static_cast<unsigned long long>(longest / 1000), static_cast<unsigned long long>(sum / 1000));
  return 0;
}
