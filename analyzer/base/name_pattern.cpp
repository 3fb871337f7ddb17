#include "analyzer/base/name_pattern.h"

#include <regex.h>

#include <stdexcept>

namespace prof::analyzer {

namespace {
constexpr size_t kMostBytes = 4096;
}

// glibc's matcher is an automaton. Unlike std::regex it does not recurse over the length of a name, which may be
// hostile.
struct NamePattern::Expression {
  explicit Expression(const std::string& text) {
    const int error = regcomp(&compiled, text.c_str(), REG_EXTENDED | REG_NOSUB);
    if (error == 0) return;
    char message[200];
    regerror(error, &compiled, message, sizeof message);
    throw std::runtime_error("'" + text + "': " + message);
  }
  Expression(const Expression&) = delete;
  Expression& operator=(const Expression&) = delete;
  ~Expression() { regfree(&compiled); }
  regex_t compiled{};
};

NamePattern::NamePattern(std::string_view text) : prefix_(text) {
  if (text.empty()) throw std::runtime_error("an empty pattern");
  if (text.find_first_of("^$.*+?()[]{}|\\") == std::string_view::npos) return;
  expression_ = std::make_unique<Expression>(prefix_);
}

NamePattern::NamePattern(NamePattern&&) noexcept = default;
NamePattern& NamePattern::operator=(NamePattern&&) noexcept = default;
NamePattern::~NamePattern() = default;

bool NamePattern::matches(std::string_view function, const std::string& full) const {
  if (expression_ == nullptr) return function.starts_with(prefix_);
  const bool cut = full.size() > kMostBytes;
  const std::string head = cut ? full.substr(0, kMostBytes) : std::string();
  return regexec(&expression_->compiled, cut ? head.c_str() : full.c_str(), 0, nullptr, 0) == 0;
}

}  // namespace prof::analyzer
