// Which functions of the driver and of the CUDA runtime can launch operations, and CUPTI's numbers of them.
#include "preload/capture/cupti/launching_calls.h"

#include "preload/capture/cupti/cupti_headers.h"
#include "preload/capture/cupti/newer_callbacks.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace prof::test {
namespace {

using namespace preload;

#if CUPTI_API_VERSION >= 130000
TEST(LaunchingCalls, NumbersOfLaterRuntimeCallsAreThoseOfTheHeader) {
  for (const CUpti_CallbackId cbid :
       {CUPTI_RUNTIME_TRACE_CBID___cudaLaunchKernel_v13000, CUPTI_RUNTIME_TRACE_CBID___cudaLaunchKernel_ptsz_v13000,
        CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyBatchAsync_v12080,
        CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy3DBatchAsync_ptsz_v12080,
        CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyBatchAsync_v13000,
        CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy3DBatchAsync_ptsz_v13000})
    EXPECT_TRUE(is_newer_launching_runtime_call(cbid)) << cbid;
  EXPECT_FALSE(is_newer_launching_runtime_call(CUPTI_RUNTIME_TRACE_CBID_cudaGetExportTable_v13000));
}
#endif

TEST(LaunchingCalls, AreThoseOfTheTable) {
  std::set<std::string> names;
  for (uint32_t i = 0; i < launching_driver_calls().count; ++i) names.insert(launching_driver_calls().data[i].name);
  for (const char* name :
       {"cuLaunchKernel", "cuLaunchKernel_ptsz", "cuLaunchKernelEx", "cuLaunchCooperativeKernel", "cuGraphLaunch",
        "cuMemcpyHtoDAsync_v2", "cuMemcpyDtoH_v2", "cuMemsetD8_v2", "cuMemsetD32Async", "cuMemcpyPeerAsync",
        "cuMemcpy3DAsync_v2", "cuLaunchCooperativeKernelMultiDevice"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
  for (const char* name : {"cuStreamSynchronize", "cuMemAlloc_v2", "cuEventRecord"})
    EXPECT_FALSE(names.contains(name)) << name;
  EXPECT_FALSE(driver_call_known(17, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx));
  EXPECT_TRUE(driver_call_known(18, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx));
  EXPECT_FALSE(driver_call_known(28, CUPTI_DRIVER_TRACE_CBID_cuMemcpyBatchAsync_v2));
}

}  // namespace
}  // namespace prof::test
