// Which ranges are GPU operations, by the name of their track? XLA's profiler (JAX) writes every event without a
// category, on processes "/device:GPU:0" with threads "Stream #14(Compute)" and derived ones ("XLA Ops", "Steps").
// Until the last event such events are ranges of host threads.
#pragma once

#include "analyzer/input/import.h"
#include "analyzer/input/kineto/kineto_kernels.h"
#include "analyzer/input/kineto/kineto_streams.h"
#include "analyzer/input/kineto/kineto_threads.h"
#include "analyzer/model/trace.h"

#include <cstdint>
#include <vector>

namespace prof::analyzer {

// Of the new rows of Trace::ranges, those on a stream become GPU operations, those on another track of a GPU
// annotations of its first stream, and CUDA calls with a correlation id host events. Threads and processes that had
// nothing else are removed. Returns the new row of each thread, kNone for a removed one; empty if no thread was
// removed.
std::vector<uint32_t> convert_gpu_tracks(Trace& trace, const ImportMark& mark, KinetoThreads& threads,
                                         KinetoStreams& streams, KinetoKernels& kernels, ApiNames& apis);

}  // namespace prof::analyzer
