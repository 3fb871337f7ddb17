// Arrows of the Chrome trace from each forward operator to its backward operator: Kineto's flows of category "fwdbwd".
// An arrow goes from the start of the innermost forward operator to the start of the innermost backward operator.
// Copied traces contain their own arrows.
#include "analyzer/model/forward_backward.h"
#include "analyzer/output/chrome/chrome_pieces.h"
#include "analyzer/output/chrome/chrome_writer.h"

namespace prof::analyzer {

void write_chrome_forward_backward(const ChromeContext& context) {
  const Trace& trace = context.trace;
  const ForwardBackward& links = context.views.forward_backward();
  uint32_t number = 0;
  for (const BackwardLink& link : links.links()) {
    const ProcessId process = trace.thread(trace.ranges[link.backward].thread).process;
    if (link.forward == kNone || !context.writes(process)) continue;
    const uint64_t id = ChromeIds::correlation(process, ++number);
    for (const bool start : {true, false}) {
      const Range& range = trace.ranges[start ? link.forward : link.backward];
      const std::string track =
          track_piece(context.ids.process[index(process)], context.ids.thread[index(range.thread)]);
      char* to = context.events.begin(track.size() + 160);
      to = put_bytes(to, start ? "{\"ph\":\"s\",\"id\":" : "{\"ph\":\"f\",\"bp\":\"e\",\"id\":");
      to = put_decimal(to, id);
      to = put_bytes(to, ",\"cat\":\"fwdbwd\",\"name\":\"fwdbwd\",");
      to = put_bytes(to, track);
      to = put_micros(to, range.begin_ns);
      context.events.end(put_bytes(to, "}"));
    }
  }
}

}  // namespace prof::analyzer
