// Which frames of a stack say nothing to the reader: glue between languages, dispatchers, the interpreter itself. Rules are tried
// from the first to the last; the first that fits a frame decides. A file of them (`--fold FILE`) goes before the built-in ones
// (fold_rules.def), `--fold none` is no rules at all. A line is:
//
//   keep            MODULE FUNCTION     shown, whatever rules follow
//   hide            MODULE FUNCTION     left out
//   interpreter     MODULE FUNCTION     left out where the stack has Python frames, which say the same
//   fold LABEL      MODULE FUNCTION     a run of such frames is one frame, "[LABEL]"
//
// MODULE: a glob for the name of the file of code ("libtorch*"), or "python:" and a glob for the path of a Python file. FUNCTION: a
// pattern of name_pattern.h, or "*". "#" begins a comment line; a line "only": the built-in rules do not follow.
#pragma once

#include "analyzer/base/name_pattern.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace prof::analyzer {

enum class FoldAction : uint8_t { Keep, Hide, Interpreter, Fold };

struct FoldRule {
  FoldAction action{};
  std::string label;   // Fold
  std::string module;  // glob
  bool python = false;
  std::optional<NamePattern> function;  // none: any
};

// What a frame is to the rules.
struct FoldSubject {
  std::string_view module;  // name of the file of code; Python frames: path of their file
  bool python = false;
  std::string_view function;  // without signature
  const std::string& full;    // with it
};

class FoldRules {
 public:
  // `words` as given to --fold: paths of files, or "none"; empty: the built-in rules alone. Throws std::runtime_error that names the file
  // and, of a line that is no rule, its number.
  static FoldRules read(const std::vector<std::string>& words);

  // The first rule that fits, owned by this object; null: the frame is shown as it is. Tries every rule.
  const FoldRule* find(const FoldSubject& subject) const;

 private:
  void add(std::string_view text, const std::string& where, bool& only);
  std::vector<FoldRule> rules_;
};

}  // namespace prof::analyzer
