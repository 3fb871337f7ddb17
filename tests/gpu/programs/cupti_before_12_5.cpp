// Simulates a CUPTI older than CUDA 12.5, which cannot enable single driver calls: linked with a newer one, before
// which this one function is found.
#include <cupti.h>

extern "C" __attribute__((visibility("default"))) CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId, uint8_t) {
  return CUPTI_ERROR_NOT_SUPPORTED;
}
