// In which order are the slices of a track written in a Perfetto trace? By their begin, the longer one first, because
// the ends are packets of their own (packet_writer.h). A thread has calls and ranges, a stream operations and ranges.
#include "analyzer/output/chrome/chrome_writer.h"

namespace prof::analyzer {

namespace {

// Writes the rows of both in turn. At equal intervals the first one is the outer one.
void write_both(TrackRows* outer, TrackRows& inner, uint32_t place) {
  Rows left = outer == nullptr ? Rows{} : outer->rows_of(place);
  Rows right = inner.rows_of(place);
  if (left.size() != 0) outer->start(place);
  if (right.size() != 0) inner.start(place);
  const auto outer_next = [&] {
    if (left.size() == 0 || right.size() == 0) return left.size() != 0;
    const Interval a = outer->interval(left.first), b = inner.interval(right.first);
    return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.end_ns >= b.end_ns;
  };
  while (left.size() != 0 || right.size() != 0) {
    if (outer_next()) {
      outer->row(left.first++);
    } else {
      inner.row(right.first++);
    }
  }
}

}  // namespace

void write_tracks_in_order(const ChromeContext& context) {
  const Trace& trace = context.trace;
  {
    const std::unique_ptr<TrackRows> calls = call_rows(context), ranges = range_rows(context);
    for (uint32_t t = 0; t < trace.threads.size(); ++t) {
      if (context.writes(trace.threads[t].process)) write_both(ranges.get(), *calls, t);
    }
  }
  const std::unique_ptr<TrackRows> operations = operation_rows(context);
  const std::unique_ptr<TrackRows> annotations = context.augment != nullptr ? annotation_rows(context) : nullptr;
  for (uint32_t s = 0; s < trace.streams.size(); ++s) {
    const Stream& stream = trace.streams[s];  // a stream without operations may have no device either
    if (stream.operations.size() != 0 && context.writes(stream.device)) write_both(annotations.get(), *operations, s);
  }
}

}  // namespace prof::analyzer
