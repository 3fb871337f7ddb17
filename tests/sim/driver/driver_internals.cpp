// The interface of the driver for the simulated libcupti and libcudart: one table, found by dlsym.
#include "tests/sim/api_call.h"
#include "tests/sim/device.h"
#include "tests/sim/graph.h"

namespace sim {
namespace {

uint32_t context_id(CUcontext context) {
  return context == nullptr ? current_context_id() : object<Context>(context)->id;
}
uint32_t device_of(CUcontext context) {
  const Context* one = context == nullptr ? current_context() : object<Context>(context);
  return one == nullptr ? 0 : static_cast<uint32_t>(one->device->ordinal);
}
uint32_t stream_id(CUcontext context, CUstream stream, bool per_thread) {
  const Stream* one =
      resolve_stream_in(context == nullptr ? current_context() : object<Context>(context), stream, per_thread);
  return one == nullptr ? 0 : one->cupti_id;
}
uint64_t graph_node_id(CUgraphNode node) { return node_id(object<Node>(node)); }
uint32_t graph_id(CUgraph graph) { return object<Graph>(graph)->id; }
uint32_t exec_id(CUgraphExec exec) { return object<Exec>(exec)->graph->id; }

void finish_all() {
  Lock lock(device_mutex());
  wait_for_everything(lock);
}

}  // namespace
}  // namespace sim

extern "C" SIM_EXPORT const sim::DriverInternals* sim_driver_internals() {
  static const sim::DriverInternals table = {
      sim::attach_sink,   sim::shows_driver_calls, sim::context_id,    sim::device_of,     sim::stream_id,
      sim::graph_node_id, sim::graph_id,           sim::exec_id,       sim::settle_device, sim::finish_all,
      sim::now_ns,        sim::next_correlation,   sim::runtime_enter, sim::runtime_exit,  sim::loaded_modules};
  return &table;
}
