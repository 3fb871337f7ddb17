// Which instruction does a stalled one wait for? Listings written by hand, and the listing of the cubin fixture, whose
// machine code confirms the answers: it has the scoreboards that the compiler chose.
#include "analyzer/symbols/sass_waits.h"
#include "analyzer/symbols/cubin_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <string>

namespace prof::analyzer {
namespace {

constexpr SassStall kLong = SassStall::Long, kShort = SassStall::Short;

// A listing of one function. A line that ends with ':' is a label.
class Listing {
 public:
  Listing(std::initializer_list<std::string_view> lines) {
    std::string text = ".section .text.k,\"ax\",@progbits\n";
    unsigned offset = 0;
    for (const std::string_view line : lines) {
      if (line.ends_with(':')) {
        text += fmt::format("{}\n", line);
        continue;
      }
      text += fmt::format("        /*{:04x}*/  {} ;\n", offset, line);
      offset += 16;
    }
    section_ = parse_sass_listing(text).at(0);
  }

  // The texts of what the only instruction with this text waits for, joined by " | ".
  std::string waits(std::string_view stalled, SassStall stall = kLong) const {
    const SassWaits waits(section_.instructions, section_.labels);
    std::string texts;
    for (const SassInstruction& each : section_.instructions) {
      if (each.text != stalled) continue;
      const SassWait found = waits.at(each.offset, stall);
      if (found.overwrites) texts += "overwrites: ";
      for (const uint32_t producer : found.producers)
        texts += fmt::format("{}{}", producer == found.producers[0] ? "" : " | ", section_.instructions[producer].text);
    }
    return texts;
  }

