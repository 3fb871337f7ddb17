// Which frames of a stack are left out or folded, because they do not inform the reader: glue between languages,
// dispatchers, the interpreter? Rules are tried in order, and the first that matches a frame decides. Rules of a file
// (`--fold FILE`) come before the built-in ones (fold_rules.def); `--fold none` disables all rules. A line is:
//
//   keep            MODULE FUNCTION     shown, whatever rules follow
//   hide            MODULE FUNCTION     left out
//   interpreter     MODULE FUNCTION     left out if the stack has Python frames, which represent the same calls
//   fold LABEL      MODULE FUNCTION     consecutive frames of this kind become one frame, "[LABEL]"
//
// MODULE: a glob for the name of the module file ("libtorch*"), or "python:" and a glob for the path of a Python file.
// FUNCTION: a pattern of name_pattern.h, or "*". A line that begins with "#" is a comment. A line "only" disables the
// built-in rules.
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
  std::optional<NamePattern> function;  // empty: any
};

// The properties of a frame that rules match.
struct FoldSubject {
  std::string_view module;  // name of the module file; of Python frames the path of the file
  bool python = false;
  std::string_view function;  // without the signature
  const std::string& full;    // with the signature
};

class FoldRules {
 public:
  // `words`: arguments of --fold, which are paths of files, or "none". Empty: only the built-in rules. Throws
  // std::runtime_error that names the file and, for a line that is no rule, its number.
  static FoldRules read(const std::vector<std::string>& words);

  // The first rule that matches, owned by this object; null: the frame is shown unchanged. O(number of rules).
  const FoldRule* find(const FoldSubject& subject) const;

 private:
  void add(std::string_view text, const std::string& where, bool& only);
  std::vector<FoldRule> rules_;
};

}  // namespace prof::analyzer
