#include "preload/log/log_name.h"

#include "preload/base/clock.h"
#include "preload/base/environment.h"
#include "preload/format/rank_variables.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <string_view>

namespace prof::preload {

namespace {

struct Text {
  char* at;
  char* end;
  bool fits = true;
  void put(char c) {
    if (at < end) {
      *at++ = c;
    } else {
      fits = false;
    }
  }
  void put(std::string_view s) {
    for (const char c : s) put(c);
  }
  void put(uint64_t number) {
    char digits[20];
    size_t n = 0;
    do digits[n++] = static_cast<char>('0' + number % 10);
    while ((number /= 10) != 0);
    while (n != 0) put(digits[--n]);
  }
};

template <size_t count> std::string_view first_of(const std::array<const char*, count>& names) {
  for (const char* name : names) {
    const char* const value = environment_variable(name);
    if (value != nullptr && *value != '\0') return value;
  }
  return {};
}

void put_pattern(Text& text, std::string_view pattern) {
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%' || i + 1 == pattern.size()) {
      text.put(pattern[i]);
      continue;
    }
    switch (pattern[++i]) {
      case 'p': text.put(static_cast<uint64_t>(getpid())); break;
      case 't': text.put(kernel_clock_ns(CLOCK_REALTIME) / 1'000'000'000); break;
      case 'r': text.put(launcher_rank().empty() ? "0" : launcher_rank()); break;
      case 'h': {
        utsname names{};
        uname(&names);
        text.put(std::string_view(names.nodename));
        break;
      }
      default: text.put(pattern[i]); break;
    }
  }
}

}  // namespace

std::string_view launcher_rank() { return first_of(format::kRankVariables); }

std::string_view launcher_size() { return first_of(format::kSizeVariables); }

bool make_log_name(char* path, size_t capacity, std::string_view folder, std::string_view given, unsigned attempt) {
  constexpr std::string_view kSuffix = ".plog";
  Text text{path, path + capacity - 1};
  if (!folder.empty()) {  // as it is: a percent sign in it is no placeholder
    while (given.starts_with("./")) given.remove_prefix(2);
    if (given == ".") given = {};
    text.put(folder);
    if (!given.empty() && !folder.ends_with('/')) text.put('/');
  }
  const bool is_name =
      given.find('%') != std::string_view::npos || (given.size() > kSuffix.size() && given.ends_with(kSuffix));
  if (is_name) {
    put_pattern(text, given);
  } else {
    text.put(given.empty() && folder.empty() ? std::string_view(".") : given);
    put_pattern(text, "/prof.%p.plog");
  }
  if (attempt > 1) {
    const std::string_view so_far(path, static_cast<size_t>(text.at - path));
    const bool has_suffix = so_far.ends_with(kSuffix);
    if (has_suffix) text.at -= kSuffix.size();
    text.put('-');
    text.put(static_cast<uint64_t>(attempt));
    if (has_suffix) text.put(kSuffix);
  }
  *text.at = '\0';
  return text.fits;
}

}  // namespace prof::preload
