#include "preload/stacks/python/python_finder.h"

#include "preload/base/decimal.h"
#include "preload/base/elf_dynamic.h"
#include "preload/base/loader_call.h"

#include <cstring>

namespace prof::preload {
namespace {

const void* defined(const ElfDynamic& file, uint32_t index, const char* name, uint64_t* size) {
  const ElfW(Sym)& symbol = file.symbols[index];
  if (symbol.st_shndx == SHN_UNDEF || std::strcmp(file.strings + symbol.st_name, name) != 0) return nullptr;
  if (size != nullptr) *size = symbol.st_size;
  return reinterpret_cast<const void*>(file.base + symbol.st_value);
}

const void* exported(const ElfDynamic& file, const char* name, uint64_t* size = nullptr) {
  if (file.gnu_hash == nullptr) {
    for (uint32_t i = 1; file.sysv_hash != nullptr && i < file.sysv_hash[1]; ++i) {
      if (const void* const found = defined(file, i, name, size); found != nullptr) return found;
    }
    return nullptr;
  }
  uint32_t hash = 5381;
  for (const char* at = name; *at != '\0'; ++at) hash = hash * 33 + static_cast<uint8_t>(*at);
  const uint32_t buckets = file.gnu_hash[0], first = file.gnu_hash[1], bloom_words = file.gnu_hash[2];
  if (buckets == 0) return nullptr;
  const uint32_t* const bucket = file.gnu_hash + 4 + bloom_words * (sizeof(ElfW(Addr)) / 4);
  const uint32_t* const chain = bucket + buckets;
  uint32_t i = bucket[hash % buckets];
  if (i < first) return nullptr;
  for (;; ++i) {
    const uint32_t there = chain[i - first];
    if ((there | 1) == (hash | 1)) {
      if (const void* const found = defined(file, i, name, size); found != nullptr) return found;
    }
    if ((there & 1) != 0) return nullptr;
  }
}

struct Search {
  PythonInterpreter* python;
  ElfDynamic program;
  bool first = true;
  const unsigned long* version_number = nullptr;
  const char* (*version_text)() = nullptr;
  bool found = false;
};

int look_at(dl_phdr_info* info, size_t, void* argument) {
  auto& search = *static_cast<Search*>(argument);
  ElfDynamic file;
  if (!read_dynamic(info, file)) file = {};
  if (search.first) {
    search.program = file;
    search.first = false;
  }
  const void* const this_thread = exported(file, "PyGILState_GetThisThreadState");
  if (this_thread == nullptr) return 0;
  // If the program is no PIE, it may have copies of a library's variables. All files then use the program's copies.
  const auto variable = [&](const char* name) {
    const void* const of_program = exported(search.program, name);
    return of_program != nullptr ? of_program : exported(file, name);
  };
  PythonInterpreter& python = *search.python;
  python = {};
  python.runtime = static_cast<const char*>(variable("_PyRuntime"));
  python.code_type = variable("PyCode_Type");
  python.bytes_type = variable("PyBytes_Type");
  python.text_type = variable("PyUnicode_Type");
  python.this_thread = reinterpret_cast<char* (*)()>(const_cast<void*>(this_thread));
  python.loop = reinterpret_cast<uint64_t>(exported(file, "_PyEval_EvalFrameDefault", &python.loop_bytes));
  search.version_number = static_cast<const unsigned long*>(variable("Py_Version"));  // 3.11 and newer
  search.version_text = reinterpret_cast<const char* (*)()>(const_cast<void*>(exported(file, "Py_GetVersion")));
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
  visit_objects(look_at, &search);
  if (!search.found) return false;
  uint32_t micro = 0;
  if (search.version_number != nullptr) {
    const unsigned long number = *search.version_number;
    python.major = number >> 24 & 0xff;
    python.minor = number >> 16 & 0xff;
    micro = number >> 8 & 0xff;
  } else {
    const char* text = search.version_text();
    python.major = number_at(text);
    python.minor = number_at(text);
    micro = number_at(text);
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
  visit_objects(read, &loads);
  return loads;
}

}  // namespace prof::preload
