// Offline. What does an ELF file contain: its build-id, the place of its debug information, the functions of its symbol
// table? Used by the search for a module's files and by the symboliser. The file may be damaged: every offset is
// checked, nothing is followed twice, and what does not fit is ignored. 64-bit little-endian files only.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace prof::analyzer {

// A function of a symbol table; the name is a view into the file.
struct ElfSymbol {
  uint64_t begin = 0, end = 0;  // addresses of the file
  std::string_view name;        // mangled
};

struct ElfSection {
  std::string_view name;
  uint32_t type = 0, link = 0, info = 0;
  uint64_t flags = 0;
  uint64_t offset = 0, declared_bytes = 0;  // as its header states them, which may be outside the file
  std::span<const uint8_t> bytes;           // empty: outside the file, or none in it (SHT_NOBITS)
};

class ElfFile {
 public:
  // Null: the file does not exist or is no ELF file; `why` has the reason.
  static std::unique_ptr<ElfFile> open(const std::string& path, std::string& why);
  // The bytes must outlive the object. For tests and fuzzing.
  static std::unique_ptr<ElfFile> from_memory(std::span<const uint8_t> bytes, std::string& why);
  ~ElfFile();
  ElfFile(const ElfFile&) = delete;
  ElfFile& operator=(const ElfFile&) = delete;

  const std::string& path() const { return path_; }
  uint16_t machine() const { return machine_; }
  uint32_t flags() const { return flags_; }
  uint8_t abi_version() const { return abi_version_; }
  std::span<const ElfSection> sections() const { return sections_; }
  const ElfSection* section(std::string_view name) const;  // null: none
  std::string build_id() const;                            // hex digits; empty: none
  std::string debug_link(uint32_t* crc = nullptr) const;   // name in .gnu_debuglink; empty: none
  bool has_debug_info() const { return has_debug_info_; }
  bool has_symbol_table() const;  // .symtab, not only the dynamic one

  // Functions by address, without overlaps. Of several names of one address a global one is used. From .symtab, else
  // .dynsym.
  std::vector<ElfSymbol> functions() const;

 private:
  ElfFile() = default;
  bool read(std::string& why);
  std::span<const uint8_t> part(uint64_t offset, uint64_t bytes) const;
  const ElfSection* section_of_type(uint32_t type) const;

  std::string path_;
  std::span<const uint8_t> bytes_;
  void* mapped_ = nullptr;
  std::vector<ElfSection> sections_;
  std::vector<std::span<const uint8_t>> notes_;
  bool has_debug_info_ = false;
  uint16_t machine_ = 0;
  uint32_t flags_ = 0;
  uint8_t abi_version_ = 0;
};

// CRC-32 of a whole file, as in .gnu_debuglink; false: the file is unreadable.
bool file_crc(const std::string& path, uint32_t& crc);

// A value at an offset of the bytes; false: it is not inside them.
template <class T> bool load(std::span<const uint8_t> from, uint64_t offset, T& to) {
  if (offset > from.size() || from.size() - offset < sizeof(T)) return false;
  std::memcpy(&to, from.data() + offset, sizeof(T));
  return true;
}

// A text that ends with a zero byte inside the bytes; otherwise empty.
std::string_view text_at(std::span<const uint8_t> from, uint64_t offset);

}  // namespace prof::analyzer
