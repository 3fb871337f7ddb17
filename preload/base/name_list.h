// Is a name in a list of names as options contain them? This code runs in the program: no allocation.
#pragma once

#include <string_view>

namespace prof::preload {

// Whether one of the names in `list`, such as "train*,app", is `name`. A * matches any characters.
bool name_in_list(std::string_view list, std::string_view name);

}  // namespace prof::preload
