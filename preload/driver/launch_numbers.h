// Which function numbers of the log belong to functions that launch? A search for slow launches uses it a few times a
// second.
#pragma once

#include <cstdint>

namespace prof::preload {

// Whether the function with that number launches kernels or a graph.
bool is_launch_number(uint32_t api);

}  // namespace prof::preload
