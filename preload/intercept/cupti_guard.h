// Stands in front of the CUPTI functions of cupti_api.def (see there). In the program; called by dlsym_answer.cpp.
#pragma once

namespace prof::preload {

// The stand-in for CUPTI's `name` of the library behind `handle`; null where the name is none of them or is not found.
void* cupti_guard(void* handle, const char* name);

}  // namespace prof::preload
