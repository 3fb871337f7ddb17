// What hooks read from arguments, how symbols find their rows, and the handle table. The tests need no driver and no
// log.
#include "preload/driver/handle_map.h"
#include "preload/intercept/records/record_memory.h"
#include "preload/intercept/resolve.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace prof::preload {
namespace {

const auto kStream = reinterpret_cast<CUstream>(0x40);

template <Api api> using FormOf = typename Row<api>::Form;

TEST(CopyBytes, AreTheArgumentThatTheRowNames) {
  EXPECT_EQ(FormOf<Api::cuMemcpyHtoD_v2>::bytes(CUdeviceptr{1}, static_cast<const void*>(nullptr), size_t{77}), 77u);
  EXPECT_EQ(FormOf<Api::cuMemcpyDtoDAsync_v2>::bytes(CUdeviceptr{1}, CUdeviceptr{2}, size_t{78}, kStream), 78u);
  EXPECT_EQ(FormOf<Api::cuMemcpyAtoA_v2>::bytes(CUarray{}, size_t{5}, CUarray{}, size_t{6}, size_t{79}), 79u);
  EXPECT_EQ(FormOf<Api::cuMemcpyHtoA_v2>::bytes(CUarray{}, size_t{5}, static_cast<const void*>(nullptr), size_t{80}),
            80u);
}

TEST(CopyBytes, MultiplyTheShape) {
  CUDA_MEMCPY2D flat{};
  flat.WidthInBytes = 10;
  flat.Height = 3;
  EXPECT_EQ(FormOf<Api::cuMemcpy2DAsync_v2>::bytes(static_cast<const CUDA_MEMCPY2D*>(&flat), kStream), 30u);
  CUDA_MEMCPY3D deep{};
  deep.WidthInBytes = 10;
  deep.Height = 3;
  deep.Depth = 4;
  EXPECT_EQ(FormOf<Api::cuMemcpy3D_v2>::bytes(static_cast<const CUDA_MEMCPY3D*>(&deep)), 120u);
  EXPECT_EQ(FormOf<Api::cuMemcpy3D_v2>::bytes(static_cast<const CUDA_MEMCPY3D*>(nullptr)), 0u);
}

TEST(CopyBytes, SumABatch) {
  size_t sizes[] = {1, 20, 300};
  EXPECT_EQ(FormOf<Api::cuMemcpyBatchAsync>::bytes(
                static_cast<CUdeviceptr*>(nullptr), static_cast<CUdeviceptr*>(nullptr), sizes, size_t{3},
                static_cast<CUmemcpyAttributes*>(nullptr), static_cast<size_t*>(nullptr), size_t{0}, kStream),
            321u);
}

TEST(FillBytes, CountTheWidthOfTheValue) {
  EXPECT_EQ(FormOf<Api::cuMemsetD8_v2>::bytes(CUdeviceptr{1}, static_cast<unsigned char>(0), size_t{10}), 10u);
  EXPECT_EQ(FormOf<Api::cuMemsetD32Async>::bytes(CUdeviceptr{1}, 0u, size_t{10}, kStream), 40u);
  EXPECT_EQ(FormOf<Api::cuMemsetD2D16_v2>::bytes(CUdeviceptr{1}, size_t{512}, static_cast<unsigned short>(0),
                                                 size_t{10}, size_t{3}),
            60u);
}

TEST(Allocations, BelongToTheOwnerThatTheRowNames) {
  using form::Owner;
  EXPECT_EQ(FormOf<Api::cuMemAlloc_v2>::kOwner, Owner::Context);
  EXPECT_EQ(FormOf<Api::cuMemAllocPitch_v2>::kOwner, Owner::Context);
  EXPECT_EQ(FormOf<Api::cuMemAllocManaged>::kOwner, Owner::Context);
  EXPECT_EQ(FormOf<Api::cuMemAllocHost_v2>::kOwner, Owner::None);
  EXPECT_EQ(FormOf<Api::cuMemHostAlloc>::kOwner, Owner::None);
  EXPECT_EQ(FormOf<Api::cuMemAddressReserve>::kOwner, Owner::None);
  EXPECT_EQ(FormOf<Api::cuMemAllocAsync_ptsz>::kOwner, Owner::Pool);
  EXPECT_EQ(FormOf<Api::cuMemAllocFromPoolAsync>::kOwner, Owner::Pool);
}

TEST(Allocations, HaveTheBytesOfTheirArguments) {
  size_t pitch = 512;
  EXPECT_EQ(FormOf<Api::cuMemAllocManaged>::bytes(CUDA_SUCCESS, size_t{100}, 1u), 100u);
  EXPECT_EQ(FormOf<Api::cuMemAllocPitch_v2>::bytes(CUDA_SUCCESS, &pitch, size_t{100}, size_t{3}, 4u), 1536u);
  EXPECT_EQ(FormOf<Api::cuMemAllocPitch_v2>::bytes(CUDA_ERROR_OUT_OF_MEMORY, &pitch, size_t{100}, size_t{3}, 4u), 0u)
      << "the pitch is set by a successful call only";
}

TEST(LaunchShape, TellsCooperativeFromPlain) {
  const CUfunction function = reinterpret_cast<CUfunction>(0x10);
  void** none = nullptr;
  EXPECT_EQ(FormOf<Api::cuLaunchKernel>::shape(function, 1u, 1u, 1u, 1u, 1u, 1u, 0u, kStream, none, none).attributes(),
            0u);
  EXPECT_EQ(
      FormOf<Api::cuLaunchCooperativeKernel>::shape(function, 1u, 1u, 1u, 1u, 1u, 1u, 0u, kStream, none).attributes(),
      format::kConfigCooperative);
}

TEST(LaunchShape, FindsProgrammaticLaunchInTheAttributes) {
  CUlaunchAttribute attributes[2]{};
  attributes[0].id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
  attributes[1].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  attributes[1].value.programmaticStreamSerializationAllowed = 1;
  CUlaunchConfig config{};
  config.attrs = attributes;
  config.numAttrs = 2;
  const CUlaunchConfig* const given = &config;
  EXPECT_EQ(form::KernelConfig::shape(given, nullptr, nullptr, nullptr).attributes(), format::kConfigProgrammatic);
  attributes[1].value.programmaticStreamSerializationAllowed = 0;
  EXPECT_EQ(form::KernelConfig::shape(given, nullptr, nullptr, nullptr).attributes(), 0u);
  EXPECT_EQ(form::KernelConfig::shape(static_cast<const CUlaunchConfig*>(nullptr), nullptr, nullptr, nullptr).function,
            nullptr);
}

TEST(Rows, AreFoundByTheirExactName) {
  for (size_t i = 0; i < kApiCount; ++i) {
    const Api* const row = row_of_name(kApiNames[i]);
    ASSERT_NE(row, nullptr) << kApiNames[i];
    EXPECT_EQ(index_of(*row), i);
  }
  EXPECT_EQ(row_of_name("cuLaunchKerne"), nullptr);
  EXPECT_EQ(row_of_name("cuLaunchKernelX"), nullptr);
  EXPECT_EQ(row_of_name(""), nullptr);
}

TEST(Rows, KnowTheirNullStream) {
  EXPECT_EQ(Row<Api::cuLaunchKernel>::kNullStream, NullStream::Legacy);
  EXPECT_EQ(Row<Api::cuLaunchKernel_ptsz>::kNullStream, NullStream::PerThread);
  EXPECT_EQ(Row<Api::cuMemcpyHtoD_v2_ptds>::kNullStream, NullStream::PerThread);
}

TEST(HandleMap, FindsWhatWasPutAndNothingElse) {
  const auto map = std::make_unique<HandleMap<64>>();
  const auto handle = [](uintptr_t n) { return reinterpret_cast<void*>(n * 16); };
  for (uintptr_t n = 1; n <= 40; ++n) ASSERT_TRUE(map->put(handle(n), n));
  for (uintptr_t n = 1; n <= 40; ++n) EXPECT_EQ(map->find(handle(n)), n);
  EXPECT_EQ(map->find(handle(41)), 0u);
  map->put(handle(7), 700);
  EXPECT_EQ(map->find(handle(7)), 700u);
}

TEST(HandleMap, ReusesErasedPlacesForEver) {
  const auto map = std::make_unique<HandleMap<64>>();
  for (uintptr_t n = 1; n <= 10000; ++n) {
    void* const handle = reinterpret_cast<void*>(n * 16);
    ASSERT_TRUE(map->put(handle, n)) << n;
    ASSERT_EQ(map->find(handle), n);
    map->erase(handle);
    ASSERT_EQ(map->find(handle), 0u);
  }
}

TEST(HandleMap, GrowsAndForgetsNothing) {
  const auto map = std::make_unique<HandleMap<64>>();
  const auto handle = [](uintptr_t n) { return reinterpret_cast<void*>(n * 16); };
  constexpr uintptr_t kMany = 18'000;  // 64 × 341 places
  for (uintptr_t n = 1; n <= kMany; ++n) ASSERT_TRUE(map->put(handle(n), n)) << n;
  for (uintptr_t n = 1; n <= kMany; n += 2) map->erase(handle(n));
  for (uintptr_t n = 1; n <= kMany; ++n) ASSERT_EQ(map->find(handle(n)), n % 2 == 0 ? n : 0) << n;
  for (uintptr_t n = 1; n <= kMany; ++n) ASSERT_TRUE(map->put(handle(n), n + 7)) << n;
  for (uintptr_t n = 1; n <= kMany; ++n) ASSERT_EQ(map->find(handle(n)), n + 7) << n;
}

TEST(HandleMap, RefusesWhenFull) {
  const auto map = std::make_unique<HandleMap<64>>();
  uintptr_t kept = 0;
  for (uintptr_t n = 1; n <= 100'000; ++n) kept += map->put(reinterpret_cast<void*>(n * 16), n) ? 1 : 0;
  EXPECT_GT(kept, 18'000u);
  EXPECT_LE(kept, 64u * 341);
}

}  // namespace
}  // namespace prof::preload
