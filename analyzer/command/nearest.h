// Which known names does a mistyped word resemble? For messages about verbs, options, reports, words and columns.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace prof::analyzer {

// At most three names, the nearest first: at most a third of the letters differ (a swap of two neighbours is one
// difference), or the word is the start of the name. Dashes before options do not count.
std::vector<std::string> nearest_names(std::string_view word, std::span<const std::string> names);

// ": did you mean kernels or kernel-x?", or "" if no name is near.
std::string did_you_mean(std::string_view word, std::span<const std::string> names);

// "unknown verb summry: did you mean summary? (ADVICE)", or "unknown verb xyz (ADVICE)".
std::string unknown_word(std::string_view kind, std::string_view word, std::span<const std::string> names,
                         std::string_view advice);

}  // namespace prof::analyzer
