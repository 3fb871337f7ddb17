// Where are the symbols, names, hash tables and versions of a mapped ELF file? This code reads the dynamic section in
// memory, inside dl_iterate_phdr(). Code that must not call dlsym() uses it. Nothing is checked, because the loader
// relied on the same words.
#pragma once

#include <elf.h>
#include <link.h>

#include <cstddef>
#include <cstdint>

namespace prof::preload {

struct ElfDynamic {
  uintptr_t base = 0;
  const ElfW(Dyn) * entries = nullptr;  // up to DT_NULL
  const ElfW(Sym) * symbols = nullptr;
  const char* strings = nullptr;
  const uint32_t* gnu_hash = nullptr;
  const uint32_t* sysv_hash = nullptr;
  const uint16_t* versions = nullptr;
  const char* definitions = nullptr;  // ElfW(Verdef) records
  size_t definition_count = 0;
  const char* soname = nullptr;
};

// Returns false if the file has no symbols.
inline bool read_dynamic(const dl_phdr_info* info, ElfDynamic& to) {
  to = {};
  to.base = info->dlpi_addr;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
      to.entries = reinterpret_cast<const ElfW(Dyn)*>(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
  }
  const ElfW(Dyn)* soname = nullptr;
  for (const ElfW(Dyn)* entry = to.entries; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
    // If the section is writable, glibc turns these offsets into addresses. The vdso keeps offsets.
    const uintptr_t at = entry->d_un.d_ptr < to.base ? entry->d_un.d_ptr + to.base : entry->d_un.d_ptr;
    switch (entry->d_tag) {
      case DT_SYMTAB: to.symbols = reinterpret_cast<const ElfW(Sym)*>(at); break;
      case DT_STRTAB: to.strings = reinterpret_cast<const char*>(at); break;
      case DT_GNU_HASH: to.gnu_hash = reinterpret_cast<const uint32_t*>(at); break;
      case DT_HASH: to.sysv_hash = reinterpret_cast<const uint32_t*>(at); break;
      case DT_VERSYM: to.versions = reinterpret_cast<const uint16_t*>(at); break;
      case DT_VERDEF: to.definitions = reinterpret_cast<const char*>(at); break;
      case DT_VERDEFNUM: to.definition_count = entry->d_un.d_val; break;
      case DT_SONAME: soname = entry; break;
      default: break;
    }
  }
  if (to.symbols == nullptr || to.strings == nullptr) return false;
  if (soname != nullptr) to.soname = to.strings + soname->d_un.d_val;
  return true;
}

}  // namespace prof::preload
