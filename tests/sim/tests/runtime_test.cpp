// The simulated runtime seen by CUPTI: one runtime call and the driver call inside it are one launch with one
// correlation id.
#include <cuda_runtime_api.h>

#include <algorithm>

#include "tests/sim/tests/cupti_seen.h"
#include "tests/sim/tests/in_child.h"

using namespace cupti_seen;

extern "C" {
void** __cudaRegisterFatBinary(void*);
void __cudaRegisterFunction(void**, const char*, char*, const char*, int, uint3*, uint3*, dim3*, dim3*, int*);
}

namespace {

void stub() {}

SIM_TEST(Runtime, ARuntimeLaunchIsOneLaunchOfTwoLevels, "kernel _Z1kv 100") {
  start();
  EXPECT_EQ(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_RUNTIME), CUPTI_SUCCESS);
  char image[64] = {};
  void** handle = __cudaRegisterFatBinary(image);
  __cudaRegisterFunction(handle, reinterpret_cast<const char*>(&stub), nullptr, "_Z1kv", -1, nullptr, nullptr, nullptr,
                         nullptr, nullptr);
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  EXPECT_EQ(cudaLaunchKernel(reinterpret_cast<const void*>(&stub), dim3(2), dim3(32), nullptr, 0, nullptr),
            cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  cuptiActivityFlushAll(0);
  ASSERT_EQ(seen.kernels.size(), 1u);
  EXPECT_STREQ(seen.kernels[0].name, "_Z1kv");
  const auto find = [](CUpti_ActivityKind kind, uint32_t cbid) {
    return std::find_if(seen.calls.begin(), seen.calls.end(),
                        [=](const auto& one) { return one.kind == kind && one.cbid == cbid; });
  };
  const auto runtime = find(CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000);
  const auto driver = find(CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel);
  ASSERT_NE(runtime, seen.calls.end());
  ASSERT_NE(driver, seen.calls.end());
  EXPECT_EQ(runtime->correlationId, seen.kernels[0].correlationId);
  EXPECT_EQ(driver->correlationId, seen.kernels[0].correlationId);
  EXPECT_LE(runtime->start, driver->start);
  EXPECT_GE(runtime->end, driver->end);
}

}  // namespace
