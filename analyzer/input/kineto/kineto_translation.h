// Numbers of a stretch as rows of the trace.
#pragma once

#include "analyzer/input/import.h"
#include "analyzer/input/kineto/kineto_kernels.h"
#include "analyzer/input/kineto/kineto_rows.h"
#include "analyzer/input/kineto/kineto_streams.h"
#include "analyzer/input/kineto/kineto_threads.h"
#include "analyzer/model/trace.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace prof::analyzer {

// KinetoTranslation turns the numbers that texts, tracks, streams, kernels and details have within one stretch into
// rows of the trace; what the trace does not have yet gets a row. It is used for one stretch after another: start()
// replaces the numbers of the stretch before.
class KinetoTranslation {
 public:
  KinetoTranslation(Trace& trace, KinetoThreads& threads, KinetoStreams& streams, KinetoKernels& kernels)
      : trace_(trace), threads_(threads), streams_(streams), kernels_(kernels), apis_(trace) {}

  void start(const KinetoRows& rows);

  StringId text(StretchText text) const { return texts_[index(text)]; }
  ThreadId thread(StretchTrack track) const { return tracks_[index(track)]; }
  // A number of KinetoStreams; kNone for kNoStream.
  uint32_t stream(StretchStream stream) const { return stream == kNoStream ? kNone : numbers_[index(stream)]; }
  KernelId kernel(StretchKernel kernel) const { return rows_of_kernels_[index(kernel)]; }
  // Row of Trace::details; 0: none. The rows of the stretch are to be added there in their order.
  uint64_t detail(StretchDetail detail) const { return index(detail) == 0 ? 0 : first_detail_ + index(detail); }
  LabelId label(const KinetoLabel& label);
  // HostEvent::word of a call with that name.
  uint32_t call_word(StretchText name);

  ApiNames& apis() { return apis_; }

 private:
  LabelId label_row(StringId name, StringId domain);

  Trace& trace_;
  KinetoThreads& threads_;
  KinetoStreams& streams_;
  KinetoKernels& kernels_;
  ApiNames apis_;
  std::unordered_map<uint64_t, uint32_t> labels_;  // (domain, name) -> LabelId, of the whole file

  // By number of the stretch.
  std::vector<StringId> texts_;
  std::vector<ThreadId> tracks_;
  std::vector<uint32_t> numbers_;
  std::vector<KernelId> rows_of_kernels_;
  std::vector<uint32_t> label_of_text_;  // kNone: not looked up yet
  std::vector<uint32_t> call_of_text_;   // likewise
  uint64_t first_detail_ = 0;
};

}  // namespace prof::analyzer
