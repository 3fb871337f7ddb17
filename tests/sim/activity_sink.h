// What the simulated driver reports to the simulated CUPTI. libcupti finds the driver at run time (like the real one)
// through `sim_attach_sink`. Times are on the simulator's clock; CUPTI converts them to its own.
#pragma once
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/sim/clock.h"
#include "tests/sim/cuda_headers.h"

namespace sim {

enum class ApiDomain : uint32_t { Driver = 1, Runtime = 2 };

struct ApiEvent {
  ApiDomain domain;
  uint32_t cbid;
  const char* name;
  const void* params;
  const char* symbol;  // kernel name of a launch, else NULL
  CUcontext context;
  uint32_t context_id;
  uint32_t correlation;
  Ns begin, end;
  int result;
  uint64_t correlation_data;  // the subscriber's, from enter to exit
  bool watched;               // CUPTI was recording this call when it was entered
  bool inside_runtime;        // a driver call made by the CUDA runtime
};

enum class OperationKind : uint8_t {
  Kernel,
  Memcpy,
  Memset,
  HostFunc,
  EventRecord,
  EventWait,
  WriteValue,
  WaitValue,
  Marker
};

struct Dim {
  uint32_t x = 1, y = 1, z = 1;
};

struct OperationRecord {
  OperationKind kind = OperationKind::Marker;
  Ns start = 0, end = 0, queued = 0;
  uint32_t device = 0, context_id = 0, stream_id = 0, correlation = 0;
  const char* name = "";  // interned: never freed
  Dim grid, block;
  uint32_t static_shared = 0, dynamic_shared = 0;
  uint16_t registers = 0;
  uint8_t launch_type = 0;  // CUpti_ActivityLaunchType
  uint64_t bytes = 0;
  uint32_t value = 0;
  uint8_t copy_kind = 0, source_kind = 0, target_kind = 0;  // CUpti_ActivityMemcpyKind, CUpti_ActivityMemoryKind
  bool async = false, peer = false;
  uint32_t source_device = 0, target_device = 0, source_context = 0, target_context = 0;
  uint32_t graph_id = 0;
  uint64_t graph_node = 0;
  uint64_t grid_id = 0;
  uint32_t code_slot = 0;  // ModuleRecord::slot of the kernel's module
};

// A loaded module. Of a library: context is null, and every context has it.
struct ModuleRecord {
  uint32_t slot = 0;  // place of its code; the next module that is loaded after an unload has the same
  CUcontext context = nullptr;
  std::string cubin;
};

struct GraphRun {
  Ns start, end;
  uint32_t device, context_id, stream_id, correlation, graph_id;
};

enum class ResourceEvent { ContextCreated = 1, ContextDestroyStarting, StreamCreated, StreamDestroyStarting };

class ActivitySink {
 public:
  virtual ~ActivitySink() = default;
  virtual void api_enter(ApiEvent&) = 0;
  virtual void api_exit(ApiEvent&) = 0;
  virtual void operation_done(const OperationRecord&) = 0;  // called with the device locked: may only queue
  virtual void graph_done(const GraphRun&) = 0;             // likewise
  virtual void resource(ResourceEvent, CUcontext, CUstream) = 0;
  virtual bool wants_driver_calls() = 0;
  virtual void module_loaded(const ModuleRecord&) = 0;  // on the thread that loads it
};

// The functions that libcupti and libcudart look up in libcuda.so.1 by the names below. NULL detaches. Like the
// observed driver (580, CUPTI 12.1 to 13.0), it returns false for every sink except the first one, also after that one
// was detached.
using AttachSink = bool (*)(ActivitySink*);

struct RuntimeCall {  // a runtime API call in progress; it is on the caller's stack
  ApiEvent event;
  RuntimeCall* outer;
  bool traced;
};

struct DriverInternals {
  AttachSink attach;
  bool (*shows_driver_calls)();  // decided when the first context is made: see shows_driver_calls() in api_call.cpp
  uint32_t (*context_id)(CUcontext);
  uint32_t (*device_of)(CUcontext);
  uint32_t (*stream_id)(CUcontext, CUstream, bool per_thread);
  uint64_t (*node_id)(CUgraphNode);
  uint32_t (*graph_id)(CUgraph);
  uint32_t (*exec_id)(CUgraphExec);
  void (*settle)();      // retires all operations that the device has finished by now
  void (*finish_all)();  // waits, in simulated time, for all operations submitted so far
  Ns (*now)();
  uint32_t (*next_correlation)();  // the id of the next call
  void (*runtime_enter)(RuntimeCall*, uint32_t cbid, const char* name, const void* params);
  void (*runtime_exit)(RuntimeCall*, int result);
  std::vector<ModuleRecord> (*modules)();  // those that are loaded
};

}  // namespace sim
