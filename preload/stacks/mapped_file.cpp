#include "preload/stacks/mapped_file.h"

#include <elf.h>
#include <link.h>

#include <cstddef>
#include <cstring>

namespace prof::preload {

namespace {

void read_build_id(const uint8_t* at, size_t size, MappedFile& file) {
  while (size >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, at, sizeof note);
    const size_t name = (size_t{note.n_namesz} + 3) & ~size_t{3}, contents = (size_t{note.n_descsz} + 3) & ~size_t{3};
    if (name > size - sizeof note || contents > size - sizeof note - name) return;
    const uint8_t* const text = at + sizeof note;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(text, "GNU", 4) == 0) {
      file.build_id_bytes = note.n_descsz < sizeof file.build_id ? note.n_descsz : sizeof file.build_id;
      std::memcpy(file.build_id, text + name, file.build_id_bytes);
      return;
    }
    at += sizeof note + name + contents;
    size -= sizeof note + name + contents;
  }
}

}  // namespace

bool is_vdso(const char* name) {
  return std::strncmp(name, "linux-vdso", 10) == 0 || std::strncmp(name, "linux-gate", 10) == 0;
}

bool find_segments(const dl_phdr_info& info, MappedFile& file) {
  file.base = info.dlpi_addr;
  file.begin = UINT64_MAX;
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info.dlpi_phdr[i];
    const uint64_t from = info.dlpi_addr + segment.p_vaddr, to = from + segment.p_memsz;
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0) {
      if (from < file.begin) file.begin = from;
      if (to > file.end) file.end = to;
    } else if (segment.p_type == PT_GNU_EH_FRAME) {
      file.tables.header = reinterpret_cast<const uint8_t*>(from);
    }
  }
  if (file.begin >= file.end) return false;
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info.dlpi_phdr[i];
    const auto* const from = reinterpret_cast<const uint8_t*>(info.dlpi_addr + segment.p_vaddr);
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_R) == 0) continue;
    // Only the bytes of the file count: the memory after them may end inside the last page.
    const uint8_t* const to = from + segment.p_filesz;
    if (file.tables.header >= from && file.tables.header < to) {
      file.tables.begin = from;
      file.tables.end = to;
    }
  }
  return true;
}

void find_build_id(const dl_phdr_info& info, MappedFile& file) {
  for (int i = 0; i < info.dlpi_phnum && file.build_id_bytes == 0; ++i) {
    const ElfW(Phdr)& segment = info.dlpi_phdr[i];
    if (segment.p_type != PT_NOTE || (segment.p_align != 4 && segment.p_align > 1)) continue;
    read_build_id(reinterpret_cast<const uint8_t*>(info.dlpi_addr + segment.p_vaddr), segment.p_filesz, file);
  }
}

}  // namespace prof::preload
