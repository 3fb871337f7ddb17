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

TEST(CopyBytes, AreTheLastArgumentOfALinearCopy) {
  EXPECT_EQ(copy_bytes(CUdeviceptr{1}, static_cast<const void*>(nullptr), size_t{77}), 77u);
  EXPECT_EQ(copy_bytes(CUdeviceptr{1}, CUdeviceptr{2}, size_t{78}, kStream), 78u);
  EXPECT_EQ(copy_bytes(CUarray{}, size_t{5}, CUarray{}, size_t{6}, size_t{79}), 79u);
}

TEST(CopyBytes, MultiplyTheShape) {
  CUDA_MEMCPY2D flat{};
  flat.WidthInBytes = 10, flat.Height = 3;
  EXPECT_EQ(copy_bytes(static_cast<const CUDA_MEMCPY2D*>(&flat), kStream), 30u);
  CUDA_MEMCPY3D deep{};
  deep.WidthInBytes = 10, deep.Height = 3, deep.Depth = 4;
  EXPECT_EQ(copy_bytes(static_cast<const CUDA_MEMCPY3D*>(&deep)), 120u);
  EXPECT_EQ(copy_bytes(static_cast<const CUDA_MEMCPY3D*>(nullptr)), 0u);
}

TEST(CopyBytes, SumABatch) {
  size_t sizes[] = {1, 20, 300};
  EXPECT_EQ(copy_bytes(static_cast<CUdeviceptr*>(nullptr), static_cast<CUdeviceptr*>(nullptr), sizes, size_t{3},
                       static_cast<CUmemcpyAttributes*>(nullptr), static_cast<size_t*>(nullptr), size_t{0}, kStream),
            321u);
}

TEST(FillBytes, CountTheWidthOfTheValue) {
  EXPECT_EQ(fill_bytes(CUdeviceptr{1}, static_cast<unsigned char>(0), size_t{10}), 10u);
  EXPECT_EQ(fill_bytes(CUdeviceptr{1}, 0u, size_t{10}, kStream), 40u);
  EXPECT_EQ(fill_bytes(CUdeviceptr{1}, size_t{512}, static_cast<unsigned short>(0), size_t{10}, size_t{3}), 60u);
}

TEST(LaunchShape, TellsCooperativeFromPlain) {
  const CUfunction function = reinterpret_cast<CUfunction>(0x10);
  void** none = nullptr;
  EXPECT_EQ(launch_shape(function, 1u, 1u, 1u, 1u, 1u, 1u, 0u, kStream, none, none).attributes(), 0u);
  EXPECT_EQ(launch_shape(function, 1u, 1u, 1u, 1u, 1u, 1u, 0u, kStream, none).attributes(), format::kConfigCooperative);
}

TEST(LaunchShape, FindsProgrammaticLaunchInTheAttributes) {
  CUlaunchAttribute attributes[2]{};
  attributes[0].id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
  attributes[1].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  attributes[1].value.programmaticStreamSerializationAllowed = 1;
  CUlaunchConfig config{};
  config.attrs = attributes, config.numAttrs = 2;
  const CUlaunchConfig* const given = &config;
  EXPECT_EQ(launch_shape(given, nullptr, nullptr, nullptr).attributes(), format::kConfigProgrammatic);
  attributes[1].value.programmaticStreamSerializationAllowed = 0;
  EXPECT_EQ(launch_shape(given, nullptr, nullptr, nullptr).attributes(), 0u);
  EXPECT_EQ(launch_shape(static_cast<const CUlaunchConfig*>(nullptr), nullptr, nullptr, nullptr).function, nullptr);
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

TEST(HandleMap, RefusesWhenFull) {
  const auto map = std::make_unique<HandleMap<64>>();
  uintptr_t kept = 0;
  for (uintptr_t n = 1; n <= 100; ++n) kept += map->put(reinterpret_cast<void*>(n * 16), n) ? 1 : 0;
  EXPECT_EQ(kept, 64u);
}

}  // namespace
}  // namespace prof::preload
