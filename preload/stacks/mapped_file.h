// Where are the code, the unwind tables and the build-id of one mapped ELF file? code_images.cpp uses it, in the
// program. It reads the file's mapped bytes. Call it only inside dl_iterate_phdr()'s callback, where no file can be
// unmapped.
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

// Fills in the segments of the file. False: the file has no code.
bool find_segments(const dl_phdr_info& info, MappedFile& file);

// Fills in the build-id, if the file has one and `file` has none yet.
void find_build_id(const dl_phdr_info& info, MappedFile& file);

// Whether the name is that of the vDSO, which the kernel maps and which has no file on disk.
bool is_vdso(const char* name);

}  // namespace prof::preload
