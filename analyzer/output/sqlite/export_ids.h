// Which numbers do calls, operations, processes and threads get in a database of another tool? Those of the model where
// they are unique. Elsewhere readers would join what does not belong together, so new numbers are given.
#pragma once

#include "analyzer/model/trace.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace prof::analyzer {

// Correlation ids, by which readers find the launch of an operation. An operation with a launch has the id of its
// launch. Other operations keep their own.
class CorrelationIds {
 public:
  // InFile: for databases without a process beside the id. The ids of the second process are then moved past those of
  // the first, and so on.
  enum class Unique { InProcess, InFile };
  // `joined`: further calls that need an id.
  CorrelationIds(const Trace& trace, Unique unique, std::span<const uint32_t> joined);

  // nullopt: the call has no id. A reader must not join such a call with anything.
  std::optional<uint64_t> of_call(uint32_t row) const;
  std::optional<uint64_t> of_operation(const GpuOperation& operation) const;
  // Of a call that has no row of the model.
  std::optional<uint64_t> moved(ProcessId process, uint32_t recorded) const;
  // An id of the process that nothing has yet.
  uint64_t fresh(ProcessId process) { return next_[index(process)]++ + shift_[index(process)]; }

 private:
  const Trace& trace_;
  std::vector<uint64_t> of_call_;  // before the shift; 0: none
  std::vector<uint64_t> next_, shift_;
};

// nsys's numbers of processes and threads. A globalTid is machine << 48 | pid << 24 | tid; a globalPid has no tid.
// Processes of one host have one machine, except those with equal pids.
class NsysIds {
 public:
  explicit NsysIds(const Trace& trace);

  int64_t process(ProcessId id) const { return processes_[index(id)]; }
  int64_t thread(ThreadId id) const { return threads_[index(id)]; }
  uint32_t pid(ProcessId id) const { return static_cast<uint32_t>(process(id) >> 24 & 0xffffff); }
  int64_t machine(ProcessId id) const { return process(id) >> 48; }
  // Processes and threads whose numbers have more than 24 bits: they have others in the database.
  uint64_t renumbered() const { return renumbered_; }

 private:
  std::vector<int64_t> processes_, threads_;
  uint64_t renumbered_ = 0;
};

}  // namespace prof::analyzer
