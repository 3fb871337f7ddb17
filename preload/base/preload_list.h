// What does LD_PRELOAD name? A list of libraries, separated by colons or spaces. This code runs in the program, also
// between vfork and exec: it allocates nothing and writes only where the caller says.
#pragma once

#include <cstddef>
#include <string_view>

namespace prof::preload {

constexpr std::string_view kPreloadVariable = "LD_PRELOAD=";

// The next library of the list, which is removed from `rest`. Empty at the end.
std::string_view next_preload(std::string_view& rest);

// Whether an entry names the library at `path`: by that path, or with $ORIGIN, $LIB or $PLATFORM and the same file
// name.
bool names_library(std::string_view entry, std::string_view path);

// The part of a path after its last slash.
std::string_view file_name(std::string_view path);

// Copies the list without the entries that name the library at `path`. `to` has room for list.size() characters.
// Returns the size of the copy.
size_t copy_without(std::string_view list, std::string_view path, char* to);

}  // namespace prof::preload
