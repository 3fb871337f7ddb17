#include "preload/driver/launch_numbers.h"

#include "preload/driver/api.h"

#include <type_traits>

namespace prof::preload {

bool is_launch_number(uint32_t api) {
  static constexpr bool kLaunches[] = {
#define CUDA_API(name, about)                                                                       \
  std::is_same_v<topic::about, topic::Launch> || std::is_same_v<topic::about, topic::LaunchMany> || \
      std::is_same_v<topic::about, topic::GraphLaunch>,
#include "preload/driver/cuda_api.def"
#undef CUDA_API
  };
  for (size_t row = 0; row < kApiCount; ++row) {
    if (kLaunches[row] && api != 0 && g_driver_rows[row].number.load(std::memory_order_relaxed) == api) return true;
  }
  return false;
}

}  // namespace prof::preload
