// See record_program.h. Reads the ELF file and checks every offset, because its contents can be anything.
#include "analyzer/command/record_program.h"

#include <elf.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

namespace prof::analyzer {

namespace {

std::string find_in_path(std::string_view command) {
  if (command.find('/') != std::string_view::npos) return std::string(command);
  const char* const variable = std::getenv("PATH");
  std::string_view folders = variable != nullptr ? variable : "/bin:/usr/bin";
  while (true) {
    const size_t colon = folders.find(':');
    const std::string_view folder = folders.substr(0, colon);
    std::string path = (folder.empty() ? "." : std::string(folder)) + "/" + std::string(command);
    struct stat info {};
    if (stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && access(path.c_str(), X_OK) == 0) return path;
    if (colon == std::string_view::npos) return {};
    folders.remove_prefix(colon + 1);
  }
}

class Elf {
 public:
  explicit Elf(const std::string& path) : file_(path, std::ios::binary) {}

  template <class T> bool read(uint64_t offset, T& to) {
    file_.clear();
    file_.seekg(static_cast<std::streamoff>(offset));
    return static_cast<bool>(file_.read(reinterpret_cast<char*>(&to), sizeof to));
  }
  std::string text(uint64_t offset) {
    file_.clear();
    file_.seekg(static_cast<std::streamoff>(offset));
    std::string out;
    for (char c; out.size() < 256 && file_.get(c) && c != '\0';) out += c;
    return out;
  }

 private:
  std::ifstream file_;
};

// The name of the libasan among the libraries that the file needs.
std::string needed_asan(Elf& elf, const std::vector<Elf64_Phdr>& segments) {
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type != PT_DYNAMIC) continue;
    uint64_t strings = 0;
    std::vector<uint64_t> needed;
    for (uint64_t i = 0; i < segment.p_filesz / sizeof(Elf64_Dyn) && i < 4096; ++i) {
      Elf64_Dyn entry;
      if (!elf.read(segment.p_offset + i * sizeof entry, entry) || entry.d_tag == DT_NULL) break;
      if (entry.d_tag == DT_STRTAB) strings = entry.d_un.d_ptr;
      if (entry.d_tag == DT_NEEDED) needed.push_back(entry.d_un.d_val);
    }
    for (const Elf64_Phdr& load : segments) {  // DT_STRTAB is an address: find its offset in the file
      if (load.p_type != PT_LOAD || strings < load.p_vaddr || strings - load.p_vaddr >= load.p_filesz) continue;
      for (const uint64_t name : needed) {
        std::string soname = elf.text(load.p_offset + (strings - load.p_vaddr) + name);
        if (soname.starts_with("libasan.so")) return soname;
      }
    }
  }
  return {};
}

// Whether the file has capabilities: the program is started in secure execution, as if it were set-user-ID.
bool has_capabilities(const std::string& path) { return getxattr(path.c_str(), "security.capability", nullptr, 0) > 0; }

// The interpreter in the first line of a script; empty if there is none.
std::string interpreter_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string line;
  if (!std::getline(file, line) || !line.starts_with("#!")) return {};
  const size_t begin = line.find_first_not_of(" \t", 2);
  if (begin == std::string::npos) return {};
  const size_t end = line.find_first_of(" \t", begin);
  return line.substr(begin, end == std::string::npos ? end : end - begin);
}

ProgramFacts look_at_path(const std::string& path) {
  ProgramFacts facts;
  facts.path = path;
  struct stat info {};
  if (path.empty() || stat(path.c_str(), &info) != 0) return facts;
  facts.setuid = (info.st_mode & S_ISUID) != 0 || ((info.st_mode & S_ISGID) != 0 && (info.st_mode & S_IXGRP) != 0);
  Elf elf(path);
  Elf64_Ehdr header;
  if (!elf.read(0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return facts;
  facts.elf = true;
  facts.setuid |= has_capabilities(path);
  if (header.e_ident[EI_CLASS] != ELFCLASS64) {
    facts.other_class = facts.dynamic = true;
    return facts;
  }
  std::vector<Elf64_Phdr> segments;
  for (uint16_t i = 0; i < header.e_phnum && header.e_phentsize == sizeof(Elf64_Phdr); ++i) {
    Elf64_Phdr segment;
    if (!elf.read(header.e_phoff + uint64_t{i} * sizeof segment, segment)) break;
    if (segment.p_type == PT_INTERP) {
      facts.dynamic = true;
      const std::string loader = elf.text(segment.p_offset);
      facts.other_libc = loader.find("/ld-musl-") != std::string::npos;
    }
    segments.push_back(segment);
  }
  facts.asan = needed_asan(elf, segments);
  return facts;
}

}  // namespace

ProgramFacts look_at_program(std::string_view command) {
  constexpr int kMostScripts = 4;  // as the kernel
  ProgramFacts facts = look_at_path(find_in_path(command));
  ProgramFacts started = facts;
  for (int i = 0; i < kMostScripts && !started.elf; ++i) {
    const std::string interpreter = interpreter_of(started.path);
    if (interpreter.empty()) return facts;
    started = look_at_path(interpreter);
  }
  // A script whose interpreter can be recorded is a script, with its own name.
  return why_not_recordable(started) || !started.asan.empty() ? started : facts;
}

std::optional<Obstacle> why_not_recordable(const ProgramFacts& facts) {
  if (facts.setuid)
    return Obstacle{facts.path +
                        " is set-user-ID, set-group-ID or has capabilities: the loader ignores preloaded "
                        "libraries there",
                    "run a copy without these, as the user it needs"};
  if (facts.elf && !facts.dynamic)
    return Obstacle{facts.path + " is statically linked: no library can be preloaded into it",
                    "link it dynamically; the CUDA runtime may stay static"};
  if (facts.other_class)
    return Obstacle{facts.path + " is a 32-bit program; libprof.so has 64 bits", "build it for 64 bits"};
  if (facts.other_libc)
    return Obstacle{facts.path + " is a program of musl: libprof.so needs glibc and does nothing there",
                    "build it for glibc, which the CUDA driver needs too"};
  return std::nullopt;
}

}  // namespace prof::analyzer
