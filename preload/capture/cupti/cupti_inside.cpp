#include "preload/capture/cupti/cupti_inside.h"

#include "preload/base/elf_dynamic.h"
#include "preload/base/loader_call.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <initializer_list>

namespace prof::preload {
namespace {

constexpr char kFunction[] = "cuptiActivityEnable";  // every profiler that collects GPU times calls it
// Texts of CUPTI's table of results, since CUDA 11.2; they are near each other. Stubs that open a libcupti contain the
// function's name without these texts.
constexpr char kText[] = "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED";
constexpr char kTextNear[] = "CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED_ON_NON_P2P_DEVICES";
constexpr size_t kNear = size_t{1} << 16;
constexpr size_t kMostNames = 8;  // that end like the function's
// Bytes that may be read before any refusal: of one object's constants, and of all files and constants. That takes
// milliseconds from the page cache.
constexpr size_t kMostOfOne = size_t{16} << 20, kMostOfAll = size_t{64} << 20;
char g_path[1024];

using Header = ElfW(Ehdr);
using Section = ElfW(Shdr);
using Symbol = ElfW(Sym);

// Reads piece by piece: if a mapped file is truncated, an access to it kills the program.
class ElfReader {
 public:
  explicit ElfReader(const char* path) : fd_(open(path, O_RDONLY | O_CLOEXEC)) {}
  ~ElfReader() {
    if (fd_ >= 0) close(fd_);
  }
  ElfReader(const ElfReader&) = delete;
  ElfReader& operator=(const ElfReader&) = delete;

  // Whether the file has a function of that name, exported or not. At most `most` bytes of names are searched.
  bool defines(const char* name, size_t size, size_t most) {
    Header head;
    Section symbols, names;
    if (!header(head)) return false;
    for (uint32_t i = 0; i < head.e_shnum && section(head, i, symbols); ++i) {
      if (symbols.sh_type == SHT_SYMTAB && section(head, symbols.sh_link, names))
        return names.sh_size <= most && defines_in(symbols, names, name, size);
    }
    return false;
  }
  // The section of its constants, with addresses relative to the file. Empty: the file has no such section.
  Section constants() {
    constexpr char kName[] = ".rodata";
    char name[sizeof kName];
    Header head;
    Section names, one;
    if (!header(head) || !section(head, head.e_shstrndx, names)) return {};
    for (uint32_t i = 0; i < head.e_shnum && section(head, i, one); ++i) {
      if (one.sh_type == SHT_PROGBITS && read_at(names.sh_offset + one.sh_name, name, sizeof name) &&
          std::memcmp(name, kName, sizeof name) == 0)
        return one;
    }
    return {};
  }

 private:
  static constexpr size_t kPiece = size_t{1} << 16;

