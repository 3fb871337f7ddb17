// Does the program or one of its libraries contain a CUPTI of its own, linked statically? Its calls cannot be
// intercepted, and the driver accepts only one per process (second_cupti.h). gpu_activity.cpp and second_cupti.cpp use
// it, in the program. It reads files and mapped code, never on the record path. A thread that calls while another one
// searches gets "none".
#pragma once

namespace prof::preload {

// The path of the program, or of the first library, that has CUPTI's texts among its constants and calls its functions
// without the loader. Null: none that can be found in some tens of milliseconds. Not searched: NVIDIA's own libraries,
// and libraries that never call dlsym. Constants beyond 16 MiB an object and 64 MiB in all are searched only if the
// symbol table has CUPTI's functions.
const char* object_with_own_cupti();

// Whether that is true of the object that `code` belongs to.
bool has_own_cupti(const void* code);

// The same, to explain a refusal: searches all mapped code. Null: none.
const char* object_with_cupti();

}  // namespace prof::preload
