#include "analyzer/symbols/symbols.h"
#include "analyzer/base/text_parts.h"

#include "analyzer/symbols/debug_lines.h"

#include <fmt/format.h>

#include <algorithm>

namespace prof::analyzer {

// The frames of one module that have no name yet, by address.
struct Symbols::Wanted {
  std::vector<std::pair<uint64_t, FrameId>> calls;
  SymbolRequest request;
};

Symbols::Symbols(const Trace& trace, const SymbolOptions& options) : of_frame_(trace.stacks.frames()) {
  const StackTable& stacks = trace.stacks;
  modules_.resize(stacks.modules());
  for (uint32_t m = 0; m < modules_.size(); ++m) modules_[m].module = static_cast<ModuleId>(m);
  take_embedded(trace);
  std::vector<Wanted> wanted(stacks.modules());
  for (uint32_t f = 1; f < stacks.frames(); ++f) {
    const Frame& frame = stacks[static_cast<FrameId>(f)];
    if (frame.kind != FrameKind::Native) continue;
    ModuleSymbols& module = modules_[static_cast<uint32_t>(frame.module)];
    ++module.addresses;
    if (of_frame_[f].count != 0) {
      ++module.embedded;
    } else if (frame.module != ModuleId{} && frame.address != 0) {
      // The call instruction is before the address to which it returns.
      wanted[static_cast<uint32_t>(frame.module)].calls.emplace_back(frame.address - 1, static_cast<FrameId>(f));
    }
  }
  if (!options.off) {
    std::vector<SymbolRequest> requests;
    std::vector<uint32_t> module_of;
    for (uint32_t m = 1; m < wanted.size(); ++m) {
      if (wanted[m].calls.empty()) continue;
      const Module& module = stacks[static_cast<ModuleId>(m)];
      modules_[m].files =
          find_module_files({std::string(trace.text(module.path)), std::string(trace.text(module.build_id)),
                             module.file_bytes, module.file_time},
                            options.search);
      modules_[m].problem = modules_[m].files.problem;
      if (modules_[m].files.functions.empty()) continue;
      std::sort(wanted[m].calls.begin(), wanted[m].calls.end());
      SymbolRequest& request = requests.emplace_back();
      request.files = modules_[m].files;
      for (const auto& [address, frame] : wanted[m].calls) request.addresses.push_back(address);
      module_of.push_back(m);
    }
    const std::vector<SymbolAnswer> answers = find_symbols_cached(requests, strings_, options.limits, options.cache);
    for (size_t r = 0; r < answers.size(); ++r) {
      const SymbolAnswer& answer = answers[r];
      const Wanted& of = wanted[module_of[r]];
      for (size_t i = 0; i < of.calls.size(); ++i) {
        add(of.calls[i].second, {answer.frames.data() + answer.first[i], answer.first[i + 1] - answer.first[i]});
      }
      if (!answer.problem.empty()) modules_[module_of[r]].problem = answer.problem;
    }
  }
  for (uint32_t f = 1; f < stacks.frames(); ++f) {
    const std::span<const SymbolFrame> found = at(static_cast<FrameId>(f));
    if (found.empty()) continue;
    ModuleSymbols& module = modules_[static_cast<uint32_t>(stacks[static_cast<FrameId>(f)].module)];
    ++module.named;
    if (found.front().line != 0) ++module.lined;
  }
  for (ModuleSymbols& module : modules_) {
    if (!module.problem.empty() || module.files.functions.empty()) continue;
    if (module.named != module.addresses) {
      module.problem = "its symbols have no function there";
    } else if (module.lined == module.embedded && module.named != module.embedded && !module.files.lines.empty()) {
      module.problem = "its debug information says nothing of them";
    }
  }
  modules_[0].problem = "code without a file";
  std::erase_if(modules_, [](const ModuleSymbols& module) { return module.addresses == 0; });
  std::stable_sort(modules_.begin(), modules_.end(),
                   [](const ModuleSymbols& a, const ModuleSymbols& b) { return a.addresses > b.addresses; });
}

void Symbols::take_embedded(const Trace& trace) {
  std::vector<SymbolFrame> frames;
  for (size_t i = 0; i < trace.symbols.size();) {
    const FrameId frame = trace.symbols[i].frame;
    frames.clear();
    bool more = true;
    for (; more && i < trace.symbols.size() && trace.symbols[i].frame == frame; ++i) {
      const KnownSymbol& known = trace.symbols[i];
      more = known.inlined;
      frames.push_back({strings_.intern(trace.text(known.function)), strings_.intern(trace.text(known.file)),
                        known.line, known.inlined});
    }
    if (static_cast<uint32_t>(frame) < of_frame_.size() && of_frame_[static_cast<uint32_t>(frame)].count == 0)
      add(frame, frames);
  }
}

void Symbols::add(FrameId frame, std::span<const SymbolFrame> frames) {
  of_frame_[static_cast<uint32_t>(frame)] = {static_cast<uint32_t>(frames_.size()),
                                             static_cast<uint32_t>(frames.size())};
  frames_.insert(frames_.end(), frames.begin(), frames.end());
}

std::vector<std::string> Symbols::notes(const Trace& trace) const {
  std::vector<std::string> notes;
  if (!has_debug_lines()) notes.emplace_back("built without libdw: native functions have no source lines");
  for (const ModuleSymbols& each : modules_) {
    if (each.named == each.addresses || each.problem.empty()) continue;
    const std::string_view path = trace.text(trace.stacks[each.module].path);
    notes.push_back(fmt::format("{}: {} of {} addresses have no name: {}", path.empty() ? "no module" : file_name(path),
                                each.addresses - each.named, each.addresses, each.problem));
  }
  return notes;
}

}  // namespace prof::analyzer