  bool header(Header& to) {
    return fd_ >= 0 && read_at(0, &to, sizeof to) && std::memcmp(to.e_ident, ELFMAG, SELFMAG) == 0 &&
           to.e_shentsize == sizeof(Section);
  }
  bool read_at(uint64_t offset, void* to, size_t size) {
    return pread(fd_, to, size, static_cast<off_t>(offset)) == static_cast<ssize_t>(size);
  }
  bool section(const Header& head, uint32_t number, Section& to) {
    return number < head.e_shnum && read_at(head.e_shoff + uint64_t{number} * sizeof to, &to, sizeof to);
  }
  bool defines_in(const Section& symbols, const Section& names, const char* name, size_t size) {
    uint64_t places[kMostNames];  // other names may end with this one, and share its bytes
    size_t count = 0;
    for (uint64_t begin = 0; begin < names.sh_size && count < kMostNames; begin += kPiece - size) {
      const size_t piece = static_cast<size_t>(names.sh_size - begin < kPiece ? names.sh_size - begin : kPiece);
      if (!read_at(names.sh_offset + begin, piece_, piece)) return false;
      const char* at = piece_;
      while (count < kMostNames) {
        at = static_cast<const char*>(memmem(at, static_cast<size_t>(piece_ + piece - at), name, size));
        if (at == nullptr) break;
        places[count++] = begin + static_cast<uint64_t>(at++ - piece_);
      }
      if (piece < kPiece) break;
    }
    if (count == 0) return false;
    constexpr uint64_t kSymbols = kPiece / sizeof(Symbol);
    for (uint64_t left = symbols.sh_size / sizeof(Symbol), offset = symbols.sh_offset; left != 0;) {
      const uint64_t here = left < kSymbols ? left : kSymbols;
      if (!read_at(offset, piece_, static_cast<size_t>(here * sizeof(Symbol)))) return false;
      for (uint64_t i = 0; i < here; ++i) {
        Symbol symbol;
        std::memcpy(&symbol, piece_ + i * sizeof symbol, sizeof symbol);
        if (symbol.st_shndx == SHN_UNDEF || (symbol.st_info & 15) != STT_FUNC) continue;
        for (size_t place = 0; place < count; ++place) {
          if (symbol.st_name == places[place]) return true;
        }
      }
      left -= here;
      offset += here * sizeof(Symbol);
    }
    return false;
  }

  int fd_;
  static inline char piece_[kPiece];
};

bool contains(const dl_phdr_info& info, uintptr_t at) {
  for (uint32_t i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info.dlpi_phdr[i];
    const uintptr_t begin = info.dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_LOAD && (part.p_flags & PF_R) != 0 && at >= begin && at - begin < part.p_filesz) return true;
  }
  return false;
}

bool has_texts(const char* begin, size_t size) {
  const char* const end = begin + size;
  for (const char* at = begin; at < end; ++at) {
    at = static_cast<const char*>(memmem(at, static_cast<size_t>(end - at), kText, sizeof kText));
    if (at == nullptr) return false;
    const char* const from = static_cast<size_t>(at - begin) > kNear ? at - kNear : begin;
    const char* const to = static_cast<size_t>(end - at) > kNear ? at + kNear : end;
    if (memmem(from, static_cast<size_t>(to - from), kTextNear, sizeof kTextNear) != nullptr) return true;
  }
  return false;
}

// Searches the mapped, read-only segments of the object's file.
bool has_texts_anywhere(const dl_phdr_info& info) {
  for (uint32_t i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info.dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_R) == 0 || (part.p_flags & PF_W) != 0) continue;
    if (has_texts(reinterpret_cast<const char*>(info.dlpi_addr + part.p_vaddr), part.p_filesz)) return true;
  }
  return false;
}

struct MappedObject {
  const dl_phdr_info& info;
  bool program;
};

// Every CUPTI finds the driver by dlsym.
bool imports_dlsym(const ElfDynamic& object) {
  const uint32_t end = object.gnu_hash != nullptr    ? object.gnu_hash[1]  // imported symbols come first
                       : object.sysv_hash != nullptr ? object.sysv_hash[1]
                                                     : 0;
  for (uint32_t i = 1; i < end; ++i) {
    const ElfW(Sym)& symbol = object.symbols[i];
    if (symbol.st_shndx == SHN_UNDEF && std::strcmp(object.strings + symbol.st_name, "dlsym") == 0) return true;
  }
  return false;
}

bool exports(const ElfDynamic& object, const char* name) {
  if (object.gnu_hash == nullptr) return false;
  uint32_t hash = 5381;
  for (const char* at = name; *at != 0; ++at) hash = hash * 33 + static_cast<unsigned char>(*at);
  const uint32_t buckets = object.gnu_hash[0], first = object.gnu_hash[1], bloom_words = object.gnu_hash[2];
  const uint32_t* const bucket = object.gnu_hash + 4 + bloom_words * (sizeof(ElfW(Addr)) / 4);
  const uint32_t* const chain = bucket + buckets;
  for (uint32_t i = buckets == 0 ? 0 : bucket[hash % buckets]; i >= first && i != 0; ++i) {
    const uint32_t one = chain[i - first];
    if ((one | 1) == (hash | 1) && std::strcmp(object.strings + object.symbols[i].st_name, name) == 0)
      return object.symbols[i].st_shndx != SHN_UNDEF;
    if ((one & 1) != 0) break;
  }
  return false;
}

