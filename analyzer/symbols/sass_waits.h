// Offline. Which instruction does a stalled one wait for? An instruction that needs the result of a load waits for a
// scoreboard, and a sampler only sees the instruction that waits. The answer is a backward slice over the listing of
// one function: from the registers that the instruction reads or overwrites to the instructions that wrote them last,
// along all paths that lead to it.
//
//   LDG R4, [R2]  <-----------------+   the answer
//   IADD3 R8, R8, 1                 |   writes no register of the FFMA
//   @P0 BRA .L_x_1 ...              |   both sides are followed
//   FFMA R6, R4, R5, R6  stalled ---+
//
// A warp that waits at a barrier, at a memory fence or for a branch is sampled at an instruction that follows, not at
// the barrier itself (measured, an H200). Then the answer is the last barrier, fence or branch on each path.
//
// Where the machine code is known, the numbers of scoreboards in it (format of sm_70 and later) select the candidates.
#pragma once

#include "analyzer/symbols/sass_listing.h"
#include "analyzer/symbols/sass_operation.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace prof::analyzer {

// The scoreboards of an instruction, from its machine code. 7: none.
struct SassBarriers {
  uint8_t waits = 0;             // bit n: it waits for scoreboard n, 0 to 5
  uint8_t result = 7, read = 7;  // the scoreboards that show: its result is written; its operands are read
};

// Of the 16 bytes of an instruction.
SassBarriers sass_barriers(std::span<const uint8_t, 16> code);

struct SassWait {
  std::vector<uint32_t> producers;  // numbers of instructions, in order; empty: none was found
  bool overwrites = false;          // the instruction overwrites operands that these still have to read
  bool cut = false;                 // not all paths were followed: the function is too large
};

class SassWaits {
 public:
  // The instructions and labels of one function. `code`: the machine code that offset 0 is the start of; empty: not
  // known. All arguments must outlive the object.
  SassWaits(std::span<const SassInstruction> instructions, std::span<const std::pair<std::string, uint64_t>> labels,
            std::span<const uint8_t> code = {});

  // What the instruction at an offset waits for, if it stalls for that reason. Without a producer of that scoreboard,
  // the answer has those of the other one. O(registers × instructions).
  SassWait at(uint64_t offset, SassStall stall) const;
  const SassOperation& operation(uint32_t instruction) const { return operations_[instruction]; }
  size_t size() const { return operations_.size(); }

 private:
  enum class Seek : uint8_t { Writers, Readers };
  void link();
  std::optional<uint32_t> find(uint64_t offset) const;
  bool seek(uint32_t from, SassRegister wanted, Seek what, std::vector<uint32_t>& found) const;
  void seek_copies(uint32_t from, uint64_t left, std::vector<uint32_t>& found) const;
  template <class Visit> void walk_back(uint32_t from, Visit&& visit) const;
  void seek_last(uint32_t from, SassStall stall, std::vector<uint32_t>& found) const;
  void seek_barrier(uint32_t from, unsigned barrier, std::vector<uint32_t>& found) const;
  void reduce(const SassBarriers& of, bool readers, std::vector<uint32_t>& found) const;
  std::span<const uint32_t> before(uint32_t instruction) const {
    return {before_.data() + first_before_[instruction], first_before_[instruction + 1] - first_before_[instruction]};
  }

  std::span<const SassInstruction> instructions_;
  std::span<const std::pair<std::string, uint64_t>> labels_;
  std::vector<SassOperation> operations_;
  std::vector<SassBarriers> barriers_;           // empty: not known
  std::vector<uint32_t> before_, first_before_;  // instructions that may be executed directly before each
  std::vector<bool> after_unknown_;              // code that is not in the listing is executed directly before
};

}  // namespace prof::analyzer
