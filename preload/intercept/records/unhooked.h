// Launch-like driver functions that the program got and that no row of cuda_api.def covers: noticed while names are
// resolved (often before there is a log), written to the log with the next definition. In the program.
#pragma once

namespace prof::preload {

// Counts and remembers `name` once, if it looks like something that puts work on the GPU.
void notice_unhooked(const char* name);
// Writes what was noticed and is not yet in this life's log. The caller is inside a scope.
void define_unhooked();

}  // namespace prof::preload
