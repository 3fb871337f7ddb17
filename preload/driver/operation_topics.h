// Which topics of cuda_api.def submit operations to the GPU? Only the compiler evaluates these functions.
#pragma once

#include <string_view>

namespace prof::preload {

// Kernels and graphs.
constexpr bool is_launch_topic(std::string_view topic) {
  return topic == "Launch" || topic == "LaunchMany" || topic == "GraphLaunch";
}

// Kernels, graphs, copies and fills.
constexpr bool is_operation_topic(std::string_view topic) {
  constexpr std::string_view kMemory[] = {"CopyToHost", "CopyFromHost", "CopyNull",
                                          "CopyAsync",  "FillNull",     "FillAsync"};
  for (const std::string_view known : kMemory) {
    if (known == topic) return true;
  }
  return is_launch_topic(topic);
}

}  // namespace prof::preload
