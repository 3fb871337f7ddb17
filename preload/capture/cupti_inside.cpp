#include "preload/capture/cupti_inside.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

namespace prof::preload {
namespace {

constexpr char kFunction[] = "cuptiActivityEnable";                         // every profiler that takes times calls it
constexpr char kText[] = "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED";  // of CUPTI's table of results
constexpr size_t kMostNames = 8;                                            // that end like the function's
char g_path[1024];

using Header = ElfW(Ehdr);
using Section = ElfW(Shdr);
using Symbol = ElfW(Sym);

// Read piece by piece: a file that is cut while it is mapped would kill the program.
class ElfReader {
 public:
  explicit ElfReader(const char* path) : fd_(open(path, O_RDONLY | O_CLOEXEC)) {}
  ~ElfReader() {
    if (fd_ >= 0) close(fd_);
  }
  ElfReader(const ElfReader&) = delete;
  ElfReader& operator=(const ElfReader&) = delete;

  // A function of that name that is not only asked for.
  bool defines(const char* name, size_t size) {
    Header head;
    if (fd_ < 0 || !read_at(0, &head, sizeof head) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
        head.e_shentsize != sizeof(Section))
      return false;
    for (uint32_t i = 0; i < head.e_shnum; ++i) {
      Section symbols, names;
      if (!section(head, i, symbols)) return false;
      if (symbols.sh_type != SHT_SYMTAB && symbols.sh_type != SHT_DYNSYM) continue;
      if (section(head, symbols.sh_link, names) && defines_in(symbols, names, name, size)) return true;
    }
    return false;
  }

 private:
  static constexpr size_t kPiece = size_t{1} << 16;

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
      left -= here, offset += here * sizeof(Symbol);
    }
    return false;
  }

  int fd_;
  static inline char piece_[kPiece];
};

bool contains(const dl_phdr_info& info, const void* address) {
  for (uint32_t i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info.dlpi_phdr[i];
    const uintptr_t begin = info.dlpi_addr + part.p_vaddr, at = reinterpret_cast<uintptr_t>(address);
    if (part.p_type == PT_LOAD && at >= begin && at - begin < part.p_memsz) return true;
  }
  return false;
}

// In what is mapped of the object's file and cannot be written.
bool has_text(const dl_phdr_info& info) {
  for (uint32_t i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info.dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_R) == 0 || (part.p_flags & PF_W) != 0) continue;
    const void* const begin = reinterpret_cast<const void*>(info.dlpi_addr + part.p_vaddr);
    if (memmem(begin, part.p_filesz, kText, sizeof kText - 1) != nullptr) return true;
  }
  return false;
}

int visit_program(dl_phdr_info* info, size_t, void* argument) {
  if (contains(*info, kText)) return 0;  // we stand in for its functions
  const char* path = info->dlpi_name == nullptr ? "" : info->dlpi_name;
  bool& program_seen = *static_cast<bool*>(argument);
  if (path[0] == 0) {
    if (program_seen) return 0;  // the kernel's own
    program_seen = true;
    const ssize_t size = readlink("/proc/self/exe", g_path, sizeof g_path - 1);
    g_path[size > 0 ? size : 0] = 0;
  } else {
    const char* const slash = std::strrchr(path, '/');
    if (std::strncmp(slash == nullptr ? path : slash + 1, "libcupti", 8) == 0) return 0;
    std::strncpy(g_path, path, sizeof g_path - 1);
  }
  return ElfReader(g_path).defines(kFunction, sizeof kFunction) || has_text(*info) ? 1 : 0;
}

}  // namespace

const char* program_with_cupti() {
  const ssize_t size = readlink("/proc/self/exe", g_path, sizeof g_path - 1);
  if (size <= 0) return nullptr;
  g_path[size] = 0;
  return ElfReader(g_path).defines(kFunction, sizeof kFunction) ? g_path : nullptr;
}

const char* object_with_cupti() {
  bool program_seen = false;
  return dl_iterate_phdr(visit_program, &program_seen) != 0 ? g_path : nullptr;
}

}  // namespace prof::preload
