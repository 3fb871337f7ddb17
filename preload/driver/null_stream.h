// What a null stream argument means to a function of the driver. In the program.
#pragma once

#include <cstdint>

namespace prof::preload {

enum class NullStream : uint8_t { Legacy, PerThread };

}  // namespace prof::preload
