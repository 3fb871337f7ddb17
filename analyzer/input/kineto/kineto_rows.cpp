#include "analyzer/input/kineto/kineto_rows.h"

namespace prof::analyzer {

void KinetoRows::clear() {
  texts.clear();
  texts.add("");
  made.clear();
  tracks.clear();
  streams.clear();
  kernels.clear();
  names.clear();
  calls.clear();
  operations.clear();
  syncs.clear();
  gpu_annotations.clear();
  ranges.clear();
  marks.clear();
  edges.clear();
  details.clear();
  memory.clear();
  arrows.clear();
  counted.clear();
  counter_values.clear();
  tally.clear();
  last_ns = INT64_MIN;
}

}  // namespace prof::analyzer
