// Any text as a listing of nvdisasm, with any bytes as its machine code: what does each instruction wait for? Nothing
// may crash, hang, or name an instruction that does not exist.
#include "analyzer/symbols/sass_waits.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace prof::analyzer;
  constexpr size_t kMostAsked = 64;  // of one section: an answer may take a walk over all instructions
  const std::vector<uint8_t> code(data, data + size);
  for (const SassSection& section : parse_sass_listing({reinterpret_cast<const char*>(data), size})) {
    const SassWaits plain(section.instructions, section.labels), exact(section.instructions, section.labels, code);
    for (size_t i = 0; i < std::min(section.instructions.size(), kMostAsked); ++i) {
      for (const SassStall stall : {SassStall::Long, SassStall::Short, SassStall::Barrier, SassStall::Fence,
                                    SassStall::Branch, SassStall::Matrix}) {
        for (const SassWaits* const waits : {&plain, &exact}) {
          const SassWait found = waits->at(section.instructions[i].offset, stall);
          for (const uint32_t producer : found.producers) {
            if (producer >= waits->size() || waits->operation(producer).noun.empty()) std::abort();
          }
          if (!std::is_sorted(found.producers.begin(), found.producers.end())) std::abort();
        }
      }
    }
  }
  return 0;
}
