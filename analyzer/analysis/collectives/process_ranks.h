// Which rank of its job is each process, and do the ranks of the input belong to one job?
#pragma once

#include "analyzer/model/trace.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace prof::analyzer {

// The rank in the name of a file, without its folders: rank8.json, app-rank_8.plog, r008.plog. nullopt: there is none.
std::optional<uint32_t> rank_in_file_name(std::string_view path);

// The number of ranks of the job of a process. nullopt: it is not recorded.
std::optional<uint32_t> world_size(const Process& process);

// Sets Process::rank and rank_from of every process. The first of these that is known counts:
//   1. what the recorder or Kineto wrote about the process: a launcher's variable, distributedInfo
//   2. the rank in the largest NCCL communicator that the process made or called, if no two processes have the same
//   3. the name of the file
void find_ranks(Trace& trace);

// For processes whose models were read one by one: if two processes have one rank of a communicator, these are
// communicators of parts of the job, so that all such ranks are replaced by those of the names of files.
void drop_ambiguous_ranks(Trace& trace);

// One line for each contradiction: one rank claimed by several processes, sizes of several jobs. Processes of one rank
// and host whose recordings overlap may be parent and child, unless both used a GPU and have the same command line.
std::vector<std::string> rank_problems(const Trace& trace);

}  // namespace prof::analyzer
