// Which launch functions of the driver did the program get that no row of cuda_api.def covers? They are noticed while
// names are resolved, often before there is a log. The next definition writes them to the log. It runs in the program.
#pragma once

namespace prof::preload {

// Counts and stores `name` once, if it looks like a function that submits an operation to the GPU.
void notice_unhooked(const char* name);
// Writes the names that are not yet in this recording's log. The caller is inside a scope.
void define_unhooked();

}  // namespace prof::preload
