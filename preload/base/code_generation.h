// How often was code unloaded (dlclose)? Facts about a code address are valid for one generation only. This code runs
// in the program.
#pragma once

#include <atomic>
#include <cstdint>

namespace prof::preload {

// Grows by one when code was unloaded (stacks/code_images.cpp).
extern std::atomic<uint64_t> g_code_generation;
inline uint64_t code_generation() { return g_code_generation.load(std::memory_order_acquire); }

}  // namespace prof::preload
