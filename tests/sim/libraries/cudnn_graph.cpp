// libcudnn_graph.so.9, a sublibrary of the small cuDNN: descriptors of graphs store nothing; executing a plan launches
// "nchwToNhwc" and then "fprop", or nothing if the plan was made without an operation.
#include "tests/sim/libraries.h"

#define SIM_EXPORT extern "C" __attribute__((visibility("default")))

struct SimDescriptor {
  int type;
};

SIM_EXPORT int cudnnBackendCreateDescriptor(int type, SimDescriptor** made) {
  *made = new SimDescriptor{type};
  return 0;
}
SIM_EXPORT int cudnnBackendDestroyDescriptor(SimDescriptor* descriptor) {
  delete descriptor;
  return 0;
}
SIM_EXPORT int cudnnBackendSetAttribute(SimDescriptor* descriptor, int, int, int64_t count, const void* elements) {
  return descriptor == nullptr || count < 0 || elements == nullptr ? 2000 : 0;
}
SIM_EXPORT int cudnnBackendGetAttribute(SimDescriptor* descriptor, int, int, int64_t asked, int64_t* given, void*) {
  if (descriptor == nullptr) return 2000;
  *given = asked;
  return 0;
}
SIM_EXPORT int cudnnBackendExecute(void*, SimDescriptor* plan, SimDescriptor*) {
  if (plan == nullptr) return 2000;
  if (plan->type == kSimPlanOfNothing) return 0;
  const int status = sim_libraries::launch("nchwToNhwc", nullptr);
  return status != 0 ? status : sim_libraries::launch("fprop", nullptr);
}
