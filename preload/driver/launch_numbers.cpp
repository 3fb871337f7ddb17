#include "preload/driver/launch_numbers.h"

#include "preload/driver/api.h"

namespace prof::preload {

bool is_launch_number(uint32_t api) {
  static constexpr bool kLaunches[] = {
#define CUDA_API(name, ...) Row<Api::name>::kIsLaunch,
#include "preload/driver/cuda_api.def"
#undef CUDA_API
  };
  for (size_t row = 0; row < kApiCount; ++row) {
    if (kLaunches[row] && api != 0 && g_driver_rows[row].number.load(std::memory_order_relaxed) == api) return true;
  }
  return false;
}

}  // namespace prof::preload
