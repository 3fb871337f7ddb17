// Which launches waited because the queue of their stream was full, and for which operation? Used by dependencies.cpp.
#pragma once

#include "analyzer/dependencies/dependencies.h"
#include "analyzer/model/trace.h"

#include <cstdint>
#include <vector>

namespace prof::analyzer {

class FullQueueWaits {
 public:
  explicit FullQueueWaits(const Trace& trace);

  // Must be called for launches (rows of Trace::host) into a GPU stream in the order in which they were made.
  // `launched`: the stream's latest operation before; kNone: it has none.
  void launch(uint32_t row, uint32_t stream, uint32_t launched);
  // After the last launch: adds the launches that met a full queue and were long (long_launches.h) to blocked_launches,
  // sorted, and to of_calls.
  void find_waits(Dependencies& to) const;

 private:
  int64_t end_of(uint32_t operation) const { return trace_.operations[operation].last_ns(); }

  const Trace& trace_;
  std::vector<uint32_t> finished_;  // by GPU stream: all operations before this row have ended
  std::vector<Wait> met_;
};

}  // namespace prof::analyzer
