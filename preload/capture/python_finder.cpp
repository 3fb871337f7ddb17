#include "preload/capture/python_finder.h"

#include "preload/capture/decimal.h"

#include <elf.h>
#include <link.h>

#include <cstring>

namespace prof::preload {
namespace {

struct Symbols {
  uintptr_t base = 0;
  const ElfW(Sym) * table = nullptr;
  const char* names = nullptr;
  const uint32_t* gnu = nullptr;
  const uint32_t* sysv = nullptr;
};

Symbols symbols_of(const dl_phdr_info* info) {
  Symbols symbols;
  symbols.base = info->dlpi_addr;
  const ElfW(Dyn)* entry = nullptr;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    if (segment.p_type == PT_DYNAMIC) entry = reinterpret_cast<const ElfW(Dyn)*>(info->dlpi_addr + segment.p_vaddr);
  }
  for (; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
    // glibc turns these offsets into addresses where the section is writable; the vdso's stays as it was.
    const uintptr_t at = entry->d_un.d_ptr < symbols.base ? entry->d_un.d_ptr + symbols.base : entry->d_un.d_ptr;
    switch (entry->d_tag) {
      case DT_SYMTAB: symbols.table = reinterpret_cast<const ElfW(Sym)*>(at); break;
      case DT_STRTAB: symbols.names = reinterpret_cast<const char*>(at); break;
      case DT_GNU_HASH: symbols.gnu = reinterpret_cast<const uint32_t*>(at); break;
      case DT_HASH: symbols.sysv = reinterpret_cast<const uint32_t*>(at); break;
      default: break;
    }
  }
  return symbols;
}

const void* defined(const Symbols& symbols, uint32_t index, const char* name) {
  const ElfW(Sym)& symbol = symbols.table[index];
  if (symbol.st_shndx == SHN_UNDEF || std::strcmp(symbols.names + symbol.st_name, name) != 0) return nullptr;
  return reinterpret_cast<const void*>(symbols.base + symbol.st_value);
}

const void* exported(const Symbols& symbols, const char* name) {
  if (symbols.table == nullptr || symbols.names == nullptr) return nullptr;
  if (symbols.gnu == nullptr) {
    for (uint32_t i = 1; symbols.sysv != nullptr && i < symbols.sysv[1]; ++i) {
      if (const void* const found = defined(symbols, i, name); found != nullptr) return found;
    }
    return nullptr;
  }
  uint32_t hash = 5381;
  for (const char* at = name; *at != '\0'; ++at) hash = hash * 33 + static_cast<uint8_t>(*at);
  const uint32_t buckets = symbols.gnu[0], first = symbols.gnu[1], bloom_words = symbols.gnu[2];
  if (buckets == 0) return nullptr;
  const uint32_t* const bucket = symbols.gnu + 4 + bloom_words * (sizeof(ElfW(Addr)) / 4);
  const uint32_t* const chain = bucket + buckets;
  uint32_t i = bucket[hash % buckets];
  if (i < first) return nullptr;
  for (;; ++i) {
    const uint32_t there = chain[i - first];
    if ((there | 1) == (hash | 1)) {
      if (const void* const found = defined(symbols, i, name); found != nullptr) return found;
    }
    if ((there & 1) != 0) return nullptr;
  }
}

struct Search {
  PythonInterpreter* python;
  Symbols program;
  bool first = true;
  const unsigned long* version_number = nullptr;
  const char* (*version_text)() = nullptr;
  bool found = false;
};

int look_at(dl_phdr_info* info, size_t, void* argument) {
  auto& search = *static_cast<Search*>(argument);
  const Symbols symbols = symbols_of(info);
  if (search.first) search.program = symbols, search.first = false;
  const void* const this_thread = exported(symbols, "PyGILState_GetThisThreadState");
  if (this_thread == nullptr) return 0;
  // A program that is no PIE may have taken copies of a library's variables: all then use the program's.
  const auto variable = [&](const char* name) {
    const void* const of_program = exported(search.program, name);
    return of_program != nullptr ? of_program : exported(symbols, name);
  };
  PythonInterpreter& python = *search.python;
  python = {};
  python.runtime = static_cast<const char*>(variable("_PyRuntime"));
  python.code_type = variable("PyCode_Type");
  python.bytes_type = variable("PyBytes_Type");
  python.text_type = variable("PyUnicode_Type");
  python.this_thread = reinterpret_cast<char* (*)()>(const_cast<void*>(this_thread));
  search.version_number = static_cast<const unsigned long*>(variable("Py_Version"));  // 3.11 and newer
  search.version_text = reinterpret_cast<const char* (*)()>(const_cast<void*>(exported(symbols, "Py_GetVersion")));
  search.found = python.runtime != nullptr && python.code_type != nullptr && python.bytes_type != nullptr &&
                 python.text_type != nullptr && search.version_text != nullptr;
  return search.found ? 1 : 0;
}

uint32_t number_at(const char*& at) {
  uint32_t number = 0;
  for (; *at >= '0' && *at <= '9' && number < 1000; ++at) number = number * 10 + static_cast<uint32_t>(*at - '0');
  if (*at == '.') ++at;
  return number;
}

}  // namespace

bool find_python(PythonInterpreter& python) {
  Search search;
  search.python = &python;
  dl_iterate_phdr(look_at, &search);
  if (!search.found) return false;
  uint32_t micro = 0;
  if (search.version_number != nullptr) {
    const unsigned long number = *search.version_number;
    python.major = number >> 24 & 0xff, python.minor = number >> 16 & 0xff, micro = number >> 8 & 0xff;
  } else {
    const char* text = search.version_text();
    python.major = number_at(text), python.minor = number_at(text), micro = number_at(text);
  }
  size_t size = 0;
  for (const uint32_t part : {python.major, python.minor, micro}) {
    const Decimal digits(part % 1000);
    if (size != 0) python.version[size++] = '.';
    std::memcpy(python.version + size, digits.text().data(), digits.text().size());
    size += digits.text().size();
  }
  python.version[size] = '\0';
  return true;
}

uint64_t loads_so_far() {
  uint64_t loads = 0;
  const auto read = [](dl_phdr_info* info, size_t, void* to) {
    *static_cast<uint64_t*>(to) = info->dlpi_adds;
    return 1;
  };
  dl_iterate_phdr(read, &loads);
  return loads;
}

}  // namespace prof::preload