// NVIDIA's libraries contain no CUPTI of their own, and more constants than all others.
bool is_nvidias(const char* path) {
  const char* const slash = std::strrchr(path, '/');
  const char* const name = slash == nullptr ? path : slash + 1;
  for (const char* const prefix : {"libcu", "libnv", "libnccl"}) {
    if (std::strncmp(name, prefix, std::strlen(prefix)) == 0) return true;
  }
  return false;
}

bool has_cupti(const MappedObject& object, const char* path, size_t& left) {
  ElfDynamic dynamic;
  if (!object.program) {
    if (is_nvidias(path) || !read_dynamic(&object.info, dynamic) || !imports_dlsym(dynamic)) return false;
    if (exports(dynamic, kFunction)) return false;  // its own calls reach our stand-ins
  }
  ElfReader file(path);
  const ElfW(Shdr) constants = file.constants();
  const uintptr_t begin = object.info.dlpi_addr + constants.sh_addr;
  if (constants.sh_size == 0 || !contains(object.info, begin) || !contains(object.info, begin + constants.sh_size - 1))
    return false;
  if (constants.sh_size > kMostOfOne || constants.sh_size > left) {
    if (!file.defines(kFunction, sizeof kFunction, kMostOfAll)) return false;
  } else {
    left -= constants.sh_size;
  }
  return has_texts(reinterpret_cast<const char*>(begin), constants.sh_size);
}

struct InsideSearch {
  bool (*found)(const MappedObject&, const char* path, size_t& left);
  const void* code = nullptr;  // in the only object to search; null: all
  size_t left = kMostOfAll;
  bool program_seen = false;
};

int look_inside(dl_phdr_info* info, size_t, void* argument) {
  auto& search = *static_cast<InsideSearch*>(argument);
  if (contains(*info, reinterpret_cast<uintptr_t>(kText))) return 0;  // this library, which has the stand-ins
  const bool meant = search.code == nullptr || contains(*info, reinterpret_cast<uintptr_t>(search.code));
  const char* path = info->dlpi_name == nullptr ? "" : info->dlpi_name;
  const bool program = path[0] == 0;
  if (program) {
    if (search.program_seen) return 0;  // the vDSO
    search.program_seen = true;
    const ssize_t size = readlink("/proc/self/exe", g_path, sizeof g_path - 1);
    g_path[size > 0 ? size : 0] = 0;
  } else {
    const char* const slash = std::strrchr(path, '/');
    if (std::strncmp(slash == nullptr ? path : slash + 1, "libcupti", 8) == 0) return 0;
    std::strncpy(g_path, path, sizeof g_path - 1);
  }
  return meant && search.found({*info, program}, g_path, search.left) ? 1 : 0;
}

const char* first_object(bool (*found)(const MappedObject&, const char*, size_t&), const void* code = nullptr) {
  static std::atomic<bool> busy{false};  // the buffers here serve one thread
  if (busy.exchange(true, std::memory_order_acquire)) return nullptr;
  InsideSearch search{found, code};
  const bool any = visit_objects(look_inside, &search) != 0;
  busy.store(false, std::memory_order_release);
  return any ? g_path : nullptr;
}

}  // namespace

const char* object_with_own_cupti() { return first_object(has_cupti); }

bool has_own_cupti(const void* code) { return first_object(has_cupti, code) != nullptr; }

const char* object_with_cupti() {
  return first_object([](const MappedObject& object, const char*, size_t&) { return has_texts_anywhere(object.info); });
}

}  // namespace prof::preload
