// Rows for what ran on a GPU.
#pragma once

#include "analyzer/input/kineto/kineto_event.h"
#include "analyzer/input/kineto/kineto_numbering.h"
#include "analyzer/input/kineto/kineto_numbers.h"
#include "analyzer/input/kineto/kineto_rows.h"
#include "analyzer/model/gpu_rows.h"

#include <cstdint>
#include <string_view>

namespace prof::analyzer {

// KinetoGpuRowMaker reads the members of an event that belongs to a GPU and adds its row: kernels, copies, memsets,
// synchronisations, projected ranges, and the ends of the arrows that lead to operations. Which of them an event is,
// its caller has decided.
class KinetoGpuRowMaker {
 public:
  KinetoGpuRowMaker(KinetoRows& rows, KinetoNumbering& numbering) : rows_(rows), numbering_(numbering) {}

  void add_operation(const KinetoEvent& event, const KinetoTimes& times, GpuKind kind);
  // Of a device that is not known here. Its kind is read from its name.
  void add_foreign_operation(const KinetoEvent& event, const KinetoTimes& times);
  void add_sync(const KinetoEvent& event, const KinetoTimes& times);
  void add_annotation(const KinetoEvent& event, const KinetoTimes& times);
  // Phases s (at the call), t and f (at the operation). Only arrows "ac2g" with an id and a time become rows.
  void add_arrow_end(const KinetoEvent& event, char phase);

 private:
  StretchStream stream_or_none(const KinetoEvent& event, std::string_view number_text, bool in_order = true);
  StretchStream stream(const KinetoEvent& event, std::string_view number_text);
  void add_on(StretchStream stream, const KinetoEvent& event, const KinetoTimes& times, GpuKind kind);
  StretchKernel kernel(const KinetoEvent& event);
  StretchDetail own_numbers(const KinetoEvent& event);

  KinetoRows& rows_;
  KinetoNumbering& numbering_;
};

}  // namespace prof::analyzer
