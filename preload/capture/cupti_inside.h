// Does the program have a CUPTI of its own, linked statically? It cannot be stepped in front of, and two in one process take each
// other's GPU times away. Looked for in files and in mapped code, never on the record path. One thread at a time. In the program.
#pragma once

namespace prof::preload {

// The program's path if CUPTI's functions are defined in the program itself, as its symbol table says; null: they are not, or it was stripped.
const char* program_with_cupti();

// The path of the first loaded object, libcupti apart, that has a CUPTI inside: by its symbol table, or by CUPTI's own texts where that
// was stripped. Reads all code that is mapped, so only to explain a refusal. Null: none.
const char* object_with_cupti();

}  // namespace prof::preload
