// On which line is an instruction of a Python code object? The three formats in which CPython has kept lines, decoded from their
// bytes alone: no interpreter needed, any bytes survived. At the first sight of a frame.
#pragma once

#include "preload/stacks/python/python_layouts.h"

#include <cstdint>
#include <string_view>

namespace prof::preload {

// `offset`: of the instruction, in bytes; negative: before the first, which is the line of the definition. 0: no line.
uint32_t python_line(LineFormat format, std::string_view table, uint32_t first_line, int64_t offset);

}  // namespace prof::preload
