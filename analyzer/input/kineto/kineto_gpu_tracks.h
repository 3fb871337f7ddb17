// Which ranges are GPU operations, by the name of their track? XLA's profiler (JAX) writes every event without a
// category, on processes "/device:GPU:0" with threads "Stream #14(Compute)" and derived ones ("XLA Ops", "Steps").
// Until the last event such events are ranges of host threads.
//
// So are events of devices that are not known here (MTIA, NPU, XPU …), by the name or label of their process or by
// their category. They are operations if they name a stream: by the name of their thread ("Stream 2") or, if it has
// none, by its number. What has no stream is left out. None of them is ever time of the host.
#pragma once

#include "analyzer/input/import.h"
#include "analyzer/input/kineto/kineto_kernels.h"
#include "analyzer/input/kineto/kineto_streams.h"
#include "analyzer/input/kineto/kineto_threads.h"
#include "analyzer/model/trace.h"

#include <cstdint>
#include <vector>

namespace prof::analyzer {

// Range::payload_type of a range whose category is that of a device not known here, until it is converted.
inline constexpr uint8_t kForeignRange = 255;

// Of the new rows of Trace::ranges, those on a stream become GPU operations, those on another track of a GPU
// annotations of its first stream, and CUDA calls with a correlation id host events. Threads and processes that had
// nothing else are removed. Returns the new row of each thread, kNone for a removed one; empty if no thread was
// removed. `any_foreign`: some ranges have payload_type kForeignRange.
std::vector<uint32_t> convert_gpu_tracks(Trace& trace, const ImportMark& mark, KinetoThreads& threads,
                                         KinetoStreams& streams, KinetoKernels& kernels, ApiNames& apis,
                                         KinetoSummary& summary, bool any_foreign);

}  // namespace prof::analyzer
