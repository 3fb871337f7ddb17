// Lines are in the order of the tree. Frames with the same text are one frame.
#include "analyzer/base/json/json_text.h"
#include "analyzer/base/saturated.h"
#include "analyzer/output/stacks/stack_formats.h"

#include <fmt/format.h>

#include <map>
#include <vector>

namespace prof::analyzer {

std::string folded_frame(std::string_view text) {
  std::string folded(text);
  for (char& each : folded) {
    if (each == ' ' || each == ';' || each == '\t' || each == '\n') each = '_';
  }
  return folded;
}

void write_folded(const CallTree& tree, const StackFileInfo&, Sink& sink) {
  std::vector<std::string> frames;
  for (const TreeFrame& frame : tree.frames())
    frames.push_back(folded_frame(readable_utf8(tree_frame_text(tree, frame))));
  std::map<std::string_view, uint32_t> first_of_text;
  std::vector<uint32_t> same(frames.size());
  for (uint32_t f = 0; f < frames.size(); ++f) same[f] = first_of_text.try_emplace(frames[f], f).first->second;
  CallTree merged;  // of frames with different texts
  std::vector<uint32_t> rows(tree.nodes().size());
  for (uint32_t n = 1; n < tree.nodes().size(); ++n) {
    const TreeNode& node = tree.nodes()[n];
    rows[n] = merged.child(rows[node.parent], same[node.frame]);
    grow(merged.node(rows[n]).value, node.value);
    grow(merged.node(rows[n]).before, node.before);
  }
  std::string line;
  std::vector<std::string_view> path;
  for (uint32_t n = 1; n < merged.nodes().size(); ++n) {
    const TreeNode& node = merged.nodes()[n];
    if (node.value <= 0 && node.before <= 0) continue;
    path.clear();
    for (uint32_t at = n; at != 0; at = merged.nodes()[at].parent) path.push_back(frames[merged.nodes()[at].frame]);
    line.clear();
    for (size_t i = path.size(); i-- > 0;) line.append(path[i]).append(i == 0 ? " " : ";");
    if (tree.compared) line += fmt::format("{} ", node.before);
    line += fmt::format("{}\n", node.value);
    sink.write(line);
  }
}

}  // namespace prof::analyzer
