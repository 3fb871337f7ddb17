// How does a str of Python read as UTF-8? python_stack.cpp uses it for names. It reads PyUnicode objects in place, in
// their compact form, which all names in code objects have. It never allocates.
#pragma once

#include "preload/stacks/python/python_layouts.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace prof::preload {

inline constexpr size_t kMostPythonText = 1024;  // bytes of a name that is not ASCII; the rest is cut and counted

// Returns the text in place (ASCII is UTF-8), or in `room`, which has kMostPythonText bytes. Empty: not readable.
std::string_view python_text(const PythonLayout& layout, uintptr_t object, char* room);

}  // namespace prof::preload
