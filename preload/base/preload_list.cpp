#include "preload/base/preload_list.h"

#include <cstring>

namespace prof::preload {

std::string_view next_preload(std::string_view& rest) {
  const auto separates = [](char c) { return c == ':' || c == ' '; };
  size_t begin = 0;
  while (begin < rest.size() && separates(rest[begin])) ++begin;
  size_t end = begin;
  while (end < rest.size() && !separates(rest[end])) ++end;
  const std::string_view entry(rest.data() + begin, end - begin);
  rest = {rest.data() + end, rest.size() - end};
  return entry;
}

std::string_view file_name(std::string_view path) {
  for (size_t i = path.size(); i != 0; --i) {
    if (path[i - 1] == '/') return {path.data() + i, path.size() - i};
  }
  return path;
}

bool names_library(std::string_view entry, std::string_view path) {
  return entry == path || (entry.find('$') != std::string_view::npos && file_name(entry) == file_name(path));
}

size_t copy_without(std::string_view list, std::string_view path, char* to) {
  size_t size = 0;
  for (std::string_view entry = next_preload(list); !entry.empty(); entry = next_preload(list)) {
    if (names_library(entry, path)) continue;
    if (size != 0) to[size++] = ':';
    std::memcpy(to + size, entry.data(), entry.size());
    size += entry.size();
  }
  return size;
}

}  // namespace prof::preload
