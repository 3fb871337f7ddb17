// What is an event, by its "cat" and name? In the spelling of any torch.profiler (1.8 wrote "Kernel", 2.x "kernel").
#pragma once

#include "analyzer/model/gpu_rows.h"
#include "analyzer/model/host_rows.h"

#include <cstdint>
#include <string_view>

namespace prof::analyzer {

enum class KinetoClass : uint8_t {
  Operator,
  Annotation,
  Python,
  Overhead,
  Call,
  Kernel,
  Copy,
  Fill,
  GpuAnnotation,
  Sync,
  EventRecord,
  Memory,        // instants "[memory]"
  Flow,          // arrows between events
  ProfilerSpan,  // a frame of the profiler around all events
  CounterRange,  // values of hardware counters, of a kernel or of all that ran
  Foreign,       // work of a device that is not known here (MTIA, NPU, XPU …)
  Other,
};

KinetoClass kineto_class(std::string_view category);

// "foo_runtime", "foo_driver": calls of a runtime, whatever its device is.
bool is_runtime_category(std::string_view category);

// Whether a process with this name, or with this label, is a device and no program: "MTIA 9", "Ascend Hardware", "NPU".
bool is_device_name(std::string_view name);

// CUPTI's numbers from texts like "HtoD", "Memcpy HtoD (Pageable -> Device)", "MemcpyD2D", "CopyHostToDevice"; 0: not
// known.
struct CopyWords {
  uint32_t kind = 0, source = 0, destination = 0;
};
// Of an operation whose category does not tell its kind.
GpuKind kind_by_name(std::string_view name);
CopyWords copy_words(std::string_view name, std::string_view kind);
// "Memset (Device)" -> CUPTI's memory kind.
uint32_t fill_memory_kind(std::string_view name);
// "Event Sync", "Stream Wait Event", "Context Sync" …
SyncKind sync_kind(std::string_view name);

}  // namespace prof::analyzer
