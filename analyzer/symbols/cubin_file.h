// Offline. What does a cubin (the ELF file of GPU code that the driver loads) contain: its functions, the GPU
// architecture it is for, the bytes of its line table? The bytes may be damaged or hostile: every offset is checked.
// cubin_lines.h answers which source lines belong to its instructions.
//
// Every function starts at address 0 of a section of its own, so an address alone means nothing. The line table of a
// function is one sequence of rows, and a relocation of .debug_line names the function. Here each sequence gets a range
// of addresses that no other has, in the order of the table:
//
//   .debug_line   | sequence of f | sequence of g |        relocation: f + 0       relocation: g + 0
//   addresses     | 0x1000 …      | 0x3000 …      |        f + 0x40 is 0x1040      g + 0x10 is 0x3010
//
// The order is needed: a row names the row of its call by position, and libdw sorts rows by address.
#pragma once

#include "analyzer/symbols/elf_file.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace prof::analyzer {

// A kernel, or a device function that was not inlined.
struct CubinFunction {
  std::string_view name;  // mangled
  uint32_t section = 0;   // number of its section
  uint64_t offset = 0;    // of its first instruction in the section, in bytes
  uint64_t bytes = 0;     // of its instructions, with those of functions inside it
  uint32_t symbol = 0;    // its number in the symbol table
};

class CubinFile {
 public:
  // The bytes must outlive the object. Null: no cubin, or one that cannot be read; `why` has the reason.
  static std::unique_ptr<CubinFile> from_memory(std::span<const uint8_t> bytes, std::string& why);
  static std::unique_ptr<CubinFile> open(const std::string& path, std::string& why);

  std::string architecture() const;                                        // "sm_90"
  std::span<const CubinFunction> functions() const { return functions_; }  // by section and offset
  std::string_view section_name(const CubinFunction& function) const;      // ".text._Z6kernelv"
  const CubinFunction* find(std::string_view name) const;                  // null: none
  std::span<const uint8_t> code(const CubinFunction& function) const;      // its machine code; empty: outside the file
  const std::string& line_problem() const { return line_problem_; }        // why some have no lines; empty: none

  // The address of an instruction, `pc_offset` bytes after the function's first one. 0: not in the function's section.
  uint64_t address(const CubinFunction& function, uint64_t pc_offset) const;
  // The innermost function at such an address; null: none.
  const CubinFunction* function_at(uint64_t address) const;
  // A small ELF file with the line table alone, its relocations applied. Empty: no line table.
  std::vector<uint8_t> line_table_image() const;

 private:
  // Addresses of a part of a section: those of one sequence, or of a section without sequences.
  struct Stretch {
    uint32_t section = 0;
    uint64_t start = 0, bytes = 0;  // in the section
    uint64_t address = 0;           // of `start`
    uint64_t patch = UINT64_MAX;    // offset in .debug_line of the 8 bytes that hold the address
  };
  CubinFile() = default;
  static std::unique_ptr<CubinFile> read(std::unique_ptr<ElfFile> elf, std::string& why);
  bool read_functions(std::string& why);
  void read_relocations();
  void add_relocations(const ElfSection& section, std::vector<Stretch>& to, uint64_t& nowhere) const;
  void place(std::vector<Stretch> sequences);

  std::unique_ptr<ElfFile> elf_;
  std::vector<CubinFunction> functions_;
  std::vector<uint32_t> by_name_;   // numbers of functions
  std::vector<Stretch> stretches_;  // by address
  std::vector<uint32_t> by_place_;  // numbers of stretches by section and start, one for each start
  const ElfSection* lines_ = nullptr;
  std::string line_problem_;
};

}  // namespace prof::analyzer
