// What does a null stream argument mean to a function of the driver? Used by hooks, in the program.
#pragma once

#include <cstdint>

namespace prof::preload {

enum class NullStream : uint8_t { Legacy, PerThread };

}  // namespace prof::preload
