// Which parts of a command line or of an environment variable are secrets? The recorder masks them before they are
// written into a log, and the analyzer masks those of logs that were written without that. No allocation.
//
//   PASSWORD=abc                --api-token abc            -Ddb.password=abc
//   https://example.user:abc@host/      https://example.org/?key=abc&x=1
//
// A name is secret if one of its words is on the list. Words end at characters that are no letters and at a change from
// a small to a capital letter, so --tokenizer and --keyframes stay.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace prof::format {

namespace detail {

// substr() without its exception: libprof.so has no C++ library. `from` is within the text.
constexpr std::string_view part(std::string_view text, size_t from, size_t size = std::string_view::npos) {
  return {text.data() + from, std::min(size, text.size() - from)};
}

constexpr bool is_small(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool is_letter(char c) { return is_small(c) || is_capital(c); }
constexpr bool is_name(char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.'; }

constexpr bool is_secret_word(std::string_view word) {
  for (const std::string_view secret :
       {"password", "passwd", "passphrase", "token", "secret", "key", "apikey", "credential", "credentials"}) {
    if (word.size() != secret.size()) continue;
    size_t same = 0;
    while (same < word.size() && (is_capital(word[same]) ? word[same] + ('a' - 'A') : word[same]) == secret[same])
      ++same;
    if (same == word.size()) return true;
  }
  return false;
}

}  // namespace detail

constexpr bool is_secret_name(std::string_view name) {
  for (size_t at = 0; at < name.size();) {
    size_t end = at;
    while (end < name.size() && detail::is_letter(name[end]) &&
           !(end > at && detail::is_small(name[end - 1]) && detail::is_capital(name[end])))
      ++end;
    if (detail::is_secret_word(detail::part(name, at, end - at))) return true;
    // "APIKey": the last of several capitals starts a word.
    for (size_t i = at + 1; i + 1 < end; ++i) {
      if (detail::is_capital(name[i]) && detail::is_small(name[i + 1]) &&
          detail::is_secret_word(detail::part(name, i, end - i)))
        return true;
    }
    at = end == at ? at + 1 : end;
  }
  return false;
}

// Copies a text to `to`, which has room for as many bytes and does not overlap it, with its secrets masked. `separator`
// is between its arguments (NUL in /proc/self/cmdline). A secret becomes "***", or fewer stars if it is shorter.
// Returns the number of bytes at `to`.
inline size_t mask_secrets(std::string_view text, char separator, char* to) {
  constexpr size_t kEnd = std::string_view::npos;
  size_t out = 0;
  const auto put = [&](std::string_view part) {
    for (const char c : part) to[out++] = c;
  };
  const auto mask = [&](std::string_view secret) { put(detail::part(std::string_view("***"), 0, secret.size())); };

  // scheme://user:SECRET@host from "://" on: the byte after the secret; 0: there is none.
  const auto put_password = [&](std::string_view argument, size_t at) -> size_t {
    const size_t user = at + 3;
    const std::string_view authority = detail::part(argument, user, argument.find_first_of("/?#", user) - user);
    const size_t password = authority.find(':'), host = authority.rfind('@');
    if (password == kEnd || host == kEnd || password > host) return 0;
    put(detail::part(argument, at, 3 + password + 1));
    mask(detail::part(authority, password + 1, host - password - 1));
    return user + host;
  };

  bool next_is_secret = false;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    const std::string_view argument = detail::part(text, begin, end - begin);
    const bool is_option = argument.starts_with('-');
    if (next_is_secret && !is_option) {
      mask(argument);
      next_is_secret = false;
    } else {
      next_is_secret = is_option && argument.find('=') == kEnd && is_secret_name(argument);
      for (size_t at = 0; at < argument.size();) {
        if (detail::part(argument, at).starts_with("://")) {
          if (const size_t after = put_password(argument, at); after != 0) {
            at = after;
            continue;
          }
        }
        to[out++] = argument[at++];
        if (argument[at - 1] != '=') continue;
        size_t name = at - 1;
        while (name > 0 && detail::is_name(argument[name - 1])) --name;
        if (!is_secret_name(detail::part(argument, name, at - 1 - name))) continue;
        const bool in_query = name > 0 && (argument[name - 1] == '?' || argument[name - 1] == '&');
        const size_t value_end = in_query ? std::min(argument.find('&', at), argument.size()) : argument.size();
        mask(detail::part(argument, at, value_end - at));
        at = value_end;
      }
    }
    if (end < text.size()) to[out++] = separator;
    begin = end + 1;
  }
  return out;
}

}  // namespace prof::format
