// Lists of names as options have them. In the program: no allocation.
#pragma once

#include <string_view>

namespace prof::preload {

// "train*,app": one of the names between the commas is `name`; * stands for any characters.
bool name_in_list(std::string_view list, std::string_view name);

}  // namespace prof::preload
