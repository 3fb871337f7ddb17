// Which ELF files are mapped, since when, and what do their unwind tables say? The loader's list is read at the first code
// address that nobody knows yet, and after a dlclose. Every file becomes an ImageDef of the log; taking code away begins a new
// generation, so that an address is never read by a file that came later. In the program.
//
// All of the table is changed inside dl_iterate_phdr()'s callback, under the loader's own lock: no lock of ours, and no file can
// be unmapped while its unwind tables are being read.
#pragma once

#include "preload/base/code_generation.h"
#include "preload/stacks/unwind_rule.h"

#include <cstdint>

namespace prof::preload {

// The rule of the code at `pc` (inside the instruction being executed), read from the loader's list and kept in g_rules under
// `key`. Not for a signal handler that came in between (ThreadState::learning).
UnwindRule learn_rule(uint64_t pc, uint64_t key);

// An Unknown rule was true for the files seen until then: a file that came later may be at that place.
bool is_outdated(UnwindRule unknown);

// Writes ImageDef and ImageGone records that are due. The caller is inside a scope.
void define_images();

// Behind a dlclose: were files unmapped? (A dlclose mostly takes nothing away.)
void look_for_unloaded();

// A new life begins: memory for the tables (once), and nothing of an earlier log is known. False: no memory.
bool open_images();
void write_images_again();  // into the log of another part of the run

}  // namespace prof::preload