 private:
  SassSection section_;
};

// As an H200 samples it: the warps that wait at __syncthreads() are at the branch after it.
TEST(SassWaits, NameTheLastBarrierOnEachPathForWarpsThatWaitAtABarrier) {
  const Listing code = {"@P1 BRA `(.L_1)",
                        "BAR.SYNC.DEFER_BLOCKING 0x0",
                        "BRA `(.L_2)",
                        ".L_1:",
                        "BAR.SYNC.DEFER_BLOCKING 0x1",
                        ".L_2:",
                        "ISETP.LE.AND P0, PT, R2, UR4, PT",
                        "@!P0 BRA `(.L_1)",
                        "BAR.SYNC 0x2",
                        "FADD R1, R1, R1",
                        "EXIT"};
  EXPECT_EQ(code.waits("@!P0 BRA `(.L_1)", SassStall::Barrier),
            "BAR.SYNC.DEFER_BLOCKING 0x0 | BAR.SYNC.DEFER_BLOCKING 0x1");
  EXPECT_EQ(code.waits("FADD R1, R1, R1", SassStall::Barrier), "BAR.SYNC 0x2");
  EXPECT_EQ(code.waits("@P1 BRA `(.L_1)", SassStall::Barrier), "");
  EXPECT_EQ(code.waits("@!P0 BRA `(.L_1)", kLong), "") << "a barrier is no load";
}

TEST(SassWaits, NameTheBranchesThatLeadDirectlyToAnInstructionForWarpsThatWaitForABranch) {
  const Listing code = {"IMAD.MOV.U32 R0, RZ, RZ, RZ",
                        ".L_3:",
                        "VIADD R0, R0, 0x1",
                        "FFMA R5, R5, R5, 0.5",
                        "@P0 BRA `(.L_3)",
                        "IADD3 R7, R7, 1",
                        "EXIT"};
  EXPECT_EQ(code.waits("VIADD R0, R0, 0x1", SassStall::Branch), "@P0 BRA `(.L_3)");
  EXPECT_EQ(code.waits("IADD3 R7, R7, 1", SassStall::Branch), "@P0 BRA `(.L_3)");
  EXPECT_EQ(code.waits("FFMA R5, R5, R5, 0.5", SassStall::Branch), "");
}

// CUPTI calls the wait of WARPGROUP.DEPBAR a barrier (measured, an H200).
TEST(SassWaits, NameTheMatrixOperationThatAWarpgroupWaitsFor) {
  const Listing code = {"BAR.SYNC 0x0, 0x80",
                        "WARPGROUP.ARRIVE",
                        "HGMMA.64x128x16.F32 R24, gdesc[UR16].tnspA, R24, !UP1",
                        "HGMMA.64x128x16.F32 R24, gdesc[UR20].tnspA, R24, gsb0",
                        "WARPGROUP.DEPBAR.LE gsb0, 0x0",
                        "FADD R1, R1, R1",
                        "EXIT"};
  EXPECT_EQ(code.waits("WARPGROUP.DEPBAR.LE gsb0, 0x0", SassStall::Barrier),
            "HGMMA.64x128x16.F32 R24, gdesc[UR20].tnspA, R24, gsb0");
  EXPECT_EQ(code.waits("FADD R1, R1, R1", SassStall::Barrier), "BAR.SYNC 0x0, 0x80");
}

TEST(SassWaits, NameTheFenceForWarpsThatWaitAtAMemoryFence) {
  const Listing code = {"STG.E desc[UR4][R2.64], R5", "MEMBAR.SC.GPU", "ERRBAR", "CCTL.IVALL", "EXIT"};
  EXPECT_EQ(code.waits("ERRBAR", SassStall::Fence), "MEMBAR.SC.GPU");
}

TEST(SassWaits, NameTheLoadOfARegisterThatTheInstructionReads) {
  const Listing code = {"LDG.E R4, desc[UR4][R2.64]", "LDG.E R5, desc[UR4][R2.64+0x4]", "IADD3 R8, R8, 0x1, RZ",
                        "FFMA R6, R4, R6, 1", "EXIT"};
  EXPECT_EQ(code.waits("FFMA R6, R4, R6, 1"), "LDG.E R4, desc[UR4][R2.64]");
  EXPECT_EQ(code.waits("IADD3 R8, R8, 0x1, RZ"), "");
}

TEST(SassWaits, NameBothLoadsOfARegisterWhereTwoBranchesJoin) {
  const Listing code = {"@P0 BRA `(.L_x_1)",
                        "LDG.E R4, desc[UR4][R2.64]",
                        "BRA `(.L_x_2)",
                        ".L_x_1:",
                        "LDG.E R4, desc[UR4][R6.64]",
                        ".L_x_2:",
                        "FADD R5, R4, 1",
                        "EXIT"};
  EXPECT_EQ(code.waits("FADD R5, R4, 1"), "LDG.E R4, desc[UR4][R2.64] | LDG.E R4, desc[UR4][R6.64]");
}

TEST(SassWaits, DoNotNameALoadOnAPathThatDoesNotLeadThere) {
  const Listing code = {"@P0 BRA `(.L_x_1)",
                        "LDG.E R4, desc[UR4][R2.64]",
                        "STG.E desc[UR4][R2.64], R4",
                        "EXIT",
                        ".L_x_1:",
                        "MOV R4, 0x1",
                        "FADD R5, R4, 1",
                        "EXIT"};
  EXPECT_EQ(code.waits("FADD R5, R4, 1"), "");
}

TEST(SassWaits, DoNotNameALoadWhoseRegisterIsRedefinedInBetween) {
  const Listing code = {"LDG.E R4, desc[UR4][R2.64]", "MOV R4, 0x1", "FADD R5, R4, 1", "EXIT"};
  EXPECT_EQ(code.waits("FADD R5, R4, 1"), "");
  EXPECT_EQ(code.waits("MOV R4, 0x1"), "LDG.E R4, desc[UR4][R2.64]");  // it must not be overtaken by the load
}

TEST(SassWaits, DoNotNameALoadForWhichAnotherInstructionHasWaited) {
  const Listing code = {"LDG.E R4, desc[UR4][R2.64]", "FADD R6, R4, 2", "FADD R5, R4, 1",
                        "@P0 FADD R8, R9, R10",       "MOV R4, 0x1",    "EXIT"};
  EXPECT_EQ(code.waits("FADD R6, R4, 2"), "LDG.E R4, desc[UR4][R2.64]");
  EXPECT_EQ(code.waits("FADD R5, R4, 1"), "");
  EXPECT_EQ(code.waits("MOV R4, 0x1"), "");
  const Listing branch = {
      "LDG.E R4, desc[UR4][R2.64]", "@P0 BRA `(.L_x_1)", "FADD R6, R4, 2", ".L_x_1:", "FADD R5, R4, 1", "EXIT"};
  EXPECT_EQ(branch.waits("FADD R5, R4, 1"), "LDG.E R4, desc[UR4][R2.64]");  // along the other path it has not
}

TEST(SassWaits, NameALoadThatAPredicatedMoveRedefinesOnlySometimes) {
  const Listing code = {"LDG.E R4, desc[UR4][R2.64]", "@P0 MOV R4, 0x1", "FADD R5, R4, 1", "EXIT"};
  EXPECT_EQ(code.waits("FADD R5, R4, 1"), "LDG.E R4, desc[UR4][R2.64]");
}

TEST(SassWaits, KnowThatOppositePredicatesDoNotMeet) {
  const Listing both = {"LDG.E R4, desc[UR4][R8.64]", "@P0 LDG.E R4, desc[UR4][R2.64]",
                        "@!P0 LDG.E R4, desc[UR4][R6.64]", "FADD R5, R4, 1", "EXIT"};
  EXPECT_EQ(both.waits("FADD R5, R4, 1"), "@P0 LDG.E R4, desc[UR4][R2.64] | @!P0 LDG.E R4, desc[UR4][R6.64]");
  const Listing one = {"@!P0 LDG.E R4, desc[UR4][R6.64]", "@P0 FADD R5, R4, 1", "EXIT"};
  EXPECT_EQ(one.waits("@P0 FADD R5, R4, 1"), "");
  const Listing written = {"@!P0 LDG.E R4, desc[UR4][R6.64]", "ISETP.GE.AND P0, PT, R7, 0x4, PT", "@P0 FADD R5, R4, 1",
                           "EXIT"};
  EXPECT_EQ(written.waits("@P0 FADD R5, R4, 1"), "@!P0 LDG.E R4, desc[UR4][R6.64]");
}

TEST(SassWaits, FollowPredicatesThatASlowInstructionWrites) {
  const Listing code = {"SHFL.UP P0, R9, R0, 0x1, RZ",
                        "ISETP.NE.AND P1, PT, R3, RZ, PT",
                        "@P0 BRA `(.L_x_1)",
                        "@P1 BRA `(.L_x_1)",
                        ".L_x_1:",
                        "EXIT"};
  EXPECT_EQ(code.waits("@P0 BRA `(.L_x_1)", kShort), "SHFL.UP P0, R9, R0, 0x1, RZ");
  EXPECT_EQ(code.waits("@P1 BRA `(.L_x_1)", kShort), "");
  const Listing check = {".L_x_1:", "SYNCS.PHASECHK.TRANS64.TRYWAIT P2, [R4+URZ], R5", "@!P2 BRA `(.L_x_1)", "EXIT"};
  EXPECT_EQ(check.waits("@!P2 BRA `(.L_x_1)"), "SYNCS.PHASECHK.TRANS64.TRYWAIT P2, [R4+URZ], R5");
}

TEST(SassWaits, NameALoadOfTheRoundBefore) {
  const Listing code = {
      "MOV R4, RZ",        ".L_x_1:", "FADD R5, R4, R5", "LDG.E R4, desc[UR4][R2.64]", "IADD3 R2, P1, R2, 0x4, RZ",
      "@P0 BRA `(.L_x_1)", "EXIT"};
  EXPECT_EQ(code.waits("FADD R5, R4, R5"), "LDG.E R4, desc[UR4][R2.64]");
  const Listing chain = {".L_x_1:", "LDG.E.64 R2, desc[UR4][R2.64]", "@P0 BRA `(.L_x_1)", "EXIT"};
  EXPECT_EQ(chain.waits("LDG.E.64 R2, desc[UR4][R2.64]"), "LDG.E.64 R2, desc[UR4][R2.64]");
}

TEST(SassWaits, KnowThatWideLoadsWriteSeveralRegisters) {
  const Listing code = {"LDG.E.128 R4, desc[UR4][R2.64]",
                        "LDG.E.64 R8, desc[UR4][R2.64+0x10]",
                        "FADD R20, R7, 1",
                        "FADD R21, R9, 1",
                        "FADD R22, R10, 1",
                        "EXIT"};
  EXPECT_EQ(code.waits("FADD R20, R7, 1"), "LDG.E.128 R4, desc[UR4][R2.64]");
  EXPECT_EQ(code.waits("FADD R21, R9, 1"), "LDG.E.64 R8, desc[UR4][R2.64+0x10]");
  EXPECT_EQ(code.waits("FADD R22, R10, 1"), "");
  const Listing partly = {"LDG.E.128 R4, desc[UR4][R2.64]", "LDG.E R6, desc[UR4][R2.64]",
                          "STG.E.128 desc[UR4][R2.64], R4", "EXIT"};
  EXPECT_EQ(partly.waits("STG.E.128 desc[UR4][R2.64], R4"),
            "LDG.E.128 R4, desc[UR4][R2.64] | LDG.E R6, desc[UR4][R2.64]");
}

TEST(SassWaits, KnowWhichOperandsHaveTwoRegisters) {
  const Listing address = {"LDG.E R3, desc[UR4][R8.64]", "LDG.E R0, desc[UR4][R2.64]", "EXIT"};
  EXPECT_EQ(address.waits("LDG.E R0, desc[UR4][R2.64]"), "LDG.E R3, desc[UR4][R8.64]");
  const Listing wide = {"LDG.E R3, desc[UR4][R8.64]", "LDG.E R6, desc[UR4][R8.64]", "IMAD.WIDE R4, R5, 0x4, R2",
                        "EXIT"};
  EXPECT_EQ(wide.waits("IMAD.WIDE R4, R5, 0x4, R2"), "LDG.E R3, desc[UR4][R8.64]");
  const Listing doubles = {"LDG.E R3, desc[UR4][R8.64]", "DFMA R12, R10, R10, R2", "EXIT"};
  EXPECT_EQ(doubles.waits("DFMA R12, R10, R10, R2"), "LDG.E R3, desc[UR4][R8.64]");
  const Listing matrix = {"LDSM.16.M88.4 R8, [R40]", "LDSM.16.M88.2 R12, [R41]", "HMMA.16816.F32 R4, R8, R12, R4",
                          "EXIT"};
  EXPECT_EQ(matrix.waits("HMMA.16816.F32 R4, R8, R12, R4", kShort),
            "LDSM.16.M88.4 R8, [R40] | LDSM.16.M88.2 R12, [R41]");
}

TEST(SassWaits, FollowUniformRegisters) {
  const Listing code = {"S2UR UR4, SR_CTAID.X", "LDCU.64 UR6, c[0x0][0x358]", "MOV R4, UR5",
                        "IMAD R0, R3, UR4, R2", "LDG.E R8, desc[UR6][R2.64]", "EXIT"};
  EXPECT_EQ(code.waits("IMAD R0, R3, UR4, R2", kShort), "S2UR UR4, SR_CTAID.X");
  EXPECT_EQ(code.waits("LDG.E R8, desc[UR6][R2.64]", kShort), "LDCU.64 UR6, c[0x0][0x358]");
  EXPECT_EQ(code.waits("MOV R4, UR5", kShort), "");  // R4 and UR4 are different registers
}

TEST(SassWaits, PreferTheScoreboardOfTheReason) {
  const Listing code = {"LDS R4, [R2]", "LDG.E R5, desc[UR4][R2.64]", "FADD R6, R4, R5", "EXIT"};
  EXPECT_EQ(code.waits("FADD R6, R4, R5", kLong), "LDG.E R5, desc[UR4][R2.64]");
  EXPECT_EQ(code.waits("FADD R6, R4, R5", kShort), "LDS R4, [R2]");
}

TEST(SassWaits, NameTheGroupOfAsynchronousCopies) {
  const Listing code = {"LDGSTS.E.BYPASS.128 [R13], desc[UR6][R2.64]",
                        "LDGDEPBAR",
                        "LDGSTS.E.BYPASS.128 [R15], desc[UR6][R28.64]",
                        "LDGDEPBAR",
                        "DEPBAR.LE SB0, 0x1",
                        "DEPBAR.LE SB0, 0x0",
                        "EXIT"};
  EXPECT_EQ(code.waits("DEPBAR.LE SB0, 0x1"), "LDGSTS.E.BYPASS.128 [R13], desc[UR6][R2.64]");
  EXPECT_EQ(code.waits("DEPBAR.LE SB0, 0x0"), "LDGSTS.E.BYPASS.128 [R15], desc[UR6][R28.64]");
}

TEST(SassWaits, NameTheStoreWhoseOperandIsOverwritten) {
  const Listing code = {"STG.E desc[UR4][R2.64], R5", "MOV R5, 0x1", "EXIT"};
  EXPECT_EQ(code.waits("MOV R5, 0x1"), "overwrites: STG.E desc[UR4][R2.64], R5");
}

TEST(SassWaits, FollowCallsAndReturns) {
  const Listing code = {"LDG.E R4, desc[UR4][R2.64]",
                        "MOV R20, 0x40",
                        "CALL.REL.NOINC `($helper)",
                        "FADD R5, R4, 1",
                        "FADD R6, R7, 1",
                        "EXIT",
                        "$helper:",
                        "LDG.E R7, desc[UR4][R8.64]",
                        "RET.REL.NODEC R20 `(k)"};
  EXPECT_EQ(code.waits("FADD R5, R4, 1"), "LDG.E R4, desc[UR4][R2.64]");
  EXPECT_EQ(code.waits("FADD R6, R7, 1"), "LDG.E R7, desc[UR4][R8.64]");
  const Listing elsewhere = {"LDG.E R4, desc[UR4][R2.64]", "CALL.ABS.NOINC R6", "FADD R5, R4, 1", "EXIT"};
  EXPECT_EQ(elsewhere.waits("FADD R5, R4, 1"), "");  // the called code may have written R4
}

TEST(SassWaits, FollowTablesOfJumpsAndMeetingPlaces) {
  const Listing table = {"LDG.E R4, desc[UR4][R2.64]",
                         "BRX R6 -0x20   (*\"BRANCH_TARGETS .L_x_1,.L_x_2\"*)",
                         ".L_x_1:",
                         "MOV R4, 0x1",
                         ".L_x_2:",
                         "FADD R5, R4, 1",
                         "EXIT",
                         ".L_x_3:",
                         "FADD R7, R4, 1",
                         "EXIT"};
  EXPECT_EQ(table.waits("FADD R5, R4, 1"), "LDG.E R4, desc[UR4][R2.64]");
  EXPECT_EQ(table.waits("FADD R7, R4, 1"), "");
  const Listing meeting = {"BSSY B0, `(.L_x_1)",
                           "LDG.E R4, desc[UR4][R2.64]",
                           "BSYNC B0",
                           "MOV R4, 0x1",
                           "EXIT",
                           ".L_x_1:",
                           "FADD R5, R4, 1",
                           "EXIT"};
  EXPECT_EQ(meeting.waits("FADD R5, R4, 1"), "LDG.E R4, desc[UR4][R2.64]");
}

class SassWaitsOfFixture : public testing::Test {
 protected:
  SassWaitsOfFixture() {
    listing_ = parse_sass_listing(file("kernels.sass"));
    bytes_ = file("kernels.cubin");
    std::string why;
    cubin_ = CubinFile::from_memory({reinterpret_cast<const uint8_t*>(bytes_.data()), bytes_.size()}, why);
  }
  static std::string file(const std::string& name) {
    std::ifstream in(PROF_SOURCE_DIR "/tests/unit/analyzer/symbols/cubin_fixture/" + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  const SassSection& section(std::string_view name) const {
    return *std::find_if(listing_.begin(), listing_.end(), [&](const SassSection& each) { return each.name == name; });
  }
  std::span<const uint8_t> code(std::string_view function) const { return cubin_->code(*cubin_->find(function)); }

  std::vector<SassSection> listing_;
  std::string bytes_;
  std::unique_ptr<CubinFile> cubin_;
};

TEST_F(SassWaitsOfFixture, TheLoadsOfBothKernelsAreFound) {
  const SassSection& sum = section(".text._Z10sum_kernelPKfPfi");
  const SassWaits of_sum(sum.instructions, sum.labels);
  EXPECT_EQ(of_sum.at(0x120, kLong).producers, std::vector<uint32_t>{0xe});       // FFMA R10, R0, R0, 1.5: LDG.E R0
  EXPECT_EQ(of_sum.at(0x60, kShort).producers, std::vector<uint32_t>{0x1});       // ISETP … R5, UR4: S2R R5
  EXPECT_TRUE(of_sum.at(0x1b0, kLong).producers == std::vector<uint32_t>{0x13});  // FMUL.FTZ R7, R10, R9: MUFU.RSQ R9
  EXPECT_TRUE(of_sum.at(0x5, kLong).producers.empty());                           // no instruction is there
  const SassSection& scale = section(".text._Z12scale_kernelPffi");
  const SassWaits of_scale(scale.instructions, scale.labels);
  EXPECT_EQ(of_scale.at(0xd0, kLong).producers, std::vector<uint32_t>{0xc});
  EXPECT_EQ(of_scale.at(0x40, kShort).producers, (std::vector<uint32_t>{0x1, 0x2, 0x3}));  // S2R, S2UR, LDC
}

// Each instruction that the compiler lets wait for a scoreboard waits for what the slice finds: the listing alone leads
// to an instruction that sets one of these scoreboards.
TEST_F(SassWaitsOfFixture, TheScoreboardsOfTheMachineCodeConfirmTheSlice) {
  unsigned waiting = 0, confirmed = 0;
  for (const CubinFunction& function : cubin_->functions()) {
    if (function.offset != 0) continue;
    const SassSection& of = section(cubin_->section_name(function));
    const SassWaits waits(of.instructions, of.labels);
    const std::span<const uint8_t> bytes = cubin_->code(function);
    const auto barriers = [&](uint64_t offset) { return sass_barriers(bytes.subspan(offset).first<16>()); };
    for (const SassInstruction& each : of.instructions) {
      const uint8_t mask = barriers(each.offset).waits;
      if (mask == 0 || each.text.starts_with("CALL")) continue;  // a call waits for all that its callee may need
      ++waiting;
      bool found = false;
      for (const SassStall scoreboard : {kLong, kShort}) {
        for (const uint32_t producer : waits.at(each.offset, scoreboard).producers)
          found = found || (mask >> barriers(of.instructions[producer].offset).result & 1) != 0;
      }
      EXPECT_TRUE(found) << of.name << " " << each.offset << " " << each.text;
      confirmed += found ? 1 : 0;
    }
  }
  EXPECT_EQ(confirmed, waiting);
  EXPECT_GE(waiting, 10u);
}

TEST_F(SassWaitsOfFixture, WithTheMachineCodeOnlyLoadsOfAwaitedScoreboardsAreNamed) {
  // A call waits for scoreboards without reading a register of theirs.
  const SassSection& sum = section(".text._Z10sum_kernelPKfPfi");
  const SassWaits plain(sum.instructions, sum.labels);
  const SassWaits exact(sum.instructions, sum.labels, code("_Z10sum_kernelPKfPfi"));
  EXPECT_TRUE(plain.at(0x180, kShort).producers.empty());
  EXPECT_FALSE(exact.at(0x180, kShort).producers.empty());
}

TEST(SassWaits, ReadScoreboardsOfMachineCode) {
  // LDG.E R0, desc[UR4][R2.64] of the fixture: sets scoreboard 2 and waits for none.
  const uint64_t words[2] = {0x0000000402007981, 0x000ea2000c1e1900};
  SassBarriers of = sass_barriers(std::span<const uint8_t, 16>(reinterpret_cast<const uint8_t*>(words), 16));
  EXPECT_EQ(of.waits, 0);
  EXPECT_EQ(of.result, 2);
  EXPECT_EQ(of.read, 7);
}

TEST(SassWaits, TextsWithoutMeaningHaveNoAnswer) {
  for (const std::string_view text :
       {"", "@", "@P0", "@!", "LDG", "LDG [", "`(", "BRA `(", "BRX (*\"", "]]]] R4", "FADD R999, R-1",
        "DEPBAR.LE SB0, 0xfffffffffffffffff", "LDG.E.128 R254, desc[UR4][R2.64]", "HGMMA.64x R4"}) {
    const SassOperation operation = parse_sass_operation(text);
    EXPECT_LE(operation.writes.size(), 128u) << text;
  }
  const std::vector<SassInstruction> code = {
      {0, "FADD R5, R4, 1"}, {0, "BRA `(.L)"}, {16, "DEPBAR.LE SB0, 0x7fffffff"}};
  const std::vector<std::pair<std::string, uint64_t>> labels = {{".L", 0}, {".L", 99}};
  const SassWaits waits(code, labels, {});
  for (const uint64_t offset : {0, 16, 99}) EXPECT_TRUE(waits.at(offset, kLong).producers.empty());
  EXPECT_TRUE(SassWaits({}, {}).at(0, kLong).producers.empty());
}

}  // namespace
}  // namespace prof::analyzer
