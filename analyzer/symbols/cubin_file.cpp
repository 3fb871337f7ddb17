#include "analyzer/symbols/cubin_file.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <tuple>

namespace prof::analyzer {

namespace {

constexpr uint16_t kMachineCuda = 190;        // EM_CUDA, which not every elf.h has
constexpr uint32_t kRelocationAddress = 2;    // R_CUDA_64: symbol + addend, 8 bytes
constexpr size_t kMostFunctions = 1'000'000;  // PyTorch's largest cubin has fewer than 10,000
// libdw needs up to 150 bytes a row, and a row may be one byte: a larger table could take more than 5 GB.
constexpr uint64_t kMostLineBytes = uint64_t{32} << 20;
constexpr uint64_t kSetAddressBytes = 11;  // of the operation whose operand a relocation fills
constexpr uint64_t kRound = 4096;          // addresses are round numbers, with room between two sequences

std::string outside(const ElfSection& section, const char* then) {
  return fmt::format("section {} has {} bytes at offset {}, more than the file: {}", section.name,
                     section.declared_bytes, section.offset, then);
}

bool cut_off(const ElfSection& section) {
  return section.type != SHT_NOBITS && section.declared_bytes != 0 && section.bytes.empty();
}

}  // namespace

std::unique_ptr<CubinFile> CubinFile::from_memory(std::span<const uint8_t> bytes, std::string& why) {
  return read(ElfFile::from_memory(bytes, why), why);
}

std::unique_ptr<CubinFile> CubinFile::open(const std::string& path, std::string& why) {
  return read(ElfFile::open(path, why), why);
}

std::unique_ptr<CubinFile> CubinFile::read(std::unique_ptr<ElfFile> elf, std::string& why) {
  if (elf == nullptr) return nullptr;
  if (elf->machine() != kMachineCuda) {
    why = fmt::format("no cubin: its ELF machine is {}, that of GPU code {}", elf->machine(), kMachineCuda);
    return nullptr;
  }
  std::unique_ptr<CubinFile> file(new CubinFile);
  file->elf_ = std::move(elf);
  if (!file->read_functions(why)) return nullptr;
  file->read_relocations();
  return file;
}

std::string CubinFile::architecture() const {
  // CUDA 13 moved the number from the lowest byte of the flags to the second one and raised the ABI's version to 8.
  constexpr uint8_t kSecondByte = 8;
  return fmt::format("sm_{}", (elf_->abi_version() >= kSecondByte ? elf_->flags() >> 8 : elf_->flags()) & 0xff);
}

std::string_view CubinFile::section_name(const CubinFunction& function) const {
  return elf_->sections()[function.section].name;
}

std::span<const uint8_t> CubinFile::code(const CubinFunction& function) const {
  const std::span<const uint8_t> section = elf_->sections()[function.section].bytes;
  if (function.offset > section.size()) return {};
  return section.subspan(function.offset, std::min<uint64_t>(function.bytes, section.size() - function.offset));
}

const CubinFunction* CubinFile::find(std::string_view name) const {
  const auto found = std::lower_bound(by_name_.begin(), by_name_.end(), name,
                                      [&](uint32_t f, std::string_view wanted) { return functions_[f].name < wanted; });
  return found != by_name_.end() && functions_[*found].name == name ? &functions_[*found] : nullptr;
}

bool CubinFile::read_functions(std::string& why) {
  const std::span<const ElfSection> sections = elf_->sections();
  const auto table =
      std::find_if(sections.begin(), sections.end(), [](const ElfSection& s) { return s.type == SHT_SYMTAB; });
  if (table == sections.end()) {
    why = sections.empty() ? "it has no readable table of sections: it is truncated or damaged"
                           : "it has no symbol table (stripped): its functions are unknown";
    return false;
  }
  if (cut_off(*table) || table->link >= sections.size() || cut_off(sections[table->link])) {
    why = outside(cut_off(*table) || table->link >= sections.size() ? *table : sections[table->link],
                  "its functions are unknown; the file is truncated or damaged");
    return false;
  }
  Elf64_Sym symbol{};
  for (uint64_t at = 0; load(table->bytes, at, symbol); at += sizeof symbol) {
    if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF ||
        symbol.st_shndx >= sections.size()) {
      continue;
    }
    const std::string_view name = text_at(sections[table->link].bytes, symbol.st_name);
    const uint64_t code = sections[symbol.st_shndx].bytes.size();
    if (name.empty() || symbol.st_value >= code) continue;
    if (functions_.size() == kMostFunctions) {
      why = fmt::format("it has more than {} functions: damaged", kMostFunctions);
      return false;
    }
    functions_.push_back({name, symbol.st_shndx, symbol.st_value,
                          std::min<uint64_t>(symbol.st_size, code - symbol.st_value),
                          static_cast<uint32_t>(at / sizeof symbol)});
  }
  std::sort(functions_.begin(), functions_.end(), [](const CubinFunction& a, const CubinFunction& b) {
    return std::tie(a.section, a.offset, b.bytes, a.name) < std::tie(b.section, b.offset, a.bytes, b.name);
  });
  for (uint32_t i = 0; i < functions_.size(); ++i) by_name_.push_back(i);
  std::stable_sort(by_name_.begin(), by_name_.end(),
                   [&](uint32_t a, uint32_t b) { return functions_[a].name < functions_[b].name; });
  return true;
}

