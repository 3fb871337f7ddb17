// Any bytes as a Chrome trace: cut into small pieces, read, put together, nested, joined. Nothing may crash, hang or
// read outside its memory, and the model must keep its guarantees.
#include "analyzer/input/kineto/kineto_import.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace {

// Rows refer to other rows by number: each must exist.
void verify(const prof::analyzer::Trace& trace) {
  using namespace prof::analyzer;
  const auto require = [](bool holds) {
    if (!holds) std::abort();
  };
  for (const GpuOperation& operation : trace.operations) {
    require(operation.stream_index < trace.streams.size());
    require(operation.launch == kNone || operation.launch < trace.host.size());
    require(operation.kind() != GpuKind::Kernel || operation.detail < trace.kernels.size());
  }
  for (const HostEvent& event : trace.host) {
    require(index(event.thread) < trace.threads.size() && event.end_ns >= event.begin_ns);
    require(event.api() < trace.apis.size());
  }
  for (const Range& range : trace.ranges) {
    require(index(range.thread) < trace.threads.size() && range.end_ns >= range.begin_ns);
    require(index(range.label) < trace.labels.size() && index(range.path) < trace.paths.size());
    require(range.parent == kNone || range.parent < trace.ranges.size());
    require(range.payload == 0 || range.payload < trace.details.size());
  }
  for (const SyncEvent& sync : trace.syncs) {
    require(sync.stream == kNone || sync.stream < trace.streams.size());
    require(sync.waits_for == kNone || sync.waits_for < trace.streams.size());
    require(sync.call == kNone || sync.call < trace.host.size());
  }
  for (const GpuAnnotation& annotation : trace.gpu_annotations)
    require(index(annotation.stream) < trace.streams.size() && index(annotation.label) < trace.labels.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace prof::analyzer;
  Trace trace;
  ImportOptions options;
  options.workers = 1;
  constexpr size_t kStretch = 512;
  try {
    import_kineto(TextSource::of_memory({reinterpret_cast<const char*>(data), size}), "fuzz", trace, options, kStretch);
  } catch (const InputError&) {
    return 0;
  }
  verify(trace);
  return 0;
}
