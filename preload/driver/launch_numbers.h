// Which of the log's function numbers are of functions that launch? For a search for slow launches, a few times a second.
#pragma once

#include <cstdint>

namespace prof::preload {

// Whether the function of that number launches kernels or a graph.
bool is_launch_number(uint32_t api);

}  // namespace prof::preload
