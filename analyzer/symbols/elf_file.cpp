#include "analyzer/symbols/elf_file.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace prof::analyzer {

namespace {

std::string hex(std::span<const uint8_t> bytes) {
  std::string text;
  for (const uint8_t byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

// The build-id among the notes; empty: none.
std::span<const uint8_t> find_build_id(std::span<const uint8_t> notes) {
  constexpr uint64_t kMostBytes = 64;
  const auto padded = [](uint64_t bytes) { return (bytes + 3) / 4 * 4; };
  uint64_t at = 0;
  Elf64_Nhdr note{};
  while (load(notes, at, note)) {
    at += sizeof note;
    const uint64_t name = at;
    const uint64_t content = name + padded(note.n_namesz);
    const bool gnu = note.n_namesz == 4 && name + 4 <= notes.size() && std::memcmp(&notes[name], "GNU", 4) == 0;
    if (content > notes.size() || note.n_descsz > notes.size() - content) return {};
    if (gnu && note.n_type == NT_GNU_BUILD_ID && note.n_descsz <= kMostBytes)
      return notes.subspan(content, note.n_descsz);
    at = content + padded(note.n_descsz);
  }
  return {};
}

// Which of several symbols at one address names it: global ones first, then those with a size, then the shorter name.
int rank(const Elf64_Sym& symbol) {
  const unsigned binding = ELF64_ST_BIND(symbol.st_info);
  const int bound = binding == STB_GLOBAL ? 4 : binding == STB_WEAK ? 2 : 0;
  return bound + (symbol.st_size != 0 ? 1 : 0);
}

}  // namespace

std::string_view text_at(std::span<const uint8_t> from, uint64_t offset) {
  if (offset >= from.size()) return {};
  const uint8_t* const begin = from.data() + offset;
  const void* const end = std::memchr(begin, 0, from.size() - offset);
  if (end == nullptr) return {};
  return {reinterpret_cast<const char*>(begin), static_cast<size_t>(static_cast<const uint8_t*>(end) - begin)};
}

std::unique_ptr<ElfFile> ElfFile::open(const std::string& path, std::string& why) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (fd < 0) {
    why = std::strerror(errno);
    return nullptr;
  }
  struct stat status {};
  void* mapped = MAP_FAILED;
  if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
    why = "no regular file";
  } else if (status.st_size == 0) {
    why = "empty";
  } else {
    mapped = mmap(nullptr, static_cast<size_t>(status.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
    if (mapped == MAP_FAILED) why = std::strerror(errno);
  }
  close(fd);
  if (mapped == MAP_FAILED) return nullptr;
  std::unique_ptr<ElfFile> file(new ElfFile);
  file->path_ = path;
  file->mapped_ = mapped;
  file->bytes_ = {static_cast<const uint8_t*>(mapped), static_cast<size_t>(status.st_size)};
  return file->read(why) ? std::move(file) : nullptr;
}

std::unique_ptr<ElfFile> ElfFile::from_memory(std::span<const uint8_t> bytes, std::string& why) {
  std::unique_ptr<ElfFile> file(new ElfFile);
  file->bytes_ = bytes;
  return file->read(why) ? std::move(file) : nullptr;
}

ElfFile::~ElfFile() {
  if (mapped_ != nullptr) munmap(mapped_, bytes_.size());
}

std::span<const uint8_t> ElfFile::part(uint64_t offset, uint64_t bytes) const {
  if (offset > bytes_.size() || bytes > bytes_.size() - offset) return {};
  return bytes_.subspan(offset, bytes);
}

bool ElfFile::read(std::string& why) {
  Elf64_Ehdr header{};
  if (!load(bytes_, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
    why = "no ELF file";
    return false;
  }
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB) {
    why = "not 64-bit little-endian";
    return false;
  }
  machine_ = header.e_machine;
  flags_ = header.e_flags;
  abi_version_ = header.e_ident[EI_ABIVERSION];
  for (uint64_t i = 0; i < header.e_phnum && header.e_phentsize >= sizeof(Elf64_Phdr); ++i) {
    Elf64_Phdr segment{};
    if (!load(bytes_, header.e_phoff + i * header.e_phentsize, segment)) break;
    if (segment.p_type == PT_NOTE) notes_.push_back(part(segment.p_offset, segment.p_filesz));
  }
  std::vector<Elf64_Shdr> headers;
  for (uint64_t i = 0; i < header.e_shnum && header.e_shentsize >= sizeof(Elf64_Shdr); ++i) {
    Elf64_Shdr each{};
    if (!load(bytes_, header.e_shoff + i * header.e_shentsize, each)) break;
    headers.push_back(each);
  }
  const std::span<const uint8_t> names = header.e_shstrndx < headers.size() ? part(headers[header.e_shstrndx].sh_offset,
                                                                                   headers[header.e_shstrndx].sh_size)
                                                                            : std::span<const uint8_t>();
  for (const Elf64_Shdr& each : headers) {
    ElfSection section;
    section.name = text_at(names, each.sh_name);
    section.type = each.sh_type;
    section.link = each.sh_link;
    section.info = each.sh_info;
    section.flags = each.sh_flags;
    section.offset = each.sh_offset;
    section.declared_bytes = each.sh_size;
    if (each.sh_type != SHT_NOBITS) section.bytes = part(each.sh_offset, each.sh_size);
    if (each.sh_type == SHT_NOTE) notes_.push_back(section.bytes);
    const bool info = section.name == ".debug_info" || section.name == ".zdebug_info";
    has_debug_info_ = has_debug_info_ || (info && !section.bytes.empty());
    sections_.push_back(section);
  }
  return true;
}

const ElfSection* ElfFile::section(std::string_view name) const {
  const auto found =
      std::find_if(sections_.begin(), sections_.end(), [&](const ElfSection& s) { return s.name == name; });
  return found == sections_.end() ? nullptr : &*found;
}

const ElfSection* ElfFile::section_of_type(uint32_t type) const {
  const auto found = std::find_if(sections_.begin(), sections_.end(),
                                  [&](const ElfSection& s) { return s.type == type && !s.bytes.empty(); });
  return found == sections_.end() ? nullptr : &*found;
}

std::string ElfFile::build_id() const {
  for (const std::span<const uint8_t> notes : notes_) {
    const std::span<const uint8_t> id = find_build_id(notes);
    if (!id.empty()) return hex(id);
  }
  return {};
}

std::string ElfFile::debug_link(uint32_t* crc) const {
  const ElfSection* const link = section(".gnu_debuglink");
  if (link == nullptr) return {};
  const std::string_view name = text_at(link->bytes, 0);
  if (name.empty() || name.find('/') != std::string_view::npos) return {};
  uint32_t expected = 0;
  if (!load(link->bytes, (name.size() + 1 + 3) / 4 * 4, expected)) return {};
  if (crc != nullptr) *crc = expected;
  return std::string(name);
}

bool ElfFile::has_symbol_table() const { return section_of_type(SHT_SYMTAB) != nullptr; }

std::vector<ElfSymbol> ElfFile::functions() const {
  const ElfSection* table = section_of_type(SHT_SYMTAB);
  if (table == nullptr) table = section_of_type(SHT_DYNSYM);
  if (table == nullptr || table->link >= sections_.size()) return {};
  const std::span<const uint8_t> names = sections_[table->link].bytes;
  struct Found {
    ElfSymbol symbol;
    int rank;
  };
  std::vector<Found> found;
  Elf64_Sym symbol{};
  for (uint64_t at = 0; load(table->bytes, at, symbol); at += sizeof symbol) {
    const unsigned type = ELF64_ST_TYPE(symbol.st_info);
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_value == 0 || (type != STT_FUNC && type != STT_GNU_IFUNC)) continue;
    const std::string_view name = text_at(names, symbol.st_name);
    if (name.empty()) continue;
    const uint64_t end = symbol.st_value + symbol.st_size;
    found.push_back({{symbol.st_value, end < symbol.st_value ? symbol.st_value : end, name}, rank(symbol)});
  }
  std::sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
    if (a.symbol.begin != b.symbol.begin) return a.symbol.begin < b.symbol.begin;
    if (a.rank != b.rank) return a.rank > b.rank;
    return a.symbol.name.size() != b.symbol.name.size() ? a.symbol.name.size() < b.symbol.name.size()
                                                        : a.symbol.name < b.symbol.name;
  });
  std::vector<ElfSymbol> functions;
  for (const Found& each : found) {
    if (!functions.empty() && functions.back().begin == each.symbol.begin) continue;
    // A symbol without a size extends to the next one. A size that extends beyond the next symbol is wrong.
    if (!functions.empty() &&
        (functions.back().end == functions.back().begin || functions.back().end > each.symbol.begin))
      functions.back().end = each.symbol.begin;
    functions.push_back(each.symbol);
  }
  return functions;
}

bool file_crc(const std::string& path, uint32_t& crc) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (fd < 0) return false;
  std::vector<uint8_t> buffer(size_t{1} << 18);
  uLong sum = crc32(0, nullptr, 0);
  ssize_t bytes = 0;
  while ((bytes = ::read(fd, buffer.data(), buffer.size())) > 0)
    sum = crc32(sum, buffer.data(), static_cast<uInt>(bytes));
  close(fd);
  crc = static_cast<uint32_t>(sum);
  return bytes == 0;
}

}  // namespace prof::analyzer
