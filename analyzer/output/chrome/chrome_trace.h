// A trace for ui.perfetto.dev, chrome://tracing and every reader of torch.profiler's traces: Kineto's schema. Streamed;
// called by `prof trace`. Times are microseconds with three decimals since the first record (baseTimeNanoseconds).
//
// What was recorded by us, by nsys or nvprof is written from the model. Events of inputs that are such traces already are
// copied from their file as they are (chrome_copy.h); if there is but one input, so is everything around them.
//
// Unless `plain`, events also say what the analyses know of them (augment_keys.def), and counter tracks show the depth of every
// stream and how busy every GPU was, and arrows what waited for what.
#pragma once

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
  std::vector<std::string> inputs;  // the files the model was made of
  const FxMarkers* fx = nullptr;
  ArrowKinds arrows = ArrowKinds::All;  // beside those of launches and of autograd
  ChromeStackForm stacks = ChromeStackForm::Both;
};

// What became of events that were copied.
struct ChromeCopyCounts {
  uint64_t events = 0;
  uint64_t augmented = 0;
  uint64_t unmatched = 0;  // of a kind the analyses know, but no row of the model
  uint64_t repaired = 0;   // were not strict JSON
  uint64_t damaged = 0;
  std::vector<std::string> damage;  // the first of them, with file and place
};

struct ChromeTraceResult {
  uint64_t events = 0;
  ChromeCopyCounts copied;
};

// Throws InputError if a file that has to be copied cannot be opened any more.
ChromeTraceResult write_chrome_trace(const Trace& trace, const Views& views, const ChromeTraceOptions& options,
                                     Sink& sink);

class ChromeText;
// The same for one trace of another tool whose text is open: what the whole model was made of.
ChromeTraceResult copy_chrome_trace(const Trace& trace, const Views& views, ChromeText& text,
                                    const ChromeTraceOptions& options, Sink& sink);

}  // namespace prof::analyzer
