#include "preload/base/exec_target.h"

#include "preload/base/raw_call.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>

#include <cstddef>
#include <cstring>
#include <string_view>

namespace prof::preload {

namespace {

#if defined(__aarch64__)
constexpr uint16_t kMachine = EM_AARCH64;
#else
constexpr uint16_t kMachine = EM_X86_64;
#endif

// Reads exactly `size` bytes; a shorter file is in doubt.
bool read_at(int fd, uint64_t offset, void* to, size_t size) {
  return raw_call(SYS_pread64, fd, word_of(to), static_cast<long>(size), static_cast<long>(offset)) ==
         static_cast<long>(size);
}

class OpenFile {
 public:
  // O_NONBLOCK: a FIFO must not block.
  OpenFile(int folder, const char* path)
      : fd_(static_cast<int>(
            raw_call(SYS_openat, folder, word_of(path), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY))) {}
  ~OpenFile() {
    if (fd_ >= 0) raw_call(SYS_close, fd_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int fd() const { return fd_; }

 private:
  int fd_;
};

template <class Header, class Segment> class Program {
 public:
  explicit Program(int fd) : fd_(fd) {}

  bool read() {
    if (!read_at(fd_, 0, &header_, sizeof header_)) return false;
    return header_.e_phentsize == sizeof(Segment) && header_.e_phnum <= kMostSegments;
  }

  // The first segment of the type; false if there is none.
  bool segment_of(uint32_t type, Segment& to) const {
    return find(to, [type](const Segment& segment) { return segment.p_type == type; });
  }

  // The offset in the file of an address of the program.
  bool offset_of(uint64_t address, uint64_t& offset) const {
    Segment load{};
    const bool found = find(load, [address](const Segment& segment) {
      return segment.p_type == PT_LOAD && address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_filesz;
    });
    if (found) offset = load.p_offset + (address - load.p_vaddr);
    return found;
  }

  const Header& header() const { return header_; }

 private:
  static constexpr uint16_t kMostSegments = 64;

  template <class Match> bool find(Segment& to, Match&& match) const {
    for (uint16_t i = 0; i < header_.e_phnum; ++i) {
      if (!read_at(fd_, header_.e_phoff + uint64_t{i} * sizeof to, &to, sizeof to)) return false;
      if (match(to)) return true;
    }
    return false;
  }

  int fd_;
  Header header_{};
};

// The sanitizer requires to be the first library of the process. So only the first one that the program needs matters:
// with another one there, it refuses also without us.
bool needs_sanitizer_first(int fd, const Program<ElfW(Ehdr), ElfW(Phdr)>& program, const ElfW(Phdr) & dynamic) {
  uint64_t strings = 0, needed = 0;
  bool has_needed = false;
  constexpr uint64_t kMostEntries = 256;
  for (uint64_t i = 0; i < dynamic.p_filesz / sizeof(ElfW(Dyn)) && i < kMostEntries; ++i) {
    ElfW(Dyn) entry{};
    if (!read_at(fd, dynamic.p_offset + i * sizeof entry, &entry, sizeof entry) || entry.d_tag == DT_NULL) break;
    if (entry.d_tag == DT_STRTAB) strings = entry.d_un.d_ptr;
    if (entry.d_tag == DT_NEEDED && !has_needed) {
      needed = entry.d_un.d_val;
      has_needed = true;
    }
    if (strings != 0 && has_needed) break;
  }
  uint64_t offset = 0;
  if (!has_needed || strings == 0 || !program.offset_of(strings, offset)) return false;
  char name[32] = {};
  if (raw_call(SYS_pread64, fd, word_of(name), sizeof name - 1, static_cast<long>(offset + needed)) <= 0) return false;
  return std::string_view(name).starts_with("libasan.so") || std::string_view(name).starts_with("libclang_rt.asan");
}

ExecTarget look_at_elf(int fd, const unsigned char* identity) {
  if (identity[EI_DATA] != ELFDATA2LSB) return ExecTarget::Any;
  if (identity[EI_CLASS] == ELFCLASS32) {
    Program<Elf32_Ehdr, Elf32_Phdr> program(fd);
    Elf32_Phdr loader;
    return program.read() && program.segment_of(PT_INTERP, loader) ? ExecTarget::OtherMachine : ExecTarget::Any;
  }
  Program<ElfW(Ehdr), ElfW(Phdr)> program(fd);
  ElfW(Phdr) segment;
  if (identity[EI_CLASS] != ELFCLASS64 || !program.read() || !program.segment_of(PT_INTERP, segment))
    return ExecTarget::Any;
  if (program.header().e_machine != kMachine) return ExecTarget::OtherMachine;
  if (!program.segment_of(PT_DYNAMIC, segment)) return ExecTarget::Any;
  return needs_sanitizer_first(fd, program, segment) ? ExecTarget::SanitizerFirst : ExecTarget::Any;
}

// The interpreter of a script may be a script. The kernel follows four.
constexpr int kMostScripts = 4;
// The kernel reads 256 bytes of a script; a longer first line is in doubt.
constexpr size_t kScriptBytes = 256;

ExecTarget look(int fd, int scripts) {
  char begin[kScriptBytes + 1] = {};
  const long size = raw_call(SYS_pread64, fd, word_of(begin), kScriptBytes, 0);
  if (size < 4) return ExecTarget::Any;
  if (std::memcmp(begin, ELFMAG, SELFMAG) == 0)
    return size > EI_DATA ? look_at_elf(fd, reinterpret_cast<const unsigned char*>(begin)) : ExecTarget::Any;
  if (begin[0] != '#' || begin[1] != '!' || scripts == 0) return ExecTarget::Any;
  char* name = begin + 2;
  while (*name == ' ' || *name == '\t') ++name;
  char* end = name;
  while (*end != '\0' && *end != ' ' && *end != '\t' && *end != '\n') ++end;
  if (*end == '\0' || end == name) return ExecTarget::Any;
  *end = '\0';
  const OpenFile interpreter(AT_FDCWD, name);
  return interpreter.fd() >= 0 ? look(interpreter.fd(), scripts - 1) : ExecTarget::Any;
}

bool is_program(const char* path) {
  struct stat info {};
  return raw_call(SYS_newfstatat, AT_FDCWD, word_of(path), word_of(&info), 0) == 0 && S_ISREG(info.st_mode) &&
         (info.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)) != 0;
}

}  // namespace

ExecTarget look_at_file(int folder, const char* path) {
  const OpenFile file(folder, path);
  return file.fd() >= 0 ? look(file.fd(), kMostScripts) : ExecTarget::Any;
}

ExecTarget look_at_descriptor(int fd) { return look(fd, kMostScripts); }

ExecTarget look_at_command(const char* file, const char* search, bool only_absolute) {
  const std::string_view name(file);
  if (name.empty() || (only_absolute && name.find('/') != std::string_view::npos && name[0] != '/'))
    return ExecTarget::Any;
  if (name.find('/') != std::string_view::npos) return look_at_file(AT_FDCWD, file);
  const char* at = search != nullptr ? search : "/bin:/usr/bin";
  for (;;) {
    const char* end = at;
    while (*end != '\0' && *end != ':') ++end;
    const std::string_view folder(at, static_cast<size_t>(end - at));  // empty: the working folder
    char path[1024];
    if (folder.size() + name.size() + 2 > sizeof path || (only_absolute && !folder.starts_with('/')))
      return ExecTarget::Any;
    size_t size = folder.size();
    std::memcpy(path, folder.data(), size);
    if (size != 0) path[size++] = '/';
    std::memcpy(path + size, name.data(), name.size());
    path[size + name.size()] = '\0';
    if (is_program(path)) return look_at_file(AT_FDCWD, path);
    if (*end == '\0') return ExecTarget::Any;
    at = end + 1;
  }
}

}  // namespace prof::preload
