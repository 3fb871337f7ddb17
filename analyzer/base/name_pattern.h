// A pattern for names, as rules files and options take it: a prefix of the function's name, or a regular expression.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace prof::analyzer {

// Without any of ^ $ . * + ? ( ) [ ] { } | \ it is a prefix of the qualified function name ("at::native::" matches
// "void at::native::reduce_kernel<…>(…)"); else an extended regular expression of POSIX, found anywhere in the full name
// unless it says ^ or $. Case counts. Of names beyond 4,096 bytes only those are looked at.
class NamePattern {
 public:
  // Throws std::runtime_error that says what is wrong with the expression.
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
