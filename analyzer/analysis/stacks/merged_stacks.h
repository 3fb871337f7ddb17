// One stack out of two: Python frames stand where the interpreter's evaluation loops are among the native frames, functions that
// were inlined are frames of their own, and what fold_rules.h says is left out or drawn together. Made when first asked for, once
// per stack of the model.
//
//   native, innermost first    cuLaunch… < at::native::add < _PyEval_EvalFrameDefault < method_call < _PyEval_EvalFrameDefault < main
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
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace prof::analyzer {

class MergedStacks {
 public:
  MergedStacks(const Trace& trace, const Symbols& symbols, FoldRules rules, NameForm names);

  // Rows of frames, innermost first. Views stay valid.
  std::span<const uint32_t> of(StackId stack);
  // A stack of frames as another tool writes them, "model.py(57): forward", innermost first: under an id of its own.
  StackId add(const std::vector<std::string_view>& texts);
  // `own` continued outwards by `[forward of OPERATOR]` and the stack of the forward operator, from its innermost Python frame on
  // if it has one. Under an id of its own.
  StackId with_forward(StackId own, StackId forward, std::string_view backward_operator);
  // `own` continued outwards by `[run by backward()]` and rows of the stack of the thread that waits for it. Under an id of its own.
  StackId with_caller(StackId own, std::span<const uint32_t> caller);
  const TreeFrame& frame(uint32_t row) const { return frames_[row].shown; }
  std::string_view text(StringId id) const { return strings_[id]; }
  StringId intern(std::string_view text) { return strings_.intern(text); }
  bool has_python(StackId stack);
  // "forward (model.py:57)", "at::native::add (Loops.cuh:123)", "libfoo.so+0x1a2b".
  std::string frame_text(uint32_t row) const;
  // The innermost frame that is worth a line: the first Python frame, else the first with a source file, else the first. One
  // beyond a seam says so: "forward (model.py:57) [forward of MmBackward0]". Empty: no stack.
  std::string best_text(StackId stack);

  // Of the stacks made so far.
  uint64_t guessed() const { return guessed_; }        // evaluation loops and Python frames did not fit each other
  uint64_t incomplete() const { return incomplete_; }  // deeper than recorded, or broken off
  std::vector<std::string> notes() const;

 private:
  struct Row {
    TreeFrame shown;
    const FoldRule* rule = nullptr;  // null: shown as it is
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
  std::unordered_map<std::string, uint32_t> known_;   // by everything that is shown
  std::unordered_map<uint32_t, uint32_t> of_symbol_;  // function of symbols_ -> name in strings_
  std::vector<std::vector<uint32_t>> rows_;           // by FrameId
  struct Span {
    uint32_t at = 0;  // in pool_
    bool made = false;
  };
  std::vector<Span> stacks_;  // by StackId
  std::deque<std::vector<uint32_t>> pool_;
  uint64_t guessed_ = 0, incomplete_ = 0, with_forward_ = 0, with_caller_ = 0;
};

}  // namespace prof::analyzer
