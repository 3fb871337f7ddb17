// What are the instructions of the functions that have PC samples, and what do they wait for? Disassembled once, on
// first use: nvdisasm takes 0.3 s for a cubin of 8 MB, and 30 ms for each function. Thread-safe.
#pragma once

#include "analyzer/analysis/kernel_lines/pc_places.h"
#include "analyzer/symbols/sass_listing.h"
#include "analyzer/symbols/sass_waits.h"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace prof::analyzer {

struct KernelCode {
  std::vector<SassInstruction> instructions;             // offsets are from the function's first instruction
  std::vector<std::pair<std::string, uint64_t>> labels;  // likewise
  std::optional<SassWaits> waits;                        // of `instructions`
  std::string problem;                                   // why there are none, or not all; empty: no error
};

class KernelCodes {
 public:
  static constexpr double kMostSeconds = 120;
  KernelCodes(const Trace& trace, const Views& views) : trace_(trace), places_(pc_places(views)) {}

  // Of functions by index of PcPlaces::functions(), in the same order. nvdisasm is run once for each cubin, on all
  // cores. After kMostSeconds no other cubin is begun.
  std::vector<const KernelCode*> of(std::span<const uint32_t> functions) const;

 private:
  // Functions of equal cubins have one code: checksum, size, name.
  using Key = std::tuple<uint64_t, uint64_t, uint32_t>;
  struct Missing {
    const CubinFunction* function = nullptr;
    KernelCode* to = nullptr;
  };
  void read(const CubinFile& cubin, std::span<const uint8_t> bytes, const std::string& nvdisasm,
            const std::vector<Missing>& missing) const;

  const Trace& trace_;
  const PcPlaces& places_;
  mutable std::mutex mutex_;
  mutable std::map<Key, std::unique_ptr<KernelCode>> codes_;
};

}  // namespace prof::analyzer
