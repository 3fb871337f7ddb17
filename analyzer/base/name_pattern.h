// A pattern for names in rule files and options: a prefix of the function's name, or a regular expression.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace prof::analyzer {

// A text without any of ^ $ . * + ? ( ) [ ] { } | \ is a prefix of the qualified function name ("at::native::" matches
// "void at::native::reduce_kernel<…>(…)"). Any other text is a POSIX extended regular expression, which matches
// anywhere in the full name unless it has ^ or $. Case-sensitive. Only the first 4,096 bytes of a name are matched.
class NamePattern {
 public:
  // Throws std::runtime_error that describes the error of the expression.
  explicit NamePattern(std::string_view text);
  NamePattern(NamePattern&&) noexcept;
  NamePattern& operator=(NamePattern&&) noexcept;
  ~NamePattern();

  // `function`: without return type, template arguments and signature, see short_function_name().
  bool matches(std::string_view function, const std::string& full) const;

 private:
  struct Expression;
  std::string prefix_;
  std::unique_ptr<Expression> expression_;  // null: a prefix
};

}  // namespace prof::analyzer
