#include "analyzer/model/process_names.h"

#include <fmt/format.h>

#include <map>

namespace prof::analyzer {

bool is_same_process(const Process& a, const Process& b) {
  // Without a host, processes of two files may be of two hosts.
  return a.pid == b.pid && a.host == b.host && (!a.host.empty() || a.source == b.source);
}

bool has_several_processes(const Trace& trace) {
  for (const Process& process : trace.processes) {
    if (!is_same_process(process, trace.processes.front())) return true;
  }
  return false;
}

std::string process_and_host(const Process& process) {
  return process.host.empty() ? fmt::format("pid {}", process.pid)
                              : fmt::format("pid {} on {}", process.pid, process.host);
}

std::vector<std::string> process_names(const Trace& trace) {
  // The first process with a rank or pid, and whether another process has it too.
  struct First {
    const Process* process = nullptr;
    bool shared = false;
    void add(const Process& each) {
      if (process == nullptr) process = &each;
      shared = shared || !is_same_process(*process, each);
    }
  };
  std::map<uint32_t, First> of_rank, of_pid;
  for (const Process& process : trace.processes) {
    if (process.rank) of_rank[*process.rank].add(process);
    of_pid[process.pid].add(process);
  }
  std::vector<std::string> names;
  for (const Process& process : trace.processes) {
    if (process.rank) {
      names.push_back(fmt::format("rank {}", *process.rank));
      if (of_rank[*process.rank].shared) names.back() += fmt::format(" ({})", process_and_host(process));
    } else {
      names.push_back(of_pid[process.pid].shared ? process_and_host(process) : fmt::format("pid {}", process.pid));
    }
  }
  return names;
}

}  // namespace prof::analyzer
