// What is the qualified name of a C++ function, by its mangled name? "_ZN2at6native3addEf" is "at::native::add",
// "_Z3addPKf" is "add". counter_work.cpp uses it, in the program, where there is no demangler. It is enough to
// recognise a kernel by its name in the source.
#pragma once

#include <cstddef>
#include <string_view>

namespace prof::preload {

// Writes the name to `buffer`. Empty: the name has another form (another language, an operator, a substitution), or it
// is longer than the buffer.
std::string_view plain_name(std::string_view mangled, char* buffer, size_t size);

}  // namespace prof::preload
