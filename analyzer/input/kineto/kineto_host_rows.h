// Rows for what happened on host threads.
#pragma once

#include "analyzer/input/kineto/kineto_event.h"
#include "analyzer/input/kineto/kineto_numbering.h"
#include "analyzer/input/kineto/kineto_numbers.h"
#include "analyzer/input/kineto/kineto_rows.h"

#include <cstdint>

namespace prof::analyzer {

// KinetoHostRowMaker reads the members of an event of a host thread and adds its row: calls, ranges (whole, or half of
// one), marks, allocations. Which of them an event is, its caller has decided.
class KinetoHostRowMaker {
 public:
  KinetoHostRowMaker(KinetoRows& rows, KinetoNumbering& numbering) : rows_(rows), numbering_(numbering) {}

  void add_call(const KinetoEvent& event, const KinetoTimes& times);
  void add_range(const KinetoEvent& event, const KinetoTimes& times, RangeKind kind);
  // An event of a device that is not known here. Whether it is an operation depends on its process.
  void add_foreign_range(const KinetoEvent& event, const KinetoTimes& times);
  void add_mark(const KinetoEvent& event, int64_t time_ns);
  void add_memory(const KinetoEvent& event, int64_t time_ns);
  // `kind`: of a NestedBegin; others have none.
  void add_edge(const KinetoEvent& event, int64_t time_ns, KinetoEdgeKind edge, RangeKind kind);

 private:
  StretchTrack track(const KinetoEvent& event) { return numbering_.track(event.pid, event.tid); }
  KinetoLabel label(const KinetoEvent& event);
  StretchDetail detail(const KinetoEvent& event, RangeKind kind);

  KinetoRows& rows_;
  KinetoNumbering& numbering_;
};

}  // namespace prof::analyzer
