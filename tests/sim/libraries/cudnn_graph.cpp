// libcudnn_graph.so.9, a part of the small cuDNN: descriptors of graphs hold nothing, a plan that is executed launches "fprop" behind
// "nchwToNhwc", none where it is made as one of nothing.
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
