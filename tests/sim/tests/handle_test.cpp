// The results of using streams, events, pools and contexts after their destruction: errors, like the driver's, and no
// crash.
#include <gtest/gtest.h>

#include "tests/sim/sim_program.h"
#include "tests/sim/tests/in_child.h"

namespace {

SIM_TEST(Handles, ADestroyedStreamIsAnInvalidHandle, "") {
  sim_program::make_context();
  const CUfunction function = sim_program::kernel("kernel");
  const CUstream stream = sim_program::make_stream();
  ASSERT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
  CUevent event;
  ASSERT_EQ(cuEventCreate(&event, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuStreamQuery(stream), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuStreamDestroy(stream), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuStreamWaitEvent(stream, event, 0), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuEventRecord(event, stream), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuMemcpyDtoDAsync(sim_program::allocate(8), sim_program::allocate(8), 8, stream),
            CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(sim_program::launch(function, stream), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuStreamSynchronize(reinterpret_cast<CUstream>(&event)), CUDA_ERROR_INVALID_HANDLE) << "never was one";
  EXPECT_EQ(sim_program::launch(function), CUDA_SUCCESS);
}

SIM_TEST(Handles, AHandleMayNameTheNextStream, "") {
  sim_program::make_context();
  const CUstream stream = sim_program::make_stream();
  ASSERT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
  EXPECT_EQ(sim_program::make_stream(), stream);
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
}

SIM_TEST(Handles, ADestroyedEventIsAnInvalidHandle, "") {
  sim_program::make_context();
  CUevent event;
  ASSERT_EQ(cuEventCreate(&event, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuEventDestroy(event), CUDA_SUCCESS);
  EXPECT_EQ(cuEventRecord(event, nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuEventSynchronize(event), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuEventQuery(event), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuEventDestroy(event), CUDA_ERROR_INVALID_HANDLE);
}

SIM_TEST(Handles, ResettingADeviceEndsItsContextAndWhatIsInIt, "") {
  const CUcontext context = sim_program::make_context();
  const CUstream stream = sim_program::make_stream();
  ASSERT_EQ(cuDevicePrimaryCtxReset(0), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  EXPECT_EQ(cuStreamSynchronize(nullptr), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  EXPECT_EQ(sim_program::make_context(), context) << "the handle is the device's";
  EXPECT_EQ(cuStreamSynchronize(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_ERROR_CONTEXT_IS_DESTROYED);
}

SIM_TEST(Handles, AGreenContextHasStreamsOnItsDeviceUntilItIsDestroyed, "") {
  sim_program::make_context(0);
  CUdevResource all, part;
  unsigned groups = 1;
  CUdevResourceDesc description;
  CUgreenCtx green;
  CUstream stream;
  CUcontext context, primary;
  CUdevice device;
  ASSERT_EQ(cuDeviceGetDevResource(1, &all, CU_DEV_RESOURCE_TYPE_SM), CUDA_SUCCESS);
  ASSERT_EQ(cuDevSmResourceSplitByCount(&part, &groups, &all, nullptr, 0, 20), CUDA_SUCCESS);
  EXPECT_EQ(part.sm.smCount, 24u) << "eight at a time";
  ASSERT_EQ(cuDevResourceGenerateDesc(&description, &part, 1), CUDA_SUCCESS);
  EXPECT_EQ(cuGreenCtxCreate(&green, description, 1, 0), CUDA_ERROR_INVALID_VALUE) << "without its default stream";
  ASSERT_EQ(cuGreenCtxCreate(&green, description, 1, CU_GREEN_CTX_DEFAULT_STREAM), CUDA_SUCCESS);
  EXPECT_EQ(cuGreenCtxStreamCreate(&stream, green, CU_STREAM_DEFAULT, 0), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamGetDevice(stream, &device), CUDA_SUCCESS);
  EXPECT_EQ(device, 1);
  ASSERT_EQ(cuCtxFromGreenCtx(&context, green), CUDA_SUCCESS);
  CUgreenCtx of_stream = nullptr;
  ASSERT_EQ(cuStreamGetCtx_v2(stream, &primary, &of_stream), CUDA_SUCCESS);
  EXPECT_EQ(of_stream, green);
  EXPECT_NE(primary, context);
  ASSERT_EQ(cuGreenCtxDestroy(green), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  EXPECT_EQ(cuStreamDestroy(stream), CUDA_ERROR_CONTEXT_IS_DESTROYED);
}

uint64_t told(CUmemoryPool pool, CUmemPool_attribute what) {
  uint64_t value = 0;
  EXPECT_EQ(cuMemPoolGetAttribute(pool, what, &value), CUDA_SUCCESS);
  return value;
}

SIM_TEST(Handles, APoolCountsWhatItGaveOutAndGoesWithItsLastAllocation, "") {
  sim_program::make_context();
  CUmemPoolProps properties{};
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  properties.maxSize = 4000;
  CUmemoryPool pool, standard, current;
  ASSERT_EQ(cuMemPoolCreate(&pool, &properties), CUDA_SUCCESS);
  ASSERT_EQ(cuDeviceGetDefaultMemPool(&standard, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemPoolDestroy(standard), CUDA_ERROR_INVALID_VALUE) << "a default pool stays";
  EXPECT_EQ(cuDeviceSetMemPool(1, pool), CUDA_ERROR_INVALID_VALUE) << "of another device";
  ASSERT_EQ(cuDeviceSetMemPool(0, pool), CUDA_SUCCESS);
  CUdeviceptr first, second;
  ASSERT_EQ(cuMemAllocAsync(&first, 3000, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAllocAsync(&second, 3000, nullptr), CUDA_ERROR_OUT_OF_MEMORY);
  ASSERT_EQ(cuMemAllocFromPoolAsync(&second, 500, pool, nullptr), CUDA_SUCCESS);
  ASSERT_EQ(cuMemFreeAsync(first, nullptr), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(told(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 500u);
  EXPECT_EQ(told(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH), 3500u);
  EXPECT_EQ(told(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 3500u);
  ASSERT_EQ(cuMemPoolTrimTo(pool, 1000), CUDA_SUCCESS);
  EXPECT_EQ(told(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 1000u);
  ASSERT_EQ(cuMemPoolDestroy(pool), CUDA_SUCCESS);
  ASSERT_EQ(cuDeviceGetMemPool(&current, 0), CUDA_SUCCESS);
  EXPECT_EQ(current, standard);
  EXPECT_EQ(cuMemFreeAsync(second, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
}

}  // namespace
