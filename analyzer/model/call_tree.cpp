#include "analyzer/model/call_tree.h"

#include "analyzer/base/saturated.h"
#include "analyzer/model/event_tree.h"

#include <fmt/format.h>

#include <tuple>

namespace prof::analyzer {

namespace {

uint64_t mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15;
  return hash ^ hash >> 29;
}

}  // namespace

size_t CallTree::Hash::operator()(const TreeFrame& frame) const {
  uint64_t hash = static_cast<uint64_t>(frame.name);
  for (const uint64_t word : {static_cast<uint64_t>(frame.file), static_cast<uint64_t>(frame.module),
                              uint64_t{frame.line} << 8 | static_cast<uint64_t>(frame.kind)}) {
    hash = mix(hash, word);
  }
  return hash;
}

uint32_t CallTree::frame(const TreeFrame& frame) {
  const auto [found, added] = frame_rows_.try_emplace(frame, static_cast<uint32_t>(frames_.size()));
  if (added) frames_.push_back(frame);
  return found->second;
}

uint32_t CallTree::child(uint32_t node, uint32_t frame) {
  const auto [found, added] = children_.try_emplace(uint64_t{node} << 32 | frame, static_cast<uint32_t>(nodes_.size()));
  if (added) nodes_.push_back({node, frame, 0, 0, 0});
  return found->second;
}

std::vector<int64_t> CallTree::totals(bool before) const {
  std::vector<int64_t> totals(nodes_.size());
  for (size_t row = nodes_.size(); row-- > 0;) {
    totals[row] = add_saturated(totals[row], before ? nodes_[row].before : nodes_[row].value);
    if (row == 0) continue;
    int64_t& parent = totals[nodes_[row].parent];
    parent = add_saturated(parent, totals[row]);
  }
  return totals;
}

CallTree compare_trees(const CallTree& now, const CallTree& before_tree) {
  using Name = std::tuple<std::string_view, std::string_view, std::string_view, TreeFrameKind, uint32_t>;
  struct NameHash {
    size_t operator()(const Name& name) const {
      const std::hash<std::string_view> hash;
      return mix(mix(hash(std::get<0>(name)), hash(std::get<1>(name))), hash(std::get<2>(name)));
    }
  };
  const auto name = [](const CallTree& tree, const TreeFrame& frame) {
    return Name(tree.text(frame.name), tree.text(frame.file), tree.text(frame.module), frame.kind,
                frame.kind == TreeFrameKind::Line ? frame.line : 0);
  };
  // All lines of a function are one frame in both trees, so that equal code matches. Lines in kernels are compared one
  // by one.
  CallTree merged;
  merged.metric = now.metric;
  merged.unit = now.unit;
  merged.compared = true;
  std::unordered_map<Name, uint32_t, NameHash> frames;
  for (const bool before : {false, true}) {
    const CallTree& from = before ? before_tree : now;
    std::vector<uint32_t> row_of_frame(from.frames().size()), row_of_node(from.nodes().size());
    for (uint32_t f = 1; f < from.frames().size(); ++f) {
      const TreeFrame& frame = from.frames()[f];
      const auto [found, added] = frames.try_emplace(name(from, frame), 0);
      if (added) {
        found->second = merged.frame({merged.text(from.text(frame.name)), merged.text(from.text(frame.file)),
                                      merged.text(from.text(frame.module)), frame.line, frame.kind});
      }
      row_of_frame[f] = found->second;
    }
    for (uint32_t n = 0; n < from.nodes().size(); ++n) {
      const TreeNode& node = from.nodes()[n];
      const uint32_t row = n == 0 ? 0 : merged.child(row_of_node[node.parent], row_of_frame[node.frame]);
      row_of_node[n] = row;
      int64_t& value = before ? merged.node(row).before : merged.node(row).value;
      value = add_saturated(value, node.value);
      merged.node(row).count += before ? 0 : node.count;
    }
  }
  return merged;
}

std::string tree_frame_text(const CallTree& tree, const TreeFrame& frame) {
  const bool with_file = frame.kind == TreeFrameKind::Python || frame.kind == TreeFrameKind::Line;
  if (!with_file || frame.file == StringId{}) return std::string(tree.text(frame.name));
  return fmt::format("{}({}): {}", tree.text(frame.file), frame.line, tree.text(frame.name));
}

}  // namespace prof::analyzer
