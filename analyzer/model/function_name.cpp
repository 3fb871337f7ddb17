// What is the function's own name in a demangled text? Reads the text from left to right: the text before a blank was
// the return type, `<…>` are template arguments, and the first `(…)` without a following `::` is the signature.
// Names of operators break all of these rules and are read as a whole.
//
//   std::ostream& ns::operator<< <char>(std::ostream&, X<char>)            ns::operator<<
//   f(int) const::{lambda(int)#1}::operator()(int) const                   f::{lambda(int)#1}::operator()
//   void kernel<(int)4, &(X::operator()), ((1)>(2))>(float*)               kernel
#include "analyzer/model/names.h"

#include <algorithm>
#include <array>

namespace prof::analyzer {

namespace {

constexpr std::string_view kAnonymous = "(anonymous namespace)";

char closing(char open) { return open == '<' ? '>' : open == '(' ? ')' : open == '{' ? '}' : ']'; }

// The position after the bracket that closes the one at `at`, or npos. Inside round brackets, which the demangler puts
// around every comparison and shift, angle brackets count only if they match.
size_t skip_brackets(std::string_view text, size_t at) {
  std::string open;  // closing brackets of those that are open
  for (; at < text.size(); ++at) {
    const char c = text[at];
    const bool arrow = c == '>' && at > 0 && text[at - 1] == '-';
    if (c == '(' || c == '{' || c == '[' || (c == '<' && (open.empty() || open.back() == '>'))) {
      open.push_back(closing(c));
    } else if (!arrow && !open.empty() && c == open.back()) {
      open.pop_back();
      if (open.empty()) return at + 1;
    }
  }
  return std::string_view::npos;
}

bool starts(std::string_view text, size_t at, std::string_view with) { return text.substr(at).starts_with(with); }

class Reader {
 public:
  explicit Reader(std::string_view text, int depth = 0) : text_(text), depth_(depth) {}

  // Empty: the text is no function.
  std::string name() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      bool more = true;
      if (starts(text_, at_, kAnonymous)) {
        take(kAnonymous.size());
      } else if (is_operator()) {
        take_operator();
      } else if (c == '{') {
        const size_t end = skip_brackets(text_, at_);
        take((end == std::string_view::npos ? text_.size() : end) - at_);
      } else if (c == '<') {
        more = skip();
        if (!more) return {};
      } else if (c == '(') {
        more = round();
      } else if (c == ' ') {
        if (at_ + 1 < text_.size() && text_[at_ + 1] != '[')
          name_.clear();  // that was the return type; [ of "[clone .cold]"
        else
          more = false;
        ++at_;
      } else {
        take(1);
      }
      if (!more) break;
    }
    return name_;
  }

 private:
  void take(size_t size) {
    name_ += text_.substr(at_, size);
    at_ += std::min(size, text_.size() - at_);
  }
  bool skip() {
    const size_t end = skip_brackets(text_, at_);
    if (end != std::string_view::npos) at_ = end;
    return end != std::string_view::npos;
  }

  // False: the name is complete.
  bool round() {
    const size_t begin = at_;
    if (!skip()) return false;
    if (name_ == "decltype") return true;
    if (name_.empty()) {  // part of a return type; or "(*f(int))(char)", a function that returns the address of one
      const std::string_view inside = text_.substr(begin + 1, at_ - begin - 2);
      if (depth_ == 8 || (!inside.starts_with('*') && !inside.starts_with('&'))) return true;
      name_ = Reader(inside.substr(1), depth_ + 1).name();
      return false;
    }
    for (bool more = true; more;) {  // "f() const::…": the function around a local one
      more = false;
      for (const std::string_view word : {" const", " volatile", " &&", " &", " noexcept"}) {
        if (!starts(text_, at_, word)) continue;
        at_ += word.size();
        more = true;
      }
    }
    return starts(text_, at_, "::");
  }

  // Whether the keyword is here, not the end of another word.
  bool is_operator() const {
    constexpr std::string_view kWord = "operator";
    if (!starts(text_, at_, kWord) || (!name_.empty() && name_.back() != ':')) return false;
    const char next = at_ + kWord.size() < text_.size() ? text_[at_ + kWord.size()] : '\0';
    return next == ' ' || std::string_view("()[]<>=!+-*/%^&|~,\"").find(next) != std::string_view::npos;
  }

  void take_operator() {
    constexpr std::array<std::string_view, 39> kSymbols = {
        "()", "[]", "<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "==", "!=", "&&",
        "||", "++", "--",  "+=",  "-=",  "*=",  "/=", "%=", "^=", "&=", "|=", "->", "+",
        "-",  "*",  "/",   "%",   "^",   "&",   "|",  "~",  "!",  "=",  "<",  ">",  ","};
    take(8);
    if (at_ == text_.size()) return;
    if (text_[at_] != ' ' && text_[at_] != '"') {
      const auto symbol = std::find_if(kSymbols.begin(), kSymbols.end(),
                                       [&](std::string_view each) { return starts(text_, at_, each); });
      if (symbol != kSymbols.end()) take(symbol->size());
      if (starts(text_, at_, " <")) ++at_;
      return;
    }
    // "operator new[]", "operator unsigned long", "operator\"\" _kb", "operator std::vector<int>": everything before
    // the signature.
    while (at_ < text_.size() && text_[at_] != '(') {
      if (text_[at_] == '<') {
        if (!skip()) return;
      } else {
        take(1);
      }
    }
    while (name_.ends_with(' ')) name_.pop_back();
  }

  const std::string_view text_;
  const int depth_;  // nesting of functions that return addresses of functions
  size_t at_ = 0;
  std::string name_;
};

}  // namespace

std::string short_function_name(std::string_view text) {
  if (text.find_first_of("(<") == std::string_view::npos) return std::string(text);
  std::string name = Reader(text).name();
  return name.empty() ? std::string(text) : name;
}

}  // namespace prof::analyzer
