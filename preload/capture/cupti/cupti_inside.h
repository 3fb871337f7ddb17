// Does the program or a library of it have a CUPTI of its own, linked statically? It cannot be stepped in front of, and the driver
// lets in one of a process (second_cupti.h). Looked for in files and in mapped code, never on the record path. A thread
// that comes while another one looks is told that there is none. In the program.
#pragma once

namespace prof::preload {

// The path of the program, or of the first library, that has CUPTI's texts among its constants and calls its functions without asking the
// loader; null: none that can be found in some tens of milliseconds. Not looked into: NVIDIA's own libraries, libraries that never call
// dlsym, and constants beyond 16 MiB an object and 64 MiB in all, unless the symbol table has CUPTI's functions.
const char* object_with_own_cupti();

// Whether that is so of the object that `code` belongs to.
bool has_own_cupti(const void* code);

// The same, to explain a refusal: reads all code that is mapped. Null: none.
const char* object_with_cupti();

}  // namespace prof::preload
