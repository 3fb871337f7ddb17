// Unwind tables as compilers write them, byte by byte, and invalid tables. Whatever they contain, nothing outside of
// them is read and the result is a rule, Hard or Unknown.
#include "preload/stacks/cfi.h"
#include "preload/base/page_size.h"

#include <gtest/gtest.h>

#include <sys/mman.h>

#include <cstring>
#include <random>
#include <vector>

namespace prof::preload {
namespace {

// The numbers of registers in unwind tables.
#if defined(__aarch64__)
constexpr uint8_t kFp = 29, kSp = 31, kReturn = 30;
#else
constexpr uint8_t kFp = 6, kSp = 7, kReturn = 16;
#endif

// .eh_frame_hdr, one CIE and one FDE for the 256 bytes of "code" at `code()`, as the linker lays them out.
class Tables {
 public:
  explicit Tables(const std::vector<uint8_t>& instructions, const char* augmentation = "zR") {
    memory_ =
        static_cast<uint8_t*>(mmap(nullptr, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    std::vector<uint8_t> cie = {0, 0, 0, 0, 1};  // id, version
    for (const char* c = augmentation; *c != 0; ++c) cie.push_back(static_cast<uint8_t>(*c));
    cie.insert(cie.end(), {0, 1, 0x78, kReturn, 1, 0x1b});              // code 1, data -8; one byte: pcrel sdata4
    cie.insert(cie.end(), {0x0c, kSp, 8, 0x80 | kReturn, 1, 0, 0, 0});  // def_cfa sp+8; return address at cfa-8
    uint8_t* at = memory_ + kCie;
    put<uint32_t>(at, static_cast<uint32_t>(cie.size()));
    std::memcpy(at + 4, cie.data(), cie.size());
    at += 4 + cie.size();
    const auto fde = static_cast<int32_t>(at - header());
    put<uint32_t>(at, static_cast<uint32_t>(13 + instructions.size()));
    put<uint32_t>(at + 4, static_cast<uint32_t>(at + 4 - (memory_ + kCie)));
    put<int32_t>(at + 8, static_cast<int32_t>(code() - reinterpret_cast<uint64_t>(at + 8)));
    put<uint32_t>(at + 12, 256);
    at[16] = 0;
    if (!instructions.empty()) std::memcpy(at + 17, instructions.data(), instructions.size());
    const uint8_t head[4] = {1, 0x1b, 0x03, 0x3b};
    std::memcpy(header(), head, 4);
    put<int32_t>(header() + 4, kCie - 4);
    put<uint32_t>(header() + 8, 1);
    put<int32_t>(header() + 12, static_cast<int32_t>(code() - reinterpret_cast<uint64_t>(header())));
    put<int32_t>(header() + 16, fde);
    used_ = static_cast<size_t>(at + 17 + instructions.size() - memory_);
  }
  ~Tables() { munmap(memory_, 3 * 4096); }
  Tables(const Tables&) = delete;
  Tables& operator=(const Tables&) = delete;
  uint64_t code() const { return reinterpret_cast<uint64_t>(memory_) + 8192; }
  uint8_t* begin() { return memory_; }
  size_t used() const { return used_; }
  UnwindRule at(uint64_t offset) const {
    return unwind_entry_at({memory_, memory_ + used_, memory_}, code() + offset).rule;
  }

 private:
  static constexpr int32_t kCie = 32;
  uint8_t* header() { return memory_; }
  template <class T> static void put(uint8_t* to, T value) { std::memcpy(to, &value, sizeof value); }
  uint8_t* memory_;
  size_t used_ = 0;
};

#if defined(__x86_64__)

void expect_plain(UnwindRule rule, CfaBase base, int64_t cfa, FpRule fp_rule, int64_t fp) {
  ASSERT_EQ(rule.kind(), RuleKind::Plain);
  EXPECT_EQ(rule.base(), base);
  EXPECT_EQ(rule.cfa(), cfa);
  EXPECT_EQ(rule.fp_rule(), fp_rule);
  EXPECT_EQ(rule.fp(), fp);
  EXPECT_EQ(rule.ra(), -8);
}

TEST(Cfi, FollowsAPrologueInstructionByInstruction) {
  // push rbp at 1; mov rbp, rsp at 4; leave at 0x20
  const Tables tables({0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x5c, 0x0c, 7, 8});
  expect_plain(tables.at(0), CfaBase::Sp, 8, FpRule::Same, 0);
  expect_plain(tables.at(1), CfaBase::Sp, 16, FpRule::FromCfa, -16);
  expect_plain(tables.at(4), CfaBase::Fp, 16, FpRule::FromCfa, -16);
  expect_plain(tables.at(0x1f), CfaBase::Fp, 16, FpRule::FromCfa, -16);
  expect_plain(tables.at(0x20), CfaBase::Sp, 8, FpRule::FromCfa, -16);
  EXPECT_EQ(tables.at(256).kind(), RuleKind::Unknown);
  EXPECT_EQ(tables.at(static_cast<uint64_t>(-1)).kind(), RuleKind::Unknown);
}

TEST(Cfi, RemembersAndRestoresRows) {
  const Tables tables({0x0e, 32, 0x86, 2, 0x44, 0x0a, 0x0e, 8, 0xc6, 0x44, 0x0b});
  expect_plain(tables.at(0), CfaBase::Sp, 32, FpRule::FromCfa, -16);
  expect_plain(tables.at(5), CfaBase::Sp, 8, FpRule::Same, 0);
  expect_plain(tables.at(8), CfaBase::Sp, 32, FpRule::FromCfa, -16);
}

TEST(Cfi, KnowsTheExpressionsInUse) {
  // A realigned stack: the CFA is the word at rbp-8; rbp is saved at rbp+0.
  const Tables realigned({0x0f, 3, 0x76, 0x78, 0x06, 0x10, 6, 2, 0x76, 0});
  expect_plain(realigned.at(0), CfaBase::AtFp, -8, FpRule::FromFp, 0);
  // The PLT: rsp + 8, and 8 more after the push at byte 11 of 16.
  const Tables plt({0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22});
  expect_plain(plt.at(10), CfaBase::Sp, 8, FpRule::Same, 0);
  expect_plain(plt.at(11), CfaBase::Sp, 16, FpRule::Same, 0);
  expect_plain(plt.at(16), CfaBase::Sp, 8, FpRule::Same, 0);
}

TEST(Cfi, TellsWhatItCannotSay) {
  EXPECT_EQ(Tables({0x07, 16}).at(0).kind(), RuleKind::Outermost);  // undefined rip
  EXPECT_EQ(Tables({}, "zRS").at(0).kind(), RuleKind::Signal);
  EXPECT_EQ(Tables({0x0c, 10, 0}).at(0).kind(), RuleKind::Hard);                   // CFA from r10
  EXPECT_EQ(Tables({0x0f, 2, 0x73, 0}).at(0).kind(), RuleKind::Hard);              // from rbx
  EXPECT_EQ(Tables({0x09, 16, 0}).at(0).kind(), RuleKind::Hard);                   // rip in rax
  EXPECT_EQ(Tables({0x0e, 0x80, 0x80, 0x80, 0x10}).at(0).kind(), RuleKind::Hard);  // a frame of 32 MiB
  EXPECT_EQ(Tables({0x3f}).at(0).kind(), RuleKind::Hard);                          // no instruction
  // nothing was saved by remember_state
  EXPECT_EQ(Tables({0x0b}).at(0).kind(), RuleKind::Hard);
}

#endif

// The page after the tables cannot be read: an access beyond them would end the test.
TEST(Cfi, DamagedTablesAreReadNoFurtherThanTheyGo) {
  std::mt19937_64 random(20261122);
  const size_t page = page_size();
  auto* const pages =
      static_cast<uint8_t*>(mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_EQ(mprotect(pages + page, page, PROT_NONE), 0);
  Tables tables({0x41, 0x0e, 16,   0x80 | kFp, 2,    0x43, 0x0d, kFp, 0x0f,       3, 0x70 + kFp,
                 0x78, 0x06, 0x5c, 0x0a,       0x0b, 0x10, kFp,  2,   0x70 + kFp, 0});
  int rules[6] = {};
  for (int round = 0; round < 200'000; ++round) {
    const size_t size = 1 + random() % tables.used();
    uint8_t* const begin = pages + page - size;
    std::memcpy(begin, tables.begin(), size);
    for (uint64_t n = random() % 4; n != 0; --n) begin[random() % size] = static_cast<uint8_t>(random());
    const UnwindRule rule =
        unwind_entry_at({begin, begin + size, begin}, reinterpret_cast<uint64_t>(begin) + 8192 + random() % 300).rule;
    ++rules[static_cast<size_t>(rule.kind())];
  }
  munmap(pages, 2 * page);
  EXPECT_GT(rules[static_cast<size_t>(RuleKind::Plain)], 0);
  EXPECT_GT(rules[static_cast<size_t>(RuleKind::Hard)], 0);
  EXPECT_GT(rules[static_cast<size_t>(RuleKind::Unknown)], 0);
}

}  // namespace
}  // namespace prof::preload
