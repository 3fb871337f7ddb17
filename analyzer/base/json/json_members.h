// Finds one member of a small JSON object, such as the arguments of one event, without building a document.
#pragma once

#include <optional>
#include <string_view>

namespace prof::analyzer {

// The value of the first member with this key, as written: a string keeps its quotes and escapes. `members` is an
// object with or without its braces: `"key":value, "key":value`. Members of nested objects and texts inside strings are
// not searched. Keys are compared as written. nullopt: no such member, or the text before it is not well-formed.
std::optional<std::string_view> json_member(std::string_view members, std::string_view key);

}  // namespace prof::analyzer
