#include "analyzer/model/stack_table.h"

#include "preload/format/stack_definitions.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

namespace prof::analyzer {

namespace {

uint64_t mix(std::initializer_list<uint64_t> words, uint64_t hash = 0x9e3779b97f4a7c15) {
  for (const uint64_t word : words) {
    hash = (hash ^ word) * 0xff51afd7ed558ccd;
    hash ^= hash >> 32;
  }
  return hash;
}

template <class Row, class Id, class Map> Id intern_row(const Row& row, std::vector<Row>& rows, Map& known) {
  const auto [found, added] = known.try_emplace(row, Id{static_cast<uint32_t>(rows.size())});
  if (added) rows.push_back(row);
  return found->second;
}

}  // namespace

size_t StackTable::Hash::operator()(const Module& module) const {
  return mix({static_cast<uint64_t>(module.path), static_cast<uint64_t>(module.build_id), module.file_bytes,
              module.file_time});
}
size_t StackTable::Hash::operator()(const Frame& frame) const {
  return mix({static_cast<uint64_t>(frame.kind), static_cast<uint64_t>(frame.module), frame.address,
              static_cast<uint64_t>(frame.function), static_cast<uint64_t>(frame.file), frame.line});
}

StackTable::StackTable() : stacks_(1), frames_(1), modules_(1) {
  module_rows_.emplace(Module{}, ModuleId{});
  frame_rows_.emplace(Frame{}, FrameId{});
}

ModuleId StackTable::intern(const Module& module) {
  return intern_row<Module, ModuleId>(module, modules_, module_rows_);
}
FrameId StackTable::intern(const Frame& frame) { return intern_row<Frame, FrameId>(frame, frames_, frame_rows_); }

StackId StackTable::intern(std::span<const StackFrame> native, std::span<const StackFrame> python, uint32_t flags) {
  native = native.first(std::min<size_t>(native.size(), UINT16_MAX));
  python = python.first(std::min<size_t>(python.size(), UINT16_MAX));
  if (native.empty() && python.empty() && flags == 0) return {};
  uint64_t hash = mix({native.size(), python.size(), flags});
  for (const StackFrame frame : native) hash = mix({frame.word}, hash);
  for (const StackFrame frame : python) hash = mix({frame.word}, hash);
  const auto [begin, end] = stack_rows_.equal_range(hash);
  for (auto at = begin; at != end; ++at) {
    const StackId id = at->second;
    if ((*this)[id].flags == flags && std::ranges::equal(this->native(id), native) &&
        std::ranges::equal(this->python(id), python)) {
      return id;
    }
  }
  const auto id = static_cast<StackId>(stacks_.size());
  stacks_.push_back({static_cast<uint32_t>(pool_.size()), static_cast<uint16_t>(native.size()),
                     static_cast<uint16_t>(python.size()), flags});
  pool_.insert(pool_.end(), native.begin(), native.end());
  pool_.insert(pool_.end(), python.begin(), python.end());
  stack_rows_.emplace(hash, id);
  return id;
}

bool StackTable::incomplete(StackId id) const {
  constexpr uint32_t kParts = format::kStackCut | format::kStackBroken | format::kStackNoNative |
                              format::kStackNoPython | format::kStackPythonInner;
  return ((*this)[id].flags & kParts) != 0;
}

std::string frame_text(const StackTable& stacks, const StringTable& strings, const Frame& frame) {
  switch (frame.kind) {
    case FrameKind::Python: return fmt::format("{}({}): {}", strings[frame.file], frame.line, strings[frame.function]);
    case FrameKind::Text: return std::string(strings[frame.function]);
    case FrameKind::Native: break;
  }
  if (frame.module == ModuleId{}) return fmt::format("{:#x}", frame.address);
  std::string_view path = strings[stacks[frame.module].path];
  path.remove_prefix(path.rfind('/') + 1);
  return fmt::format("{}+{:#x}", path.empty() ? "?" : path, frame.address);
}

}  // namespace prof::analyzer
