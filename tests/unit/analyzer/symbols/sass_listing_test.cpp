// The text that nvdisasm prints becomes instructions by section and offset. nvdisasm is replaced by scripts, so the
// tests need no toolkit; kernels.sass is what nvdisasm 13.5 -c prints for kernels.cubin.
#include "analyzer/symbols/sass_listing.h"

#include "analyzer/symbols/cubin_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace prof::analyzer {
namespace {

namespace fs = std::filesystem;

std::string fixture(const std::string& name) {
  std::ifstream file(std::string(PROF_SOURCE_DIR) + "/tests/unit/analyzer/symbols/cubin_fixture/" + name,
                     std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class SassListingTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "sass_XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  void TearDown() override { fs::remove_all(folder_); }

  // A program that runs these lines of sh.
  std::string program(const std::string& lines) const {
    const std::string path = folder_ + "/nvdisasm";
    std::ofstream(path) << "#!/bin/sh\n" << lines;
    fs::permissions(path, fs::perms::owner_all);
    return path;
  }

  std::string folder_;
  const std::vector<uint8_t> bytes_ = {'c', 'u', 'b', 'i', 'n', '\n'};
};

TEST_F(SassListingTest, EveryInstructionOfEveryFunctionIsRead) {
  const std::vector<SassSection> sections = parse_sass_listing(fixture("kernels.sass"));
  ASSERT_EQ(sections.size(), 3u);
  const std::string cubin = fixture("kernels.cubin");
  std::string why;
  const auto file = CubinFile::from_memory({reinterpret_cast<const uint8_t*>(cubin.data()), cubin.size()}, why);
  ASSERT_NE(file, nullptr) << why;
  for (const CubinFunction& function : file->functions()) {
    if (function.offset != 0) continue;
    const auto found = std::find_if(sections.begin(), sections.end(), [&](const SassSection& section) {
      return section.name == file->section_name(function);
    });
    ASSERT_NE(found, sections.end()) << function.name;
    ASSERT_EQ(found->instructions.size(), function.bytes / 16) << function.name;
    for (size_t i = 0; i < found->instructions.size(); ++i) EXPECT_EQ(found->instructions[i].offset, i * 16);
  }
  EXPECT_EQ(sections[0].name, ".text.plain_kernel");
  EXPECT_EQ(sections[0].instructions[1].text, "S2R R5, SR_TID.X");
  EXPECT_EQ(sections[1].instructions[8].text, "@P0 BRA `(.L_x_2)");
  const auto label = [&](std::string_view name) {
    for (const auto& [each, offset] : sections[1].labels) {
      if (each == name) return offset;
    }
    return UINT64_MAX;
  };
  EXPECT_EQ(label(".L_x_2"), 0x230u);
  EXPECT_EQ(label("$__internal_0_$__cuda_sm20_sqrt_rn_f32_slowpath"), 0x280u);
  EXPECT_EQ(label(".L_x_14"), UINT64_MAX);  // the end of the section: no instruction is there
}

TEST_F(SassListingTest, LinesAboutASectionDoNotEndIt) {
  const std::vector<SassSection> sections = parse_sass_listing(
      "\t.section\t.text.k,\"ax\",@progbits\n\t.sectioninfo\t@\"SHI_REGISTERS=24\"\n\t.align\t128\n"
      "        /*0000*/                   EXIT ;\n\t.section\t.nv.info,\"\",@\"\"\n        /*0000*/ NOP ;\n");
  ASSERT_EQ(sections.size(), 1u);
  ASSERT_EQ(sections[0].instructions.size(), 1u);
  EXPECT_EQ(sections[0].instructions[0].text, "EXIT");
}

TEST_F(SassListingTest, WithoutNvdisasmTheReasonNamesIt) {
  const SassListing listing = disassemble(bytes_, "");
  EXPECT_TRUE(listing.sections.empty());
  EXPECT_EQ(listing.problem,
            "nvdisasm was not found in PATH, CUDA_HOME or /usr/local/cuda; it is part of the CUDA toolkit and of the "
            "Python package nvidia-cuda-nvdisasm");
}

TEST_F(SassListingTest, TheCubinIsPassedAsAFileAndFunctionsCanBeChosen) {
  const std::string script =
      "echo '.section .text.k,\"ax\",@progbits'\n"
      "echo \"/*0010*/ $1 $2 $3 $(cat \"$4\") ;\"\n";
  const SassListing listing = disassemble(bytes_, program(script), {7, 12});
  EXPECT_EQ(listing.problem, "");
  ASSERT_EQ(listing.sections.size(), 1u);
  EXPECT_EQ(listing.sections[0].name, ".text.k");
  ASSERT_EQ(listing.sections[0].instructions.size(), 1u);
  EXPECT_EQ(listing.sections[0].instructions[0].offset, 0x10u);
  EXPECT_EQ(listing.sections[0].instructions[0].text, "-c -fun 7,12 cubin");
}

TEST_F(SassListingTest, AFailureIsReportedWithItsReason) {
  const std::string path = program("echo 'nvdisasm fatal   : unknown architecture' >&2\nexit 1\n");
  EXPECT_EQ(disassemble(bytes_, path).problem, path + " failed: nvdisasm fatal   : unknown architecture");
  EXPECT_EQ(disassemble(bytes_, folder_ + "/none").problem,
            "cannot run " + folder_ + "/none: No such file or directory");
}

TEST_F(SassListingTest, ADisassemblerThatHangsOrPrintsWithoutEndIsEnded) {
  EXPECT_EQ(disassemble(bytes_, program("exec sleep 100\n"), {}, {0.2, 1000}).problem,
            "nvdisasm took more than 0.2 s and was ended");
  EXPECT_EQ(disassemble(bytes_, program("exec yes\n"), {}, {60, 1'000'000}).problem,
            "nvdisasm printed more than 1000000 bytes and was ended");
}

TEST_F(SassListingTest, ACubinThatIsTooLargeIsNotDisassembled) {
  EXPECT_EQ(disassemble(bytes_, program("exit 0\n"), {}, {60, 1000, 5}).problem,
            "the cubin has 6 bytes; more than 5 are not disassembled");
  EXPECT_EQ(disassemble(bytes_, program("exit 0\n"), {}, {60, 1000, 6}).problem, "");
}

TEST_F(SassListingTest, TheProgramIsSearchedInPathFirst) {
  const std::string path = program("");
  const char* const before = std::getenv("PATH");
  const std::string old = before == nullptr ? "" : before;
  setenv("PATH", ("/nowhere::" + folder_ + ":" + old).c_str(), 1);
  EXPECT_EQ(find_nvdisasm(), path);
  setenv("PATH", old.c_str(), 1);
}

}  // namespace
}  // namespace prof::analyzer
