// What are the processes of an input called in texts? Pids are of one host, so a pid alone names no process.
#pragma once

#include "analyzer/model/trace.h"

#include <string>
#include <vector>

namespace prof::analyzer {

// Whether both are parts of one process: PROF_PARTS writes a log for each part.
bool is_same_process(const Process& a, const Process& b);

// Whether the input has more than one process.
bool has_several_processes(const Trace& trace);

// "pid 100 on node001", or "pid 100" if its host is not known.
std::string process_and_host(const Process& process);

// By ProcessId, as short as names them: "rank 8", "rank 8 (pid 100 on node001)" if several processes have that rank,
// "pid 100" without a rank, "pid 100 on node001" if another host has that pid too.
std::vector<std::string> process_names(const Trace& trace);

}  // namespace prof::analyzer