// Sequences that the relocations of a section name. CUDA 12 writes them without addends (SHT_REL) and unsorted.
void CubinFile::add_relocations(const ElfSection& section, std::vector<Stretch>& to, uint64_t& nowhere) const {
  const std::span<const ElfSection> sections = elf_->sections();
  const ElfSection* const symbols = section.link < sections.size() ? &sections[section.link] : nullptr;
  const bool addends = section.type == SHT_RELA;
  const uint64_t step = addends ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
  const uint64_t most = lines_->bytes.size() / kSetAddressBytes;
  for (uint64_t at = 0; at + step <= section.bytes.size(); at += step) {
    if (at / step >= most) {
      nowhere += (section.bytes.size() - at) / step;
      return;
    }
    Elf64_Rela entry{};
    std::memcpy(&entry, section.bytes.data() + at, step);
    uint64_t start = static_cast<uint64_t>(entry.r_addend);
    Elf64_Sym symbol{};
    const bool known = ELF64_R_TYPE(entry.r_info) == kRelocationAddress && symbols != nullptr &&
                       load(symbols->bytes, ELF64_R_SYM(entry.r_info) * sizeof symbol, symbol) &&
                       symbol.st_shndx != SHN_UNDEF && symbol.st_shndx < sections.size();
    uint64_t old = 0;
    const bool inside = load(lines_->bytes, entry.r_offset, old);
    if (!addends) start = old;
    start += symbol.st_value;
    const uint64_t code = known ? sections[symbol.st_shndx].bytes.size() : 0;
    if (!known || !inside || start >= code) {
      ++nowhere;
    } else {
      to.push_back({symbol.st_shndx, start, code - start, 0, entry.r_offset});
    }
  }
}

void CubinFile::read_relocations() {
  std::vector<Stretch> sequences;
  const ElfSection* const table = elf_->section(".debug_line");
  if (table == nullptr || table->declared_bytes == 0) {
    line_problem_ = "it has no line table; compile with -lineinfo to see source lines";
  } else if (cut_off(*table)) {
    line_problem_ = outside(*table, "no source lines; the file is truncated or damaged");
  } else if (table->bytes.size() > kMostLineBytes) {
    line_problem_ = fmt::format("its line table has {} bytes, more than the {} that are read: no source lines",
                                table->bytes.size(), kMostLineBytes);
  } else if ((table->flags & SHF_COMPRESSED) != 0) {
    line_problem_ = "its line table is compressed, which is not supported: no source lines";
  } else {
    lines_ = table;
    const auto number = static_cast<uint32_t>(table - elf_->sections().data());
    uint64_t nowhere = 0;
    for (const ElfSection& each : elf_->sections()) {
      if ((each.type == SHT_RELA || each.type == SHT_REL) && each.info == number)
        add_relocations(each, sequences, nowhere);
    }
    if (nowhere != 0) {
      line_problem_ = fmt::format("{} of {} relocations of its line table lead to no function, which has no lines then",
                                  nowhere, nowhere + sequences.size());
    } else if (sequences.empty()) {
      line_problem_ = "its line table names no function (it has no relocations): no source lines";
    }
    if (sequences.empty()) lines_ = nullptr;
  }
  place(std::move(sequences));
}

void CubinFile::place(std::vector<Stretch> sequences) {
  std::stable_sort(sequences.begin(), sequences.end(),
                   [](const Stretch& a, const Stretch& b) { return a.patch < b.patch; });
  stretches_ = std::move(sequences);
  // Instructions that no sequence covers need addresses too: they have a function.
  for (size_t f = 0; f < functions_.size(); ++f) {
    const uint32_t section = functions_[f].section;
    if (f == 0 || functions_[f - 1].section != section)
      stretches_.push_back({section, 0, elf_->sections()[section].bytes.size(), 0, UINT64_MAX});
  }
  uint64_t address = kRound;
  for (uint32_t s = 0; s < stretches_.size(); ++s) {
    stretches_[s].address = address;
    address += (stretches_[s].bytes / kRound + 2) * kRound;
    by_place_.push_back(s);
  }
  const auto place = [&](uint32_t s) { return std::pair(stretches_[s].section, stretches_[s].start); };
  std::stable_sort(by_place_.begin(), by_place_.end(), [&](uint32_t a, uint32_t b) { return place(a) < place(b); });
  by_place_.erase(
      std::unique(by_place_.begin(), by_place_.end(), [&](uint32_t a, uint32_t b) { return place(a) == place(b); }),
      by_place_.end());
}

