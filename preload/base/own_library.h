// Where libprof.so is, and whether it may do anything in this process. Found out once, by the constructor
// (lifecycle/load.cpp).
#pragma once

namespace prof::preload {

// Looks through the loaded libraries. Called by the constructor.
void find_own_library();

// True in a process that must not be touched: AT_SECURE, or loaded some other way than as a preload.
bool inert();  // false in test programs that link the objects

// Path of libprof.so itself; empty before the constructor ran.
const char* library_path();

}  // namespace prof::preload
