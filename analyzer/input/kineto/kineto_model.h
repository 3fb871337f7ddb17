// From the rows of stretches to the model.
#pragma once

#include "analyzer/input/import.h"
#include "analyzer/input/kineto/kineto_counters.h"
#include "analyzer/input/kineto/kineto_header.h"
#include "analyzer/input/kineto/kineto_kernels.h"
#include "analyzer/input/kineto/kineto_launchers.h"
#include "analyzer/input/kineto/kineto_range_pairs.h"
#include "analyzer/input/kineto/kineto_rows.h"
#include "analyzer/input/kineto/kineto_streams.h"
#include "analyzer/input/kineto/kineto_summary.h"
#include "analyzer/input/kineto/kineto_threads.h"
#include "analyzer/input/kineto/kineto_translation.h"
#include "analyzer/model/trace.h"

#include <cstdint>
#include <string>
#include <vector>

namespace prof::analyzer {

// KinetoModel appends the rows of stretches, in the order of the file, to the tables of a trace, and calls after the
// last one, in order, what answers the questions that need the whole file: KinetoRangePairs (which start and end belong
// together), convert_gpu_tracks() (which ranges are GPU work), join_counters() (which launch values belong to),
// KinetoLaunchers (which process launched what), KinetoStreams (which stream it ran on), and finish_import().
class KinetoModel {
 public:
  KinetoModel(Trace& trace, const std::string& path);

  void add(const KinetoRows& rows);
  // After the last stretch. `damage`: what is wrong with the text beyond events that are no JSON.
  void finish(const KinetoHeader& header, KinetoTextDamage damage);

  uint64_t events() const { return summary_.events(); }
  // There are objects, but none is an event.
  bool no_event_at_all() const { return summary_.no_event_at_all(); }

 private:
  void add_names(const KinetoRows& rows);
  void add_calls(const KinetoRows& rows);
  void add_operations(const KinetoRows& rows);
  void add_syncs(const KinetoRows& rows);
  void add_gpu_annotations(const KinetoRows& rows);
  void add_details(const KinetoRows& rows);
  void add_ranges(const KinetoRows& rows);
  void add_memory(const KinetoRows& rows);
  void add_arrows(const KinetoRows& rows);

  Trace& trace_;
  const std::string path_;
  const ImportMark mark_;
  KinetoThreads threads_;
  KinetoStreams streams_;
  KinetoKernels kernels_;
  KinetoTranslation to_;  // of the stretch being added
  KinetoLaunchers launchers_;
  KinetoRangePairs range_pairs_;
  KinetoCounters counters_;
  KinetoSummary summary_;
  int64_t last_ns_ = INT64_MIN;  // end of the last event
  bool any_foreign_ = false;     // some ranges are of a device that is not known here
};

}  // namespace prof::analyzer
