// Stands in front of the CUPTI functions of cupti_api.def, so that another profiler in the program and libprof.so share one
// registration (capture/cupti/cupti_client.h). In the program; called by dlsym_answer.cpp.
#pragma once

namespace prof::preload {

// The stand-in for the function that dlsym(handle, name) would give; null: not one of ours, or not there.
void* cupti_stand_in(void* handle, const char* name);

}  // namespace prof::preload
