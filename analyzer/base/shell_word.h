// Commands that prof prints are copied into a shell. How is a file's name written there?
#pragma once

#include <string>
#include <string_view>

namespace prof::analyzer {

// The word as it is, or in quotes if a shell would change it.
std::string shell_word(std::string_view word);

}  // namespace prof::analyzer
