// Any bytes as an ELF file with debug information: its symbol table and notes in this process, its DWARF as the
// symboliser reads it, in a child. Nothing may crash this process, hang, or name an address twice.
#include "analyzer/symbols/elf_file.h"
#include "analyzer/symbols/symbol_workers.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace prof::analyzer;
  std::string why;
  std::vector<uint64_t> addresses;
  if (const auto file = ElfFile::from_memory({data, size}, why); file != nullptr) {
    file->build_id(), file->debug_link();
    for (const ElfSymbol& symbol : file->functions()) {
      if (addresses.size() < 64 && (addresses.empty() || addresses.back() < symbol.begin))
        addresses.push_back(symbol.begin);
    }
  }
  if (addresses.empty()) addresses = {0x1000, 0x1100, 0x1200};
  const int fd = memfd_create("fuzz", MFD_CLOEXEC);
  if (fd < 0 || write(fd, data, size) != static_cast<ssize_t>(size)) std::abort();
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  StringTable strings;
  const std::vector<SymbolAnswer> answers = find_symbols({{{path, path, {}}, addresses}}, strings, {1, 5});
  close(fd);
  if (answers.size() != 1 || answers[0].first.size() != addresses.size() + 1) std::abort();
  for (size_t i = 0; i < addresses.size(); ++i) {
    if (answers[0].first[i] > answers[0].first[i + 1] || answers[0].first[i + 1] > answers[0].frames.size())
      std::abort();
  }
  return 0;
}
