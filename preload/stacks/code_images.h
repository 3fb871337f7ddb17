// Which ELF files are mapped, since when, and what do their unwind tables contain? call_stack.cpp, native_stack.cpp and
// the dlclose hook use it, in the program. The loader's list is read at the first unknown code address and after a
// dlclose. Every file becomes an ImageDef of the log. Unloading code starts a new generation, so an address is never
// resolved by a file that was mapped later.
//
// The table is changed only inside dl_iterate_phdr()'s callback, under the loader's own lock. It needs no lock of its
// own, and no file can be unmapped while its unwind tables are read.
#pragma once

#include "preload/base/code_generation.h"
#include "preload/stacks/cfi.h"
#include "preload/stacks/unwind_rule.h"

#include <cstdint>

namespace prof::preload {

// The rule of the code at `pc` (inside the instruction that is being executed), read from the loader's list and stored
// in g_rules under `key`. A signal handler that interrupted this function must not call it (ThreadState::learning).
UnwindRule learn_rule(uint64_t pc, uint64_t key);

// The same with the function of that code. It is not stored.
UnwindEntry look_up_entry(uint64_t pc);

// Whether files were mapped since this Unknown rule was stored. A new file may contain the address.
bool is_outdated(UnwindRule unknown);

// Writes the ImageDef and ImageGone records that are due. The caller is inside a scope.
void define_images();

// Called after a dlclose: checks whether files were unmapped. Most calls of dlclose unmap nothing.
void look_for_unloaded();

// Called when a recording starts: allocates the tables and clears them. False: no memory.
bool open_images();
void write_images_again();  // into the log of another recording of the process

}  // namespace prof::preload
