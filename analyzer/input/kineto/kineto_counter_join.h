// Which kernel or launch do values of hardware counters belong to that are events of their own?
//
// torch.profiler (`profiler_metrics`) writes events "cuda_profiler_range" without any id, with times that only split
// the window evenly, and records no kernels: one event for each launch on the device, in order, or one event
// "__profile__" for all. Those of kernels are joined by order if nothing speaks against it: there are as many launches
// as events, and one way to put both in order. Else they stay without a launch, with the reason.
#pragma once

#include "analyzer/input/import.h"
#include "analyzer/input/kineto/kineto_counters.h"
#include "analyzer/input/kineto/kineto_kernels.h"
#include "analyzer/input/kineto/kineto_streams.h"
#include "analyzer/model/trace.h"

#include <string>
#include <vector>

namespace prof::analyzer {

// After the last event, before KinetoStreams::assign(). Sets `of` and `row`, or `why`, of the values; makes a GPU
// operation of a launch whose values have a time. Returns a line for each device with such events: what became of them.
std::vector<std::string> join_counters(Trace& trace, const ImportMark& mark, KinetoStreams& streams,
                                       KinetoKernels& kernels, KinetoCounters& counters);

}  // namespace prof::analyzer
