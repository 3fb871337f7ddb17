#include "analyzer/output/sqlite/export_ids.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>
#include <utility>

namespace prof::analyzer {

CorrelationIds::CorrelationIds(const Trace& trace, Unique unique, std::span<const uint32_t> joined)
    : trace_(trace), of_call_(trace.host.size()), next_(trace.processes.size(), 1), shift_(trace.processes.size()) {
  const auto seen = [&](ProcessId process, uint64_t id) {
    next_[index(process)] = std::max(next_[index(process)], id + 1);
  };
  for (uint32_t row = 0; row < trace.host.size(); ++row) {
    of_call_[row] = trace.host[row].correlation;
    seen(trace.thread(trace.host[row].thread).process, of_call_[row]);
  }
  for (const GpuOperation& operation : trace.operations)
    seen(trace.process_of(operation.stream()), operation.correlation);
  const auto need = [&](uint32_t row) {
    if (of_call_[row] == 0) of_call_[row] = next_[index(trace.thread(trace.host[row].thread).process)]++;
  };
  for (const GpuOperation& operation : trace.operations) {
    if (operation.linked()) need(operation.launch);
  }
  for (const uint32_t row : joined) need(row);
  if (unique == Unique::InProcess) return;
  // fresh() needs room: at most one further id for each call and for each operation.
  std::vector<uint64_t> room = next_;
  for (const HostEvent& event : trace.host) ++room[index(trace.thread(event.thread).process)];
  for (const GpuOperation& operation : trace.operations) ++room[index(trace.process_of(operation.stream()))];
  for (size_t p = 1; p < shift_.size(); ++p) shift_[p] = shift_[p - 1] + room[p - 1];
}

std::optional<uint64_t> CorrelationIds::of_call(uint32_t row) const {
  if (of_call_[row] == 0) return std::nullopt;
  return of_call_[row] + shift_[index(trace_.thread(trace_.host[row].thread).process)];
}

std::optional<uint64_t> CorrelationIds::of_operation(const GpuOperation& operation) const {
  if (operation.linked()) return of_call(operation.launch);
  return moved(trace_.process_of(operation.stream()), operation.correlation);
}

std::optional<uint64_t> CorrelationIds::moved(ProcessId process, uint32_t recorded) const {
  if (recorded == 0) return std::nullopt;
  return recorded + shift_[index(process)];
}

namespace {

constexpr uint32_t kMask = (1u << 24) - 1;

// The highest number that is not in `used`.
uint32_t unused_number(std::unordered_set<uint32_t>& used, uint32_t& next) {
  while (!used.insert(next).second) --next;
  return next;
}

}  // namespace

NsysIds::NsysIds(const Trace& trace) : processes_(trace.processes.size()), threads_(trace.threads.size()) {
  std::unordered_set<uint32_t> pids;
  std::map<std::string, int64_t> machine_of_host;
  for (const Process& process : trace.processes) {
    pids.insert(process.pid);
    machine_of_host.try_emplace(process.host, static_cast<int64_t>(machine_of_host.size()) + 1);
  }
  uint32_t next_pid = kMask;
  int64_t next_machine = static_cast<int64_t>(machine_of_host.size()) + 1;
  std::set<std::pair<int64_t, uint32_t>> taken;
  for (uint32_t p = 0; p < trace.processes.size(); ++p) {
    uint32_t pid = trace.processes[p].pid;
    if (pid > kMask) {
      pid = unused_number(pids, next_pid);
      ++renumbered_;
    }
    int64_t machine = machine_of_host[trace.processes[p].host];
    if (!taken.emplace(machine, pid).second) machine = next_machine++;
    processes_[p] = (machine & 0x7fff) << 48 | static_cast<int64_t>(pid) << 24;
  }
  std::vector<std::unordered_set<uint32_t>> tids(trace.processes.size());
  std::vector<uint32_t> next_tid(trace.processes.size(), kMask);
  for (const Thread& thread : trace.threads) tids[index(thread.process)].insert(thread.tid);
  for (uint32_t t = 0; t < trace.threads.size(); ++t) {
    const uint32_t p = index(trace.threads[t].process);
    uint32_t tid = trace.threads[t].tid;
    if (tid > kMask) {
      tid = unused_number(tids[p], next_tid[p]);
      ++renumbered_;
    }
    threads_[t] = processes_[p] | tid;
  }
}

}  // namespace prof::analyzer
