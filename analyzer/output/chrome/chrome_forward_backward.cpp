// Arrows of the Chrome trace from each forward operator to its backward operator: Kineto's flows of category "fwdbwd".
// An arrow goes from the start of the innermost forward operator to the start of the innermost backward operator.
// Copied traces contain their own arrows.
#include "analyzer/model/forward_backward.h"
#include "analyzer/output/chrome/chrome_writer.h"

namespace prof::analyzer {

namespace {

template <class Take> void each_link(const ChromeContext& context, Take&& take) {
  uint32_t number = 0;
  for (const BackwardLink& link : context.views.forward_backward().links()) {
    const ProcessId process = context.trace.thread(context.trace.ranges[link.backward].thread).process;
    if (link.forward != kNone && context.writes(process) && context.selects_range(link.forward) &&
        context.selects_range(link.backward))
      take(link, process, ++number);
  }
}

}  // namespace

void write_chrome_forward_backward(const ChromeContext& context) {
  each_link(context, [&](const BackwardLink& link, ProcessId process, uint32_t number) {
    for (const bool start : {true, false}) {
      const Range& range = context.trace.ranges[start ? link.forward : link.backward];
      context.events.flow(
          start, ChromeIds::correlation(process, number), "fwdbwd",
          context.events.track(context.ids.process[index(process)], context.ids.thread[index(range.thread)]),
          range.begin_ns);
    }
  });
}

void add_forward_backward(const ChromeContext& context, SliceFlowTable& to) {
  each_link(context, [&](const BackwardLink& link, ProcessId, uint32_t number) {
    const uint64_t id = kForwardBackwardFlows | number;
    to.of(SliceFlowTable::Of::Range, link.forward).out.push_back(id);
    to.of(SliceFlowTable::Of::Range, link.backward).in.push_back(id);
  });
}

}  // namespace prof::analyzer
