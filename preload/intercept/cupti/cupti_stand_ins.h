// Functions that replace the CUPTI functions of cupti_api.def. With them, another profiler in the program and
// libprof.so share one registration (capture/cupti/cupti_client.h). dlsym_answer.cpp calls this in the program.
#pragma once

namespace prof::preload {

// The stand-in for the function that dlsym(handle, name) would return. Null: no row has the name, or the function does
// not exist.
void* cupti_stand_in(void* handle, const char* name);
// The same for a name of CUPTI_NEW_API alone: a search by that name does not find our export.
void* new_cupti_stand_in(void* handle, const char* name);

}  // namespace prof::preload
