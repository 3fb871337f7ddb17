// How do texts get into the log? They are names, which are defined once, and facts about the run. Hooks and subsystems
// use it. This code runs in the program.
#pragma once

#include "preload/format/ids.h"

#include <cstdint>
#include <string_view>

namespace prof::preload {

// Returns the id of a text of any length, and defines the text if it is new. The id is for one use (intern.h) if the
// table is full. Returns 0 if the text is empty, or if the log is full (counted).
format::StringId intern_string(std::string_view text);
// The same for a caller that has the text's hash.
format::StringId intern_string(std::string_view text, uint64_t hash);
// The same for a text that a definition contains which must stay valid. If the table is full, the text is defined again
// with an id of its own. Only for few texts: a ring does not overwrite them.
format::StringId intern_lasting_string(std::string_view text);

// Writes a fact about the run as a meta record. A value that is too long is cut (counted). The caller must be inside a
// scope.
void define_meta(std::string_view key, std::string_view value);

}  // namespace prof::preload
