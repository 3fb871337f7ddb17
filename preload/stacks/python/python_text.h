// A str of Python as UTF-8, read where it lies: PyUnicode objects in their compact form, which all names in code objects have.
#pragma once

#include "preload/stacks/python/python_layouts.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace prof::preload {

inline constexpr size_t kMostPythonText = 1024;  // bytes of a name that is not ASCII; the rest is cut and counted

// Either where the text lies (ASCII is UTF-8) or in `room`, of kMostPythonText bytes. Empty: no text that can be read.
std::string_view python_text(const PythonLayout& layout, uintptr_t object, char* room);

}  // namespace prof::preload
