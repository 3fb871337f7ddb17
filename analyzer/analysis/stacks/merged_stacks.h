// How do the native and the Python stack of a call become one? Python frames replace the interpreter's evaluation loops
// among the native frames. Inlined functions are frames of their own. Frames that fold_rules.h selects are left out or
// folded. Each stack of the model is merged once, on first use.
//
//   native, innermost first    cuLaunch… < at::native::add < _PyEval_EvalFrameDefault < method_call
//                              < _PyEval_EvalFrameDefault < main
//   Python, innermost first    forward*  <  step < train*       (* a loop began with this frame)
//   merged                     at::native::add < forward < step < train < main
#pragma once

#include "analyzer/analysis/stacks/fold_rules.h"
#include "analyzer/model/call_tree.h"
#include "analyzer/model/names.h"
#include "analyzer/model/trace.h"
#include "analyzer/symbols/symbols.h"

#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace prof::analyzer {

class MergedStacks {
 public:
  MergedStacks(const Trace& trace, const Symbols& symbols, FoldRules rules, NameForm names);

  // Rows of frames, innermost first. Views remain valid.
  std::span<const uint32_t> of(StackId stack);
  // Adds a stack of frames in another tool's form, "model.py(57): forward", innermost first. It gets a new id.
  StackId add(const std::vector<std::string_view>& texts);
  // `own` continued outwards by `[forward of OPERATOR]` and the stack of the forward operator, from its innermost
  // Python frame on if it has one. It gets a new id.
  StackId with_forward(StackId own, StackId forward, std::string_view backward_operator);
  // `own` continued outwards by `[run by backward()]` and rows of the stack of the waiting thread. It gets a new id.
  StackId with_caller(StackId own, std::span<const uint32_t> caller);
  // The functions that were running all the time between calls with these stacks: the outermost frames that both have.
  // It gets an id of its own.
  StackId common(StackId a, StackId b);
  const TreeFrame& frame(uint32_t row) const { return frames_[row].shown; }
  std::string_view text(StringId id) const { return strings_[id]; }
  StringId intern(std::string_view text) { return strings_.intern(text); }
  bool has_python(StackId stack);
  // Whether the frame has a file of Python that can be opened. Modules inside the interpreter ("<frozen
  // importlib._bootstrap>") have none.
  bool is_python_source(const TreeFrame& frame) const;
  // "forward (model.py:57)", "at::native::add (Loops.cuh:123)", "libfoo.so+0x1a2b".
  std::string frame_text(uint32_t row) const;
  // Index into of(stack): the most informative frame. 0: no stack.
  size_t best(StackId stack);
  // The row of what called it; kNone: no frame is known. Between Python frames, modules inside the interpreter are left
  // out.
  uint32_t caller_of_best(StackId stack);
  // The text of the best frame: the first Python frame with a file, else the first Python frame, else the first with a
  // source line (outside of the C library, if there is one), else the first outside of the C library, else the first.
  // If it is after a seam, the text has the seam: "forward (model.py:57) [forward of MmBackward0]". Empty: no stack.
  std::string best_text(StackId stack);

  // Counts over the stacks merged so far.
  uint64_t guessed() const { return guessed_; }        // evaluation loops and Python frames do not match
  uint64_t incomplete() const { return incomplete_; }  // deeper than recorded, or broken off
  std::vector<std::string> notes() const;

 private:
  struct Row {
    TreeFrame shown;
    const FoldRule* rule = nullptr;  // null: shown unchanged
    bool loop = false;               // an evaluation loop of the interpreter
    bool interpreter = false;        // code of the interpreter
  };
  // All rows of a frame of the model, the innermost inlined function first.
  std::span<const uint32_t> rows(FrameId frame);
  void add_rows(FrameId id, std::vector<uint32_t>& to);
  uint32_t row(const TreeFrame& shown, const std::string& full);
  uint32_t label(std::string_view text, TreeFrameKind kind);
  void merge(StackId stack, std::vector<uint32_t>& to);
  void fold(const std::vector<uint32_t>& whole, std::vector<uint32_t>& to);
  StackId joined(StackId own, uint32_t seam, std::span<const uint32_t> outside);

  const Trace& trace_;
  const Symbols& symbols_;
  const FoldRules rules_;
  const NameForm names_;
  StringTable strings_;
  std::vector<Row> frames_;
  std::unordered_map<std::string, uint32_t> known_;   // key: all shown fields
  std::unordered_map<uint32_t, uint32_t> of_symbol_;  // function in symbols_ -> name in strings_
  std::vector<std::vector<uint32_t>> rows_;           // by FrameId
  struct Span {
    uint32_t at = 0;  // index into pool_
    bool made = false;
  };
  std::vector<Span> stacks_;  // by StackId
  std::deque<std::vector<uint32_t>> pool_;
  std::unordered_map<uint64_t, StackId> common_;  // both ids
  std::map<std::vector<uint32_t>, StackId> common_rows_;
  uint64_t guessed_ = 0, incomplete_ = 0, with_forward_ = 0, with_caller_ = 0;
};

}  // namespace prof::analyzer
