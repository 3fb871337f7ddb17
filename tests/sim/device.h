// The scripted device: operations on streams, when each starts and ends, and what happens when it ends.
//
//   submit() -> pending (a dependency has no end yet) -> timed (start and end known) -> retired (clock passed the end:
//               its effect on memory is done, CUPTI is informed, waiters wake)
//
// An operation starts when its call has returned (plus the launch latency) and everything it depends on has ended: the
// previous one on the stream, events waited for, and the legacy stream's barrier. Streams never slow each other down.
#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "tests/sim/activity_sink.h"
#include "tests/sim/objects.h"

namespace sim {

struct Work {  // the operation to run; a graph node keeps one too
  OperationRecord record;
  Ns duration = 0;
  bool overlaps = false;
  bool asserts = false;
  bool recorded = true;             // by CUPTI
  std::function<void()> effect;     // on memory, when the operation ends
  std::function<void()> callback;   // the program's host function, run on the driver's callback thread
  std::function<bool()> condition;  // the operation ends when this holds
};

struct Operation {
  Work work;
  uint64_t sequence = 0;
  Stream* stream = nullptr;
  std::vector<OperationPtr> after;
  Ns ready = 0, start = 0, end = 0;
  bool timed = false, posted = false, called_back = false, retired = false;
  std::function<void(const Operation&)> on_retire;  // with the device locked
};

using Lock = std::unique_lock<std::mutex>;

// The caller holds the lock. `graph_after` replaces the stream order for operations inside a graph launch.
OperationPtr submit_locked(Lock& lock, Stream* stream, Work work, std::vector<OperationPtr> extra = {});
OperationPtr submit_in_graph_locked(Stream* stream, Work work, std::vector<OperationPtr> after, Ns ready);
std::vector<OperationPtr> stream_dependencies_locked(Stream* stream);
void adopt_tail_locked(Stream* stream, OperationPtr operation);
Ns ready_time();

void wait_for(Lock& lock, OperationPtr operation);  // advances the clock, runs other retirements; NULL returns at once
void wait_for_stream(Lock& lock, Stream* stream);
void wait_for_context(Lock& lock, Context* context);
void wait_for_everything(Lock& lock);
void limit_outstanding(Lock& lock, Stream* stream);

// The error that an assertion of a kernel left: every later call that uses the device returns it, nothing more runs.
CUresult device_error();

// The first call that sets up the driver, or the first context, takes wall time, and other threads that make it wait.
// One thread alone cannot notice, so it does not wait.
enum class FirstCall { Init, Context };
void take_first_call_time(FirstCall which);

void settle_device();  // retires what has ended by now
CUcontext current_context_handle();
uint32_t current_context_id();
Ns rest_of_call_ns();
bool attach_sink(ActivitySink* sink);
std::vector<ModuleRecord> loaded_modules();
uint32_t slot_of(const struct Function& function);  // of its code; with the device locked or not at all
bool shows_driver_calls();
void decide_on_driver_calls();  // a context is about to be made
void runtime_enter(RuntimeCall* call, uint32_t cbid, const char* name, const void* params);
void runtime_exit(RuntimeCall* call, int result);

// Submits to a capture or to the device, depending on the stream. `sync`: the call returns after the operation. `raw`
// (an Arguments, graph.h) is what cuGraphXxxNodeGetParams returns.
struct NodeArguments;
CUresult perform(Stream* stream, Work work, bool sync, const NodeArguments* raw);

}  // namespace sim
