// How does the program survive that its log is truncated (PROF_SIGBUS=1)? A store to a mapped page after the end of its
// file raises SIGBUS. The handler maps private memory at the log's own pages, and passes every other SIGBUS to the
// previous handler. It is off by default, because the program can see a handler.
#pragma once

#include <cstdint>

namespace prof::preload {

// Installs the handler, once per process. If the program sets its own handler later, that replaces ours.
void survive_truncation();

// Adds a mapped range of the log. A range that was not added is not guarded.
void guard_mapping(const void* base, uint64_t bytes);

// In the child of a fork: the parent's ranges are not guarded, because the child must not write to them.
void abandon_guarded_mappings();

}  // namespace prof::preload
