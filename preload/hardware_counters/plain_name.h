// The qualified name of a C++ function out of its mangled one: "_ZN2at6native3addEf" is "at::native::add", "_Z3addPKf" is "add". In the program,
// where no demangler is; enough to know a kernel by the name it was written with.
#pragma once

#include <cstddef>
#include <string_view>

namespace prof::preload {

// Written into `buffer`. Empty: not mangled like this (another language, an operator, a substitution), or longer than the buffer.
std::string_view plain_name(std::string_view mangled, char* buffer, size_t size);

}  // namespace prof::preload
