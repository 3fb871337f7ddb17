#include "preload/base/image.h"

#include "preload/base/elf_dynamic.h"
#include "preload/base/loader_call.h"

#include <sys/auxv.h>

#include <cstring>

namespace prof::preload {
namespace {

struct Image : ElfDynamic {
  size_t count = 0;  // symbols
};

// The GNU hash table does not contain the number of symbols. The end of the last chain gives it.
size_t count_of_gnu_hash(const uint32_t* table) {
  const uint32_t buckets = table[0], first = table[1], bloom_words = table[2];
  const uint32_t* const bucket = table + 4 + bloom_words * (sizeof(ElfW(Addr)) / 4);
  const uint32_t* const chain = bucket + buckets;
  uint32_t last = 0;
  for (uint32_t i = 0; i < buckets; ++i) last = bucket[i] > last ? bucket[i] : last;
  if (last < first) return first;
  while ((chain[last - first] & 1) == 0) ++last;
  return last + 1;
}

bool read_image(const dl_phdr_info* info, Image& image) {
  if (!read_dynamic(info, image)) return false;
  image.count = image.sysv_hash != nullptr  ? image.sysv_hash[1]
                : image.gnu_hash != nullptr ? count_of_gnu_hash(image.gnu_hash)
                                            : 0;
  return true;
}

bool starts_with(const char* text, const char* prefix) { return std::strncmp(text, prefix, std::strlen(prefix)) == 0; }

void visit_symbols(const Image& image, VisitSymbol visit, void* context) {
  constexpr uint16_t kHiddenVersion = 0x8000;
  for (size_t i = 1; i < image.count; ++i) {
    const ElfW(Sym)& symbol = image.symbols[i];
    const unsigned type = symbol.st_info & 0xf, binding = symbol.st_info >> 4;
    if (symbol.st_shndx == SHN_UNDEF || type != STT_FUNC || (binding != STB_GLOBAL && binding != STB_WEAK)) continue;
    if (image.versions != nullptr && (image.versions[i] & kHiddenVersion) != 0) continue;
    visit(context, image.strings + symbol.st_name, reinterpret_cast<void*>(image.base + symbol.st_value));
  }
}

struct Wanted {
  const char* soname;
  VisitSymbol visit;
  void* context;
  uintptr_t found;
};

int look_for_soname(dl_phdr_info* info, size_t, void* argument) {
  auto& wanted = *static_cast<Wanted*>(argument);
  Image image;
  if (!read_image(info, image) || image.soname == nullptr || !starts_with(image.soname, wanted.soname)) return 0;
  wanted.found = image.base;
  visit_symbols(image, wanted.visit, wanted.context);
  return 1;
}

struct CallingObject {
  uintptr_t at;
  const char* soname;
  char needed[64];
};

int look_for_caller(dl_phdr_info* info, size_t, void* argument) {
  auto& caller = *static_cast<CallingObject*>(argument);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    const uintptr_t from = info->dlpi_addr + segment.p_vaddr;
    if (segment.p_type != PT_LOAD || caller.at < from || caller.at >= from + segment.p_memsz) continue;
    Image image;
    if (!read_image(info, image)) return 1;
    for (const ElfW(Dyn)* entry = image.entries; entry->d_tag != DT_NULL; ++entry) {
      if (entry->d_tag != DT_NEEDED) continue;
      const char* const name = image.strings + entry->d_un.d_val;
      if (starts_with(name, caller.soname) && std::strlen(name) < sizeof caller.needed)
        std::strcpy(caller.needed, name);
    }
    return 1;
  }
  return 0;
}

bool around(const dl_phdr_info* info, uintptr_t address) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    const uintptr_t from = info->dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && address >= from && address < from + segment.p_memsz) return true;
  }
  return false;
}

bool defines_version(const Image& image, const char* version) {
  const char* at = image.definitions;
  for (size_t i = 0; at != nullptr && i < image.definition_count; ++i) {
    const auto& definition = *reinterpret_cast<const ElfW(Verdef)*>(at);
    const auto& name = *reinterpret_cast<const ElfW(Verdaux)*>(at + definition.vd_aux);
    if (std::strcmp(image.strings + name.vda_name, version) == 0) return true;
    if (definition.vd_next == 0) break;
    at += definition.vd_next;
  }
  return false;
}

void keep(LoadedLibrary& library, const dl_phdr_info* info) {
  library.base = info->dlpi_addr;
  library.path[0] = '\0';
  if (info->dlpi_name != nullptr && std::strlen(info->dlpi_name) < sizeof library.path)
    std::strcpy(library.path, info->dlpi_name);
}

