// Help texts on a terminal: its width, and text wrapped to it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace prof::analyzer {

// Columns of the terminal on stdout: COLUMNS if it is set, else the size that the terminal reports, else 100.
size_t terminal_width();

// Breaks lines longer than `width` at spaces. The rest of a line continues below its description, which starts after
// the last gap of two or more spaces: " --wall MS wall time …". A word longer than a line is not broken.
std::string wrapped(std::string_view text, size_t width);

}  // namespace prof::analyzer
