// How is a model written as a trace for ui.perfetto.dev, chrome://tracing and every reader of torch.profiler's traces?
// The format is Kineto's schema, and the trace is streamed. Times are microseconds with three decimals since the first
// record (baseTimeNanoseconds). Called by `prof trace`.
//
// Recordings of prof, nsys and nvprof are written from the model. Events of inputs that are already such traces are
// copied from their files (chrome_copy.h). If there is only one input, everything around the events is copied too.
//
// Unless `plain`, events also contain what the analyses know about them (augment_keys.def). Counter tracks show the
// depth of every stream and how busy every GPU was. Arrows show what waited for what.
#pragma once

#include "analyzer/analysis/selection.h"
#include "analyzer/analysis/views.h"
#include "analyzer/base/sink.h"
#include "analyzer/model/fx_markers.h"
#include "analyzer/model/trace.h"
#include "analyzer/output/chrome/chrome_arrows.h"
#include "analyzer/output/chrome/chrome_stacks.h"

#include <string>
#include <vector>

namespace prof::analyzer {

struct ChromeTraceOptions {
  bool plain = false;
  std::string name;                 // traceName
  std::vector<std::string> inputs;  // the files from which the model was made
  const FxMarkers* fx = nullptr;
  ArrowKinds arrows = ArrowKinds::All;  // in addition to those of launches and of autograd
  ChromeStackForm stacks = ChromeStackForm::Both;
  const Selection* selection = nullptr;  // null: everything
  bool render_stages = true;             // of a Perfetto trace: kernels also as render stages of the GPU
};

// Counts of the events that were copied.
struct ChromeCopyCounts {
  uint64_t events = 0;
  uint64_t augmented = 0;
  uint64_t unmatched = 0;  // of a kind that the analyses know, but without a row of the model
  uint64_t repaired = 0;   // events that were not strict JSON
  uint64_t damaged = 0;
  std::vector<std::string> damage;  // the first places of damage, with the file
};

struct ChromeTraceResult {
  uint64_t events = 0;
  ChromeCopyCounts copied;
};

// Throws InputError if a file to copy can no longer be opened.
ChromeTraceResult write_chrome_trace(const Trace& trace, const Views& views, const ChromeTraceOptions& options,
                                     Sink& sink);

// The same events as a Perfetto trace (perfetto/packet_writer.h).
ChromeTraceResult write_perfetto_trace(const Trace& trace, const Views& views, const ChromeTraceOptions& options,
                                       Sink& sink);

class ChromeText;
// The same for one trace of another tool, from which the whole model was made. `text` is that trace, opened.
ChromeTraceResult copy_chrome_trace(const Trace& trace, const Views& views, ChromeText& text,
                                    const ChromeTraceOptions& options, Sink& sink);
ChromeTraceResult copy_as_perfetto_trace(const Trace& trace, const Views& views, ChromeText& text,
                                         const ChromeTraceOptions& options, Sink& sink);

}  // namespace prof::analyzer
