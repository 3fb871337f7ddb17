// Which process launched what.
#pragma once

#include "analyzer/base/column.h"
#include "analyzer/input/import.h"
#include "analyzer/input/kineto/kineto_streams.h"
#include "analyzer/input/kineto/kineto_summary.h"
#include "analyzer/input/kineto/kineto_threads.h"
#include "analyzer/model/trace.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace prof::analyzer {

// KinetoLaunchers finds the process that launched each GPU operation and synchronisation. In a file that was merged
// from the traces of several processes correlation ids collide; then the external id decides, then the arrow from the
// call to the operation, and at last the latest call before the operation (KinetoAside::AmbiguousProcess).
class KinetoLaunchers {
 public:
  KinetoLaunchers(const Trace& trace, const ImportMark& mark) : trace_(trace), mark_(mark) {}

  // External ids of the new rows of Trace::host and Trace::operations, in their order. 0: none; so have rows without a
  // call of these functions, which must be the last.
  void add_call(uint64_t external_id) { call_external_.push_back(external_id); }
  void add_operation(uint64_t external_id) { operation_external_.push_back(external_id); }
  // An arrow has an end at the call, and one at the operation: there it has the operation's start time and stream.
  void add_arrow_at_call(uint64_t id, StringId pid) { at_calls_.push_back({id, pid}); }
  void add_arrow_at_operation(uint64_t id, int64_t time_ns, StringId pid, uint32_t stream) {
    at_operations_.push_back({time_ns, id, pid, stream});
  }

  // Needs the numbers of `streams` in the rows, so before KinetoStreams::assign(). O(n log n); frees what was added.
  LaunchingProcesses find(const KinetoStreams& streams, const KinetoThreads& threads, KinetoSummary& summary);

 private:
  struct Call {
    uint64_t external;
    int64_t begin_ns;
    uint32_t correlation;
    uint32_t process;
  };
  struct ArrowAtCall {
    uint64_t id;
    StringId pid;
  };
  struct ArrowAtOperation {
    int64_t time_ns;
    uint64_t id;
    StringId pid;
    uint32_t stream;
  };

  std::vector<Call> sorted_calls() const;
  void sort_arrows();
  uint32_t by_arrows(const GpuOperation& operation, const KinetoStreams& streams, const KinetoThreads& threads) const;

  const Trace& trace_;
  const ImportMark& mark_;
  Column<uint64_t> call_external_, operation_external_;
  std::vector<ArrowAtCall> at_calls_;            // in find(): by id
  std::vector<ArrowAtOperation> at_operations_;  // in find(): by time and place
};

}  // namespace prof::analyzer
