// Instructions of a cubin get the functions, inlined functions and lines that nvdisasm's listing shows for them.
// Cubins that are damaged, stripped or for another machine lose lines or names, with a reason, and nothing else.
// The cubin is made of the two sources beside it, in a folder /source, with nvcc 13.5:
//   nvcc -lineinfo -cubin -arch=sm_90 kernels.cu -o kernels.cubin
#include "analyzer/symbols/cubin_lines.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

namespace prof::analyzer {
namespace {

using Bytes = std::vector<uint8_t>;

Bytes fixture() {
  const std::string folder = std::string(PROF_SOURCE_DIR) + "/tests/unit/analyzer/symbols/cubin_fixture/";
  std::ifstream file(folder + "kernels.cubin", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

constexpr const char* kScale = "_Z12scale_kernelPffi";
constexpr const char* kSum = "_Z10sum_kernelPKfPfi";

Elf64_Ehdr elf_header(const Bytes& bytes) {
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof header);
  return header;
}

// Changes the header of a section.
template <class Change> void change_section(Bytes& bytes, const std::string& name, Change&& change) {
  const Elf64_Ehdr header = elf_header(bytes);
  const auto at = [&](uint64_t i) { return bytes.data() + header.e_shoff + i * sizeof(Elf64_Shdr); };
  Elf64_Shdr names, section;
  std::memcpy(&names, at(header.e_shstrndx), sizeof names);
  for (uint64_t i = 0; i < header.e_shnum; ++i) {
    std::memcpy(&section, at(i), sizeof section);
    if (name != reinterpret_cast<const char*>(bytes.data() + names.sh_offset + section.sh_name)) continue;
    change(section);
    std::memcpy(at(i), &section, sizeof section);
    return;
  }
  FAIL() << "no section " << name;
}

// Place and bytes of a section's content.
Elf64_Shdr section_of(Bytes bytes, const std::string& name) {
  Elf64_Shdr found{};
  change_section(bytes, name, [&](const Elf64_Shdr& section) { found = section; });
  return found;
}

std::string reason_of(const Bytes& bytes) {
  std::string why;
  return CubinFile::from_memory(bytes, why) == nullptr ? why : "no error";
}

// "function file:line" of each frame, innermost first, joined by " < "
std::string text_of(const CubinLines& lines, size_t pc, const StringTable& strings) {
  std::string text;
  for (const SymbolFrame& frame : lines.at(pc)) {
    if (!text.empty()) text += " < ";
    text += strings[frame.function];
    if (frame.line != 0) text.append(" ").append(strings[frame.file]).append(":") += std::to_string(frame.line);
  }
  return text;
}

struct Answer {
  std::vector<std::string> texts;  // of each offset
  std::string problem;
};

Answer answer_of(const Bytes& bytes, const char* function, const std::vector<uint64_t>& offsets) {
  std::string why;
  const auto cubin = CubinFile::from_memory(bytes, why);
  if (cubin == nullptr) return {{}, why};
  const CubinFunction* const found = cubin->find(function);
  if (found == nullptr) return {{}, "no function"};
  CubinRequest request{cubin.get(), {}};
  for (const uint64_t offset : offsets) request.pcs.push_back({found, offset});
  StringTable strings;
  const std::vector<CubinLines> lines = find_cubin_lines({&request, 1}, strings, {1, 20});
  Answer answer{{}, lines[0].problem};
  for (size_t i = 0; i < offsets.size(); ++i) answer.texts.push_back(text_of(lines[0], i, strings));
  return answer;
}

// From the listing of nvdisasm -gi -c: the frames of the instructions from one offset to the next row's.
struct Row {
  uint64_t from;
  const char* frames;
};

void expect_listing(const Bytes& bytes, const char* function, const std::vector<Row>& rows, uint64_t end) {
  std::vector<uint64_t> offsets;
  std::vector<std::string> expected;
  for (size_t i = 0; i < rows.size(); ++i) {
    for (uint64_t at = rows[i].from; at < (i + 1 < rows.size() ? rows[i + 1].from : end); at += 16) {
      offsets.push_back(at);
      expected.emplace_back(rows[i].frames);
    }
  }
  const Answer answer = answer_of(bytes, function, offsets);
  EXPECT_EQ(answer.problem, "");
  EXPECT_EQ(answer.texts, expected);
}

#define SCALE "_Z12scale_kernelPffi /source/kernels.cu:"
#define SUM "_Z10sum_kernelPKfPfi /source/kernels.cu:"
#define ROOTED "_Z6rootedf /source/device.cuh:13 < " SUM "12"
const std::vector<Row> kScaleRows = {
    {0x000, SCALE "3"},
    {0x010, SCALE "4"},
    {0x050, SCALE "5"},
    {0x0a0, "_Z6scaledff /source/device.cuh:9 < " SCALE "5"},
    {0x0b0, SCALE "5"},
    {0x0d0, "_Z7squaredf /source/device.cuh:4 < _Z6scaledff /source/device.cuh:8 < " SCALE "5"},
    {0x0e0, "_Z6scaledff /source/device.cuh:9 < " SCALE "5"},
    {0x0f0, SCALE "5"},
    {0x100, SCALE "6"},
};

TEST(CubinLines, AgreeWithTheListingOfNvdisasmForThreeKernelsOfTwoFiles) {
  const Bytes bytes = fixture();
  expect_listing(bytes, kScale, kScaleRows, 0x200);
  expect_listing(bytes, kSum,
                 {{0x000, SUM "8"},
                  {0x010, SUM "11"},
                  {0x0e0, SUM "12"},
                  {0x0f0, SUM "11"},
                  {0x100, ROOTED},
                  {0x110, SUM "11"},
                  {0x120, "_Z7squaredf /source/device.cuh:4 < " ROOTED},
                  {0x130, ROOTED},
                  {0x200, SUM "12"},
                  {0x210, SUM "11"},
                  {0x240, SUM "14"},
                  {0x270, SUM "15"}},
                 0x280);
  expect_listing(bytes, "plain_kernel", {{0, "plain_kernel /source/kernels.cu:17"}}, 0x180);
}

TEST(CubinLines, AnInternalFunctionOfAKernelsSectionIsNamed) {
  const Answer answer = answer_of(fixture(), kSum, {0x280});
  EXPECT_EQ(answer.texts[0], "$__internal_0_$__cuda_sm20_sqrt_rn_f32_slowpath /source/kernels.cu:15");
}

TEST(CubinLines, OffsetsInAnyOrderAndRepeatedGetTheirAnswers) {
  const Answer answer = answer_of(fixture(), kScale, {0x100, 0x0, 0x100, 0x5000, 0x50});
  EXPECT_EQ(answer.texts, (std::vector<std::string>{SCALE "6", SCALE "3", SCALE "6", "", SCALE "5"}));
}

TEST(CubinLines, RelocationsOfOlderToolkitsWithoutAddendsAreApplied) {
  Bytes bytes = fixture();
  const Elf64_Shdr table = section_of(bytes, ".rela.debug_line");
  std::vector<Elf64_Rela> entries(table.sh_size / sizeof(Elf64_Rela));
  std::memcpy(entries.data(), bytes.data() + table.sh_offset, table.sh_size);
  std::reverse(entries.begin(), entries.end());  // they are unsorted
  for (size_t i = 0; i < entries.size(); ++i)
    std::memcpy(bytes.data() + table.sh_offset + i * sizeof(Elf64_Rel), &entries[i], sizeof(Elf64_Rel));
  change_section(bytes, ".rela.debug_line", [&](Elf64_Shdr& section) {
    section.sh_type = SHT_REL;
    section.sh_size = entries.size() * sizeof(Elf64_Rel);
  });
  expect_listing(bytes, kScale, kScaleRows, 0x200);
}

TEST(CubinFile, FunctionsAndArchitectureAreRead) {
  const Bytes bytes = fixture();
  std::string why;
  const auto cubin = CubinFile::from_memory(bytes, why);
  ASSERT_NE(cubin, nullptr) << why;
  EXPECT_EQ(cubin->architecture(), "sm_90");
  EXPECT_EQ(cubin->functions().size(), 4u);
  ASSERT_NE(cubin->find(kScale), nullptr);
  EXPECT_EQ(cubin->find(kScale)->bytes, 0x200u);
  EXPECT_EQ(cubin->section_name(*cubin->find(kScale)), ".text._Z12scale_kernelPffi");
  EXPECT_EQ(cubin->find("scale_kernel"), nullptr);
  EXPECT_EQ(sass_place(kScale, 0x1a0), "_Z12scale_kernelPffi+0x1a0");
}

TEST(CubinFile, TheArchitectureOfOlderToolkitsIsRead) {
  Bytes bytes = fixture();
  bytes[EI_ABIVERSION] = 7;
  Elf64_Ehdr header = elf_header(bytes);
  header.e_flags = 0x500550;  // of CUDA 12.4 for sm_80
  std::memcpy(bytes.data(), &header, sizeof header);
  std::string why;
  EXPECT_EQ(CubinFile::from_memory(bytes, why)->architecture(), "sm_80");
}

TEST(CubinFile, AnElfFileOfAnotherMachineIsRefused) {
  Bytes bytes = fixture();
  bytes[offsetof(Elf64_Ehdr, e_machine)] = EM_X86_64;
  EXPECT_EQ(reason_of(bytes), "no cubin: its ELF machine is 62, that of GPU code 190");
  EXPECT_EQ(reason_of({'P', 'T', 'X'}), "no ELF file");
}

TEST(CubinFile, AStrippedCubinHasNoFunctions) {
  Bytes bytes = fixture();
  change_section(bytes, ".symtab", [](Elf64_Shdr& section) { section.sh_type = SHT_PROGBITS; });
  EXPECT_EQ(reason_of(bytes), "it has no symbol table (stripped): its functions are unknown");
}

TEST(CubinFile, ATruncatedCubinSaysWhatIsMissing) {
  Bytes bytes = fixture();
  Bytes half(bytes.begin(), bytes.begin() + 4096);
  EXPECT_EQ(reason_of(half), "it has no readable table of sections: it is truncated or damaged");
  change_section(bytes, ".symtab", [](Elf64_Shdr& section) { section.sh_size = 500'000'000; });
  const std::string offset = std::to_string(section_of(bytes, ".symtab").sh_offset);
  EXPECT_EQ(reason_of(bytes), "section .symtab has 500000000 bytes at offset " + offset +
                                  ", more than the file: its functions are unknown; the file is truncated or damaged");
}

TEST(CubinLines, WithoutALineTableTheFunctionRemains) {
  Bytes bytes = fixture();
  change_section(bytes, ".debug_line", [](Elf64_Shdr& section) { section.sh_size = 0; });
  const Answer answer = answer_of(bytes, kScale, {0x50});
  EXPECT_EQ(answer.texts[0], kScale);
  EXPECT_EQ(answer.problem, "it has no line table; compile with -lineinfo to see source lines");
}

TEST(CubinLines, ALineTableThatDeclaresMoreThanTheFileCostsLinesOnly) {
  Bytes bytes = fixture();
  change_section(bytes, ".debug_line", [](Elf64_Shdr& section) { section.sh_size = 500'000'000; });
  const std::string offset = std::to_string(section_of(bytes, ".debug_line").sh_offset);
  const Answer answer = answer_of(bytes, kScale, {0x50});
  EXPECT_EQ(answer.texts[0], kScale);
  EXPECT_EQ(answer.problem, "section .debug_line has 500000000 bytes at offset " + offset +
                                ", more than the file: no source lines; the file is truncated or damaged");
}

TEST(CubinLines, AnEnormousLineTableIsNotRead) {
  Bytes bytes = fixture();
  const uint64_t end = bytes.size();
  bytes.resize(end + (size_t{40} << 20), 1);  // each byte is a row
  change_section(bytes, ".debug_line", [&](Elf64_Shdr& section) {
    section.sh_offset = end;
    section.sh_size = uint64_t{40} << 20;
  });
  const Answer answer = answer_of(bytes, kScale, {0x50});
  EXPECT_EQ(answer.texts[0], kScale);
  EXPECT_EQ(answer.problem, "its line table has 41943040 bytes, more than the 33554432 that are read: no source lines");
}

TEST(CubinLines, RelocationsThatLeadNowhereAreCounted) {
  Bytes bytes = fixture();
  const Elf64_Shdr table = section_of(bytes, ".rela.debug_line");
  for (uint64_t i = 0; i < table.sh_size / sizeof(Elf64_Rela); ++i) {
    Elf64_Rela entry;
    uint8_t* const at = bytes.data() + table.sh_offset + i * sizeof entry;
    std::memcpy(&entry, at, sizeof entry);
    if (i == 0) entry.r_offset = UINT64_MAX - 3;
    if (i == 1) entry.r_addend = 1 << 30;
    std::memcpy(at, &entry, sizeof entry);
  }
  const Answer answer = answer_of(bytes, kScale, {0x50});
  EXPECT_EQ(answer.texts[0], SCALE "5");  // the third one
  EXPECT_EQ(answer.problem, "2 of 3 relocations of its line table lead to no function, which has no lines then");
  EXPECT_EQ(answer_of(bytes, kSum, {0x10}).texts[0], kSum);
}

TEST(CubinLines, ADamagedLineTableCostsLinesOnly) {
  Bytes bytes = fixture();
  const Elf64_Shdr table = section_of(bytes, ".debug_line");
  bytes[table.sh_offset + 4] = 99;  // its version
  const Answer answer = answer_of(bytes, kScale, {0x50});
  EXPECT_EQ(answer.texts[0], kScale);
  EXPECT_NE(answer.problem.find("its line table is damaged at byte 0 of .debug_line"), std::string::npos)
      << answer.problem;
}

TEST(CubinLines, RowsThatLeadToNoFileOrToNoCallHaveNoLineAndAReason) {
  const uint64_t table = section_of(fixture(), ".debug_line").sh_offset;
  Bytes no_file = fixture();
  ASSERT_EQ(no_file[table + 0xcc], 1);  // the file of the first row of scale_kernel
  no_file[table + 0xcc] = 0x7f;
  const Answer without_file = answer_of(no_file, kScale, {0x0, 0xb0});
  EXPECT_EQ(without_file.texts, (std::vector<std::string>{kScale, SCALE "5"}));
  EXPECT_EQ(without_file.problem, "1 rows of its line table lead to no file or to no call: damaged");
  for (const int row : {0x7f, 0x05, 0x0c}) {  // beyond the table, itself, a later one
    Bytes no_call = fixture();
    ASSERT_EQ(no_call[table + 0xe1], 4);  // the call of the row of offset 0xa0
    no_call[table + 0xe1] = static_cast<uint8_t>(row);
    const Answer without_call = answer_of(no_call, kScale, {0xa0, 0xb0});
    EXPECT_EQ(without_call.texts, (std::vector<std::string>{kScale, SCALE "5"})) << row;
    EXPECT_EQ(without_call.problem, "1 rows of its line table lead to no file or to no call: damaged");
  }
}

TEST(CubinFile, NoBytesCrashIt) {
  const Bytes whole = fixture();
  std::mt19937_64 random(1);
  for (int round = 0; round < 2000; ++round) {
    Bytes copy = whole;
    for (int i = 0; i < 8; ++i) copy[random() % copy.size()] = static_cast<uint8_t>(random());
    if (round % 4 == 0) copy.resize(random() % copy.size());
    std::string why;
    const auto cubin = CubinFile::from_memory(copy, why);
    if (cubin == nullptr) {
      EXPECT_NE(why, "");
      continue;
    }
    for (const CubinFunction& function : cubin->functions()) {
      const uint64_t address = cubin->address(function, 0);
      ASSERT_NE(address, 0u);
      const CubinFunction* const back = cubin->function_at(address);
      if (function.bytes != 0) {
        ASSERT_NE(back, nullptr);
        EXPECT_EQ(back->offset, function.offset);
      }
    }
    cubin->line_table_image();
  }
}

}  // namespace
}  // namespace prof::analyzer
