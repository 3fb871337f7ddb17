// What does the environment of the process contain now? options.h reads options from it once. Facts about the job, such
// as its rank, are read when they are needed, because launchers set them after the library was loaded. Nothing else in
// preload/ reads the environment.
// This code runs in the program: no allocation, no lock. It does not use getenv(), because programs (bash) replace it.
#pragma once

#include <string_view>

namespace prof::preload {

// Entries "NAME=value"; the last one is null. Returns null if the program cleared the environment.
char** environment();

// The value after "NAME=" in the first entry of that name, NUL-terminated; null if there is none.
const char* environment_variable(std::string_view name);

}  // namespace prof::preload
