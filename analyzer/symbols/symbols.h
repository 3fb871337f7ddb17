// Offline. What are the function, file and line of each native frame of the model's stacks? For every distinct address
// the names come from the log itself (prof symbolize --embed), else from the files that module_search.h finds. A frame
// without a name keeps its address, "libfoo.so+0x1a2b", and the reason is reported once per module.
#pragma once

#include "analyzer/model/trace.h"
#include "analyzer/symbols/module_search.h"
#include "analyzer/symbols/symbol_cache.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace prof::analyzer {

struct SymbolOptions {
  bool off = false;  // do not look up names: every frame keeps its address
  SymbolSearch search;
  WorkerLimits limits;
  std::string cache{};  // folder of symbol_cache.h; empty: none
};

// The result for the addresses of one module.
struct ModuleSymbols {
  ModuleId module{};
  uint64_t addresses = 0;
  uint64_t embedded = 0;  // named by the log
  uint64_t named = 0;     // with a function
  uint64_t lined = 0;     // also with a source line
  ModuleFiles files;
  std::string problem;  // empty: none
};

class Symbols {
 public:
  Symbols(const Trace& trace, const SymbolOptions& options);

  // Functions at a native frame, the innermost inlined one first; empty: unknown.
  std::span<const SymbolFrame> at(FrameId frame) const {
    const Span span = of_frame_[static_cast<uint32_t>(frame)];
    return {frames_.data() + span.first, span.count};
  }
  std::string_view text(StringId id) const { return strings_[id]; }

  const std::vector<ModuleSymbols>& modules() const { return modules_; }  // those with addresses, most addresses first
  // "libfoo.so: 12 of 40 addresses have no name: no file found", one line per module.
  std::vector<std::string> notes(const Trace& trace) const;

 private:
  struct Span {
    uint32_t first = 0, count = 0;
  };
  struct Wanted;
  void take_embedded(const Trace& trace);
  void add(FrameId frame, std::span<const SymbolFrame> frames);

  StringTable strings_;
  std::vector<SymbolFrame> frames_;
  std::vector<Span> of_frame_;  // by FrameId
  std::vector<ModuleSymbols> modules_;
};

}  // namespace prof::analyzer
