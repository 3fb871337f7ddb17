// How often was code taken away (dlclose)? What is known of an address is true for one generation alone. In the
// program.
#pragma once

#include <atomic>
#include <cstdint>

namespace prof::preload {

// Grows by one when code was taken away (stacks/code_images.cpp).
extern std::atomic<uint64_t> g_code_generation;
inline uint64_t code_generation() { return g_code_generation.load(std::memory_order_acquire); }

}  // namespace prof::preload