uint64_t CubinFile::address(const CubinFunction& function, uint64_t pc_offset) const {
  const uint64_t code = elf_->sections()[function.section].bytes.size();
  if (pc_offset >= code || function.offset >= code - pc_offset) return 0;
  const uint64_t offset = function.offset + pc_offset;
  const auto after = std::upper_bound(
      by_place_.begin(), by_place_.end(), std::pair(function.section, offset),
      [&](const auto& wanted, uint32_t s) { return wanted < std::pair(stretches_[s].section, stretches_[s].start); });
  if (after == by_place_.begin()) return 0;
  const Stretch& stretch = stretches_[*std::prev(after)];
  return stretch.section == function.section ? stretch.address + (offset - stretch.start) : 0;
}

const CubinFunction* CubinFile::function_at(uint64_t address) const {
  const auto after = std::upper_bound(stretches_.begin(), stretches_.end(), address,
                                      [](uint64_t wanted, const Stretch& s) { return wanted < s.address; });
  if (after == stretches_.begin()) return nullptr;
  const Stretch& stretch = *std::prev(after);
  if (address - stretch.address >= stretch.bytes) return nullptr;
  const uint64_t offset = stretch.start + (address - stretch.address);
  auto function = std::upper_bound(
      functions_.begin(), functions_.end(), std::pair(stretch.section, offset),
      [](const auto& wanted, const CubinFunction& f) { return wanted < std::pair(f.section, f.offset); });
  constexpr int kMostInside = 64;  // functions inside one function that are searched for a larger one around them
  for (int step = 0; step < kMostInside && function != functions_.begin(); ++step) {
    --function;
    if (function->section != stretch.section) return nullptr;
    if (offset - function->offset < function->bytes) return &*function;
  }
  return nullptr;
}

std::vector<uint8_t> CubinFile::line_table_image() const {
  std::vector<uint8_t> image;
  if (lines_ == nullptr) return image;
  std::vector<Elf64_Shdr> headers(1);
  std::string names(1, '\0');
  const auto append = [&](const void* from, size_t bytes) {
    const auto* const first = static_cast<const uint8_t*>(from);
    image.insert(image.end(), first, first + bytes);
  };
  const auto add = [&](std::string_view name, uint32_t type, std::span<const uint8_t> bytes) {
    Elf64_Shdr header{};
    header.sh_name = static_cast<uint32_t>(names.size());
    header.sh_type = type;
    header.sh_offset = image.size();
    header.sh_size = bytes.size();
    header.sh_addralign = 1;
    headers.push_back(header);
    names.append(name).push_back('\0');
    append(bytes.data(), bytes.size());
  };
  Elf64_Ehdr header{};
  append(&header, sizeof header);
  const uint64_t table = image.size();
  add(".debug_line", SHT_PROGBITS, lines_->bytes);
  for (const Stretch& stretch : stretches_) {
    if (stretch.patch != UINT64_MAX)
      std::memcpy(image.data() + table + stretch.patch, &stretch.address, sizeof stretch.address);
  }
  for (const std::string_view name : {".debug_str", ".debug_line_str"}) {
    const ElfSection* const texts = elf_->section(name);
    // Names that are not zero-terminated would be read past their end.
    if (texts == nullptr || texts->bytes.empty() || texts->bytes.back() != 0) continue;
    if (texts->bytes.size() <= kMostLineBytes && (texts->flags & SHF_COMPRESSED) == 0)
      add(name, SHT_PROGBITS, texts->bytes);
  }
  add(".shstrtab", SHT_STRTAB, {});
  headers.back().sh_size = names.size();
  append(names.data(), names.size());
  image.resize((image.size() + 7) / 8 * 8);
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_EXEC;  // libdw applies no relocations to it
  header.e_machine = kMachineCuda;
  header.e_version = EV_CURRENT;
  header.e_shoff = image.size();
  header.e_ehsize = sizeof header;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = static_cast<uint16_t>(headers.size());
  header.e_shstrndx = static_cast<uint16_t>(headers.size() - 1);
  append(headers.data(), headers.size() * sizeof(Elf64_Shdr));
  std::memcpy(image.data(), &header, sizeof header);
  return image;
}

}  // namespace prof::analyzer
