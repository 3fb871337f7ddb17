// What the loader tells of one mapped ELF file: where its code is, where its unwind tables are, and its build-id. Reads the file's
// mapped bytes, so it is called inside dl_iterate_phdr()'s callback, where no file can be unmapped. In the program.
#pragma once

#include "preload/stacks/cfi.h"

#include <link.h>

#include <cstdint>

namespace prof::preload {

struct MappedFile {
  uint64_t base, begin, end;  // load bias; executable segments, first to last
  UnwindTables tables;
  uint8_t build_id[32];  // cut if longer
  uint32_t build_id_bytes;
};

// Segments of the file; false: it has no code.
bool find_segments(const dl_phdr_info& info, MappedFile& file);

// The build-id too, if the file has one and `file` none yet.
void find_build_id(const dl_phdr_info& info, MappedFile& file);

// The kernel's file, which is nowhere on a disk.
bool is_vdso(const char* name);

}  // namespace prof::preload
