// A CUPTI that cannot be asked for single driver calls, as before CUDA 12.5: linked with a newer one, in front of which this one function stands.
#include <cupti.h>

extern "C" __attribute__((visibility("default"))) CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId, uint8_t) {
  return CUPTI_ERROR_NOT_SUPPORTED;
}
