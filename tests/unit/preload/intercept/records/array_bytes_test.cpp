// How many bytes an array takes, computed from its descriptor.
#include "preload/intercept/records/array_bytes.h"

#include <cuda.h>
#include <gtest/gtest.h>

namespace prof::preload {
namespace {

CUDA_ARRAY3D_DESCRIPTOR shape(CUarray_format format, unsigned channels, size_t width, size_t height, size_t depth,
                              unsigned flags = 0) {
  CUDA_ARRAY3D_DESCRIPTOR what{};
  what.Width = width, what.Height = height, what.Depth = depth;
  what.Format = format, what.NumChannels = channels, what.Flags = flags;
  return what;
}

uint64_t bytes(const CUDA_ARRAY3D_DESCRIPTOR& what, unsigned levels = 1) { return array_bytes(&what, levels); }

TEST(ArrayBytes, AnExtentOfZeroIsNoExtent) {
  EXPECT_EQ(bytes(shape(CU_AD_FORMAT_FLOAT, 1, 100, 0, 0)), 400u);
  EXPECT_EQ(bytes(shape(CU_AD_FORMAT_HALF, 2, 100, 10, 0)), 4000u);
  EXPECT_EQ(bytes(shape(CU_AD_FORMAT_UNSIGNED_INT8, 4, 100, 10, 5)), 20000u);
}

TEST(ArrayBytes, LayersAreAsDeepAtEveryLevelAndTheDepthOfOthersHalves) {
  // 8×8 + 4×4 + 2×2 + 1×1 elements in each of three layers, and 8³ + 4³ + 2³ + 1³.
  EXPECT_EQ(bytes(shape(CU_AD_FORMAT_UNSIGNED_INT8, 1, 8, 8, 3, CUDA_ARRAY3D_LAYERED), 4), 85u * 3);
  EXPECT_EQ(bytes(shape(CU_AD_FORMAT_UNSIGNED_INT8, 1, 8, 8, 8), 4), 585u);
}

TEST(ArrayBytes, LevelsBehindTheSingleElementDoNotExist) {
  EXPECT_EQ(bytes(shape(CU_AD_FORMAT_UNSIGNED_INT8, 1, 8, 8, 0), 4000000000u), 85u);
  EXPECT_EQ(bytes(shape(CU_AD_FORMAT_UNSIGNED_INT8, 1, 8, 8, 0), 0), 64u);
}

TEST(ArrayBytes, CompressedFormatsCountBlocksOfFourByFour) {
  EXPECT_EQ(bytes(shape(CU_AD_FORMAT_BC1_UNORM, 4, 16, 16, 0)), 128u);
  EXPECT_EQ(bytes(shape(CU_AD_FORMAT_BC7_UNORM, 4, 17, 16, 0)), 5u * 4 * 16);
}

TEST(ArrayBytes, WithoutMemoryOfItsOwnOrOfAnUnknownFormatIsZero) {
  EXPECT_EQ(bytes(shape(CU_AD_FORMAT_FLOAT, 1, 64, 64, 0, CUDA_ARRAY3D_SPARSE)), 0u);
  EXPECT_EQ(bytes(shape(CU_AD_FORMAT_FLOAT, 1, 64, 64, 0, CUDA_ARRAY3D_DEFERRED_MAPPING)), 0u);
  EXPECT_EQ(bytes(shape(static_cast<CUarray_format>(0x7777), 1, 64, 64, 0)), 0u);
  EXPECT_EQ(array_bytes(static_cast<const CUDA_ARRAY_DESCRIPTOR*>(nullptr)), 0u);
}

}  // namespace
}  // namespace prof::preload
