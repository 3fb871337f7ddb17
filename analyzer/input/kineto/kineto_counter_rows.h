// Rows for values of hardware counters.
#pragma once

#include "analyzer/input/kineto/kineto_event.h"
#include "analyzer/input/kineto/kineto_numbering.h"
#include "analyzer/input/kineto/kineto_rows.h"

#include <cstdint>
#include <string>

namespace prof::analyzer {

// KinetoCounterRowMaker reads the arguments of an event that are named like metrics of hardware counters
// (KinetoEvent::metrics), and adds their values with what they belong to: a kernel's row, a range's row, or the event
// itself.
class KinetoCounterRowMaker {
 public:
  KinetoCounterRowMaker(KinetoRows& rows, KinetoNumbering& numbering) : rows_(rows), numbering_(numbering) {}
  void start_stretch();

  // For the latest row of KinetoRows::operations or KinetoRows::ranges; nothing if the event has no values.
  void add_to_operation(const KinetoEvent& event);
  void add_to_range(const KinetoEvent& event);
  // An event of its own ("cuda_profiler_range"); without values it is skipped.
  void add_event(const KinetoEvent& event, int64_t begin_ns);

 private:
  KinetoCounterValues read(const KinetoEvent& event);

  KinetoRows& rows_;
  KinetoNumbering& numbering_;
  // Nearly all events have the metrics of the event before.
  std::string last_metrics_;
  StretchText last_metrics_text_{};
};

}  // namespace prof::analyzer
