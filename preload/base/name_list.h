// Lists of names as options have them. In the program: no allocation.
#pragma once

#include <string_view>

namespace prof::preload {

// "train*,app": one of the names between the commas is `name`; * stands for any characters.
bool name_in_list(std::string_view list, std::string_view name);

// NAME@DOMAIN of an NVTX range. After the last '@' a domain, empty for the default one, '*' for all, which none at all means too.
void split_range_name(const char* text, std::string_view& name, std::string_view& domain);

}  // namespace prof::preload
