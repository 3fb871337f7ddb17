// See record_program.h. Reads the ELF file and checks every offset, because its contents can be anything.
#include "analyzer/command/record_program.h"

#include <elf.h>
#include <sys/stat.h>
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

}  // namespace

ProgramFacts look_at_program(std::string_view command) {
  ProgramFacts facts;
  facts.path = find_in_path(command);
  struct stat info {};
  if (facts.path.empty() || stat(facts.path.c_str(), &info) != 0) return facts;
  facts.setuid = (info.st_mode & S_ISUID) != 0 || ((info.st_mode & S_ISGID) != 0 && (info.st_mode & S_IXGRP) != 0);
  Elf elf(facts.path);
  Elf64_Ehdr header;
  if (!elf.read(0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return facts;
  facts.elf = true;
  if (header.e_ident[EI_CLASS] != ELFCLASS64) {
    facts.other_class = facts.dynamic = true;
    return facts;
  }
  std::vector<Elf64_Phdr> segments;
  for (uint16_t i = 0; i < header.e_phnum && header.e_phentsize == sizeof(Elf64_Phdr); ++i) {
    Elf64_Phdr segment;
    if (!elf.read(header.e_phoff + uint64_t{i} * sizeof segment, segment)) break;
    facts.dynamic |= segment.p_type == PT_INTERP;
    segments.push_back(segment);
  }
  facts.asan = needed_asan(elf, segments);
  return facts;
}

}  // namespace prof::analyzer
