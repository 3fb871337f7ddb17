// On which line is an instruction of a Python code object? python_stack.cpp calls it at the first sight of a frame. It
// decodes the three formats in which CPython stores lines, from their bytes alone. It needs no interpreter and never
// reads outside the given bytes.
#pragma once

#include "preload/stacks/python/python_layouts.h"

#include <cstdint>
#include <string_view>

namespace prof::preload {

// `offset`: of the instruction, in bytes. Negative: before the first, which is the line of the definition. Returns 0 if
// there is no line.
uint32_t python_line(LineFormat format, std::string_view table, uint32_t first_line, int64_t offset);

}  // namespace prof::preload
