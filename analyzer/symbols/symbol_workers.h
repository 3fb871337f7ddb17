// Offline. Finds names for many addresses of many files on all cores, whatever the files contain. Child processes do
// it, because damaged debug information can end a process that uses libdw: it crashes, exits, or hangs. That costs one
// child, and the addresses of its job are named by the symbol table alone.
//
//   parent  sorted addresses, cut into jobs -- fork -> children take jobs from a shared counter, answer through pipes
//           a child that dies or takes too long for a job: the module's jobs are repeated without debug information
#pragma once

#include "analyzer/base/strings.h"
#include "analyzer/symbols/cubin_file.h"
#include "analyzer/symbols/module_search.h"
#include "analyzer/symbols/symbol_answer.h"

#include <cstdint>
#include <string>
#include <vector>

namespace prof::analyzer {

struct SymbolRequest {
  ModuleFiles files;
  std::vector<uint64_t> addresses;   // of the file, sorted; inside the instruction: a return address minus 1
  const CubinFile* cubin = nullptr;  // used instead of `files`: the addresses are those of CubinFile::address()
};

struct WorkerLimits {
  unsigned workers = 0;       // 0: all cores
  double seconds_a_job = 60;  // a longer job is abandoned
};

std::vector<SymbolAnswer> find_symbols(const std::vector<SymbolRequest>& requests, StringTable& strings,
                                       const WorkerLimits& limits = {});

}  // namespace prof::analyzer
