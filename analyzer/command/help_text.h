// Help texts on a terminal: how wide it is, and a text wrapped to it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace prof::analyzer {

// Columns of the terminal on stdout: COLUMNS if it is set, else what the terminal says, else 100.
size_t terminal_width();

// Lines longer than `width` are broken at spaces. The rest of a line continues below the text after its last gap of two
// or more spaces, which is where a description begins: "  --wall MS      wall time …". A word longer than a line stays whole.
std::string wrapped(std::string_view text, size_t width);

}  // namespace prof::analyzer