struct VersionSearch {
  const char* version;
  const char* needed;  // soname that the caller was linked with; empty: not known
  LoadedLibrary* chosen;
  size_t found;
  bool by_name;
};

int look_for_version(dl_phdr_info* info, size_t, void* argument) {
  auto& search = *static_cast<VersionSearch*>(argument);
  Image image;
  if (around(info, reinterpret_cast<uintptr_t>(&look_for_version)) || !read_image(info, image) ||
      !defines_version(image, search.version)) {
    return 0;
  }
  const bool by_name = image.soname != nullptr && std::strcmp(image.soname, search.needed) == 0;
  if (search.found++ == 0 || (by_name && !search.by_name)) keep(*search.chosen, info);
  search.by_name |= by_name;
  return 0;
}

struct AroundSearch {
  uintptr_t address;
  const char* const* versions;
  size_t count;
  bool* defines;
  LoadedLibrary* found;
};

int look_around(dl_phdr_info* info, size_t, void* argument) {
  auto& search = *static_cast<AroundSearch*>(argument);
  if (!around(info, search.address)) return 0;
  keep(*search.found, info);
  Image image;
  if (!read_image(info, image)) return 1;
  for (size_t i = 0; i < search.count; ++i) search.defines[i] = defines_version(image, search.versions[i]);
  return 1;
}

struct OneName {
  const char* name;
  void* address;
};
void take_one(void* context, const char* symbol, void* address) {
  auto& looking = *static_cast<OneName*>(context);
  if (std::strcmp(symbol, looking.name) == 0) looking.address = address;
}

struct OneAround {
  uintptr_t address;
  OneName one;
};
int look_for_one_around(dl_phdr_info* info, size_t, void* argument) {
  auto& search = *static_cast<OneAround*>(argument);
  if (!around(info, search.address)) return 0;
  Image image;
  if (read_image(info, image)) visit_symbols(image, take_one, &search.one);
  return 1;
}

}  // namespace

uintptr_t visit_exports(const char* soname, VisitSymbol visit, void* context) {
  Wanted wanted = {soname, visit, context, 0};
  visit_objects(look_for_soname, &wanted);
  return wanted.found;
}

void* exported_for_caller(const void* caller_address, const char* soname, const char* name) {
  CallingObject caller = {reinterpret_cast<uintptr_t>(caller_address), soname, {}};
  visit_objects(look_for_caller, &caller);
  OneName one = {name, nullptr};
  if (caller.needed[0] != '\0') visit_exports(caller.needed, take_one, &one);
  if (one.address == nullptr) visit_exports(soname, take_one, &one);
  return one.address;
}

void* exported_around(const void* address, const char* name) {
  OneAround search = {reinterpret_cast<uintptr_t>(address), {name, nullptr}};
  visit_objects(look_for_one_around, &search);
  return search.one.address;
}

void* vdso_function(const char* name) {
  const auto* const header = reinterpret_cast<const ElfW(Ehdr)*>(getauxval(AT_SYSINFO_EHDR));
  if (header == nullptr) return nullptr;
  const auto at = reinterpret_cast<uintptr_t>(header);
  dl_phdr_info info{};
  info.dlpi_phdr = reinterpret_cast<const ElfW(Phdr)*>(at + header->e_phoff);
  info.dlpi_phnum = header->e_phnum;
  for (int i = info.dlpi_phnum; i-- > 0;) {
    if (info.dlpi_phdr[i].p_type == PT_LOAD)
      info.dlpi_addr = at + info.dlpi_phdr[i].p_offset - info.dlpi_phdr[i].p_vaddr;
  }
  OneName one = {name, nullptr};
  if (Image image; read_image(&info, image)) visit_symbols(image, take_one, &one);
  return one.address;
}

size_t libraries_with_version(const char* version, const void* caller_address, const char* soname,
                              LoadedLibrary& chosen) {
  CallingObject caller = {reinterpret_cast<uintptr_t>(caller_address), soname, {}};
  visit_objects(look_for_caller, &caller);
  VersionSearch search = {version, caller.needed, &chosen, 0, false};
  visit_objects(look_for_version, &search);
  return search.found;
}

LoadedLibrary library_around(const void* address, const char* const* versions, size_t count, bool* defines) {
  LoadedLibrary found;
  for (size_t i = 0; i < count; ++i) defines[i] = false;
  AroundSearch search = {reinterpret_cast<uintptr_t>(address), versions, count, defines, &found};
  visit_objects(look_around, &search);
  return found;
}

}  // namespace prof::preload
