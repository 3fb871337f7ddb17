// A value by call stack: a tree of frames from the outermost inwards, each node with its own value. Created by
// analysis/stacks/stack_tree.cpp. Written by output/folded_stacks, pprof, speedscope and flame_page, which do not
// depend on the origin of the values.
#pragma once

#include "analyzer/base/strings.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace prof::analyzer {

// The kind of a frame; flame graphs colour by it. Two kinds are no functions but seams between stacks, with the frames
// of autograd's thread inside. Outside of Forward, "[forward of MmBackward0]", is the stack of the forward operator.
// Outside of Caller, "[run by backward()]", is the stack of the thread that called backward() and waits.
enum class TreeFrameKind : uint8_t {
  Native = 0,
  Inlined = 1,
  Python = 2,
  Folded = 3,
  Gpu = 4,
  Call = 5,
  Unknown = 6,
  Forward = 7,
  Caller = 8,
  Line = 9  // a line inside a kernel: below the kernel, with what is inlined there
};
constexpr bool is_seam(TreeFrameKind kind) { return kind == TreeFrameKind::Forward || kind == TreeFrameKind::Caller; }

struct TreeFrame {
  StringId name{};    // of the function, as shown
  StringId file{};    // empty: unknown
  StringId module{};  // name of the module file; empty: none, or unknown
  uint32_t line = 0;  // line in `file`; 0: unknown
  TreeFrameKind kind{};
  bool operator==(const TreeFrame&) const = default;
};

struct TreeNode {
  uint32_t parent = 0;  // row of nodes(); the root is its own parent
  uint32_t frame = 0;   // row of frames()
  int64_t value = 0;    // of the node without its descendants, in CallTree::unit
  int64_t before = 0;   // the same in the other input, if two are compared
  uint64_t count = 0;   // number of events in the value
};

class CallTree {
 public:
  std::string metric = "gpu-time";   // as `--metric` names it
  std::string unit = "nanoseconds";  // of values: nanoseconds, count or bytes
  bool compared = false;             // `before` is valid

  CallTree() : frames_(1), nodes_(1) {}

  StringId text(std::string_view text) { return strings_.intern(text); }
  std::string_view text(StringId id) const { return strings_[id]; }
  // The row of frames() with this frame. It is added if there is none.
  uint32_t frame(const TreeFrame& frame);
  // The row of nodes() with that frame (a row of frames()) below another node. It is added if there is none; 0 is the
  // root.
  uint32_t child(uint32_t node, uint32_t frame);
  TreeNode& node(uint32_t row) { return nodes_[row]; }  // valid until the next child()

  // A node comes after its parent.
  const std::vector<TreeNode>& nodes() const { return nodes_; }
  const std::vector<TreeFrame>& frames() const { return frames_; }
  // By row of nodes(): the sum over the node and its descendants, in `unit`. `before`: of TreeNode::before instead.
  std::vector<int64_t> totals(bool before = false) const;

 private:
  struct Hash {
    size_t operator()(const TreeFrame& frame) const;
  };
  StringTable strings_;
  std::vector<TreeFrame> frames_;  // row 0: of the root
  std::vector<TreeNode> nodes_;
  std::unordered_map<TreeFrame, uint32_t, Hash> frame_rows_;
  std::unordered_map<uint64_t, uint32_t> children_;
};

// The values of `now` next to those of `before`. Frames are equal if name, file and module are equal; lines may differ,
// because a program changes, except in kernels. Metric and unit are those of `now`.
CallTree compare_trees(const CallTree& now, const CallTree& before);

// "forward (model.py:57)"; native functions without their file.
std::string tree_frame_text(const CallTree& tree, const TreeFrame& frame);

}  // namespace prof::analyzer
