// Offline. What are the functions and source lines of instructions of cubins, given as a sampler gives them: a function
// and the offset of the instruction in it? The line tables of nvcc -lineinfo, Triton and torch.compile lead to CUDA C++
// and to Python files in the same way. The cubins may be damaged: children read them (symbol_workers.h).
#pragma once

#include "analyzer/base/strings.h"
#include "analyzer/symbols/cubin_file.h"
#include "analyzer/symbols/symbol_workers.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace prof::analyzer {

struct CubinPc {
  const CubinFunction* function = nullptr;  // of the request's cubin
  uint64_t offset = 0;                      // bytes from the function's first instruction
};

struct CubinRequest {
  const CubinFile* cubin = nullptr;
  std::vector<CubinPc> pcs;  // in any order, repeated or not
};

struct CubinLines {
  struct Span {
    uint32_t first = 0, count = 0;
  };
  // Frames of a PC, innermost function first. The last one is the function that was launched or called; functions
  // before it are inlined. A PC without a line has that function alone, with line 0: sass_place() names the
  // instruction. Empty: the PC is in no function of the cubin.
  std::span<const SymbolFrame> at(size_t pc) const { return {frames.data() + of_pc[pc].first, of_pc[pc].count}; }

  std::vector<Span> of_pc;
  std::vector<SymbolFrame> frames;
  std::string problem;  // why lines are missing; empty: no error
};

// One answer for each request, all cores used.
std::vector<CubinLines> find_cubin_lines(std::span<const CubinRequest> requests, StringTable& strings,
                                         const WorkerLimits& limits = {});

// "kernel+0x1a0"
std::string sass_place(std::string_view function, uint64_t offset);

}  // namespace prof::analyzer
