// Offline. Names for many addresses of many files, on all cores and whatever is in the files. The work is done by child
// processes, because libdw ends a process that gives it damaged debug information (it crashes, exits, or never comes back):
// that costs one child, and the addresses it was at are named by the symbol table alone.
//
//   parent  sorted addresses, cut into jobs --- fork ---> children take jobs from a shared counter, answer through pipes
//           a child that dies or takes too long at a job: the module's jobs are done again without debug information
#pragma once

#include "analyzer/base/strings.h"
#include "analyzer/symbols/module_search.h"
#include "analyzer/symbols/symbol_answer.h"

#include <cstdint>
#include <string>
#include <vector>

namespace prof::analyzer {

struct SymbolRequest {
  ModuleFiles files;
  std::vector<uint64_t> addresses;  // of the file, sorted; inside the instruction: a return address less 1
};

struct WorkerLimits {
  unsigned workers = 0;       // 0: all cores
  double seconds_a_job = 60;  // then it is given up
};

std::vector<SymbolAnswer> find_symbols(const std::vector<SymbolRequest>& requests, StringTable& strings,
                                       const WorkerLimits& limits = {});

}  // namespace prof::analyzer
