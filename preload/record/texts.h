// Texts in the log: names, which are defined once, and facts about the run. In the program.
#pragma once

#include "preload/format/ids.h"

#include <string_view>

namespace prof::preload {

// The id of a text, defining it at first sight. 0: table full or log full (counted). Texts of any length.
format::StringId intern_string(std::string_view text);

// Facts about the run for the log's meta records; the caller is inside a scope.
void define_meta(std::string_view key, std::string_view value);

}  // namespace prof::preload
