// The address of a function as the library itself defines it, past every preloaded library. libprof.so replaces
// dlsym(), so this code reads the symbol table of the loaded library.
#pragma once

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <cstdint>
#include <cstring>

namespace prof::bench {

inline void* direct_symbol(void* library, const char* name) {
  link_map* map = nullptr;
  if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0) return nullptr;
  const ElfW(Sym)* symbols = nullptr;
  const char* strings = nullptr;
  const uint32_t* gnu_hash = nullptr;
  for (const ElfW(Dyn)* d = map->l_ld; d->d_tag != DT_NULL; ++d) {
    if (d->d_tag == DT_SYMTAB) symbols = reinterpret_cast<const ElfW(Sym)*>(d->d_un.d_ptr);
    if (d->d_tag == DT_STRTAB) strings = reinterpret_cast<const char*>(d->d_un.d_ptr);
    if (d->d_tag == DT_GNU_HASH) gnu_hash = reinterpret_cast<const uint32_t*>(d->d_un.d_ptr);
  }
  if (symbols == nullptr || strings == nullptr || gnu_hash == nullptr) return nullptr;
  // DT_GNU_HASH: buckets, first hashed symbol, words of the Bloom filter, shift; then filter, buckets, chains.
  const uint32_t bucket_count = gnu_hash[0], first = gnu_hash[1], filter_words = gnu_hash[2];
  const uint32_t* buckets = gnu_hash + 4 + filter_words * (sizeof(ElfW(Addr)) / 4);
  const uint32_t* chains = buckets + bucket_count;
  uint32_t hash = 5381;
  for (const char* c = name; *c != 0; ++c) hash = hash * 33 + static_cast<unsigned char>(*c);
  uint32_t index = buckets[hash % bucket_count];
  if (index < first) return nullptr;
  for (;; ++index) {
    const uint32_t chain = chains[index - first];
    if ((chain | 1) == (hash | 1) && std::strcmp(strings + symbols[index].st_name, name) == 0 &&
        symbols[index].st_shndx != SHN_UNDEF) {
      return reinterpret_cast<void*>(map->l_addr + symbols[index].st_value);
    }
    if ((chain & 1) != 0) return nullptr;
  }
}

}  // namespace prof::bench
