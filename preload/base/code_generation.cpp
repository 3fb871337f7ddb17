#include "preload/base/code_generation.h"

namespace prof::preload {

std::atomic<uint64_t> g_code_generation{0};

}  // namespace prof::preload
