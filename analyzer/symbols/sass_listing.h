// Offline. What are the instructions (SASS) of a cubin as text? NVIDIA's nvdisasm disassembles; it is part of the CUDA
// toolkit and of the package nvidia-cuda-nvdisasm, and never required: without it the answer is the reason.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace prof::analyzer {

struct SassInstruction {
  uint64_t offset = 0;  // in the section, in bytes
  std::string text;     // "@P0 BRA `(.L_x_2)"
};

struct SassSection {
  std::string name;                           // ".text._Z6kernelv", as CubinFile::section_name()
  std::vector<SassInstruction> instructions;  // by offset
  // Names of places, and the offset of the instruction there: ".L_x_2", or a function inside the section.
  std::vector<std::pair<std::string, uint64_t>> labels;
};

struct SassListing {
  std::vector<SassSection> sections;
  std::string problem;  // why it is empty or incomplete; empty: no error
};

struct DisassemblerLimits {
  double seconds = 60;
  uint64_t output_bytes = uint64_t{1} << 30;
  uint64_t cubin_bytes = uint64_t{256} << 20;  // nvdisasm reads a copy in memory
};

// The path of nvdisasm: of $PATH, $CUDA_HOME/bin, $CUDA_PATH/bin, /usr/local/cuda/bin. Empty: none.
std::string find_nvdisasm();

// The instructions of a cubin. With `symbols` (CubinFunction::symbol), only of the sections of these functions, which
// is much faster for a large cubin. `program`: the result of find_nvdisasm().
SassListing disassemble(std::span<const uint8_t> cubin, const std::string& program,
                        const std::vector<uint32_t>& symbols = {}, const DisassemblerLimits& limits = {});

// The instructions in a text that `nvdisasm -c` printed.
std::vector<SassSection> parse_sass_listing(std::string_view text);

}  // namespace prof::analyzer
