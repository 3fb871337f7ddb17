// Do the numbers of communicators equal those of each version of NCCL?
#include "preload/intercept/libraries/nccl_numbers.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>

namespace prof::preload {
namespace {

// The expected numbers were computed with Python's integers, after NCCL's definition.

std::array<unsigned char, kNcclUniqueIdBytes> id_of(unsigned char byte) {
  std::array<unsigned char, kNcclUniqueIdBytes> id;
  id.fill(byte);
  return id;
}

TEST(NcclNumbers, SinceVersion2262WordsAreMixed) {
  EXPECT_EQ(nccl_number(id_of(7).data(), 22800), 2474940877224741099u);
  EXPECT_EQ(nccl_number(id_of(7).data(), kNcclMixes), 2474940877224741099u);
}

TEST(NcclNumbers, WithoutAVersionTheNewestIsAssumed) {
  EXPECT_EQ(nccl_number(id_of(7).data(), 0), 2474940877224741099u);
}

TEST(NcclNumbers, OlderVersionsHashSignedBytes) {
  EXPECT_EQ(nccl_number(id_of(7).data(), 22501), 5202943284539706629u);
  uint64_t expected = 5381;
  for (size_t i = 0; i < kNcclUniqueIdBytes; ++i) expected = (expected * 33) ^ (~uint64_t{0} - 0x7f);  // -128
  EXPECT_EQ(nccl_number(id_of(0x80).data(), 22501), expected);
}

TEST(NcclNumbers, APartHasANumberOfItsParentItsSplitAndItsColor) {
  const uint64_t parent = 2474940877224741099u;
  EXPECT_EQ(nccl_number_of_split(parent, 1, 1), 3996404754080514783u);
  EXPECT_NE(nccl_number_of_split(parent, 1, 1), nccl_number_of_split(parent, 2, 1));
  EXPECT_NE(nccl_number_of_split(parent, 1, 1), nccl_number_of_split(parent, 1, 2));
}

}  // namespace
}  // namespace prof::preload
