// The environment of the process as it is now. Options are read from it once (options.h); facts about the job, such as its rank and
// what a launcher sets after the library was loaded, are read when they are needed. Nothing else in preload/ reads the environment.
// In the program: no allocation, no lock; libc's own reader is not used, because programs (bash) replace it.
#pragma once

#include <string_view>

namespace prof::preload {

// Entries "NAME=value", the last one null. Null: the program cleared it.
char** environment();

// What follows "NAME=" in the first entry of that name, NUL-terminated; null: there is none.
const char* environment_variable(std::string_view name);

}  // namespace prof::preload
