// Which processes does the user want recorded? The start of a recording checks it once. This code runs in the program.
#pragma once

#include "preload/base/options.h"

#include <string_view>

namespace prof::preload {

// Checks PROF_PROCESSES, PROF_RANKS and PROF_CHILDREN. Returns null if this process is wanted, otherwise the reason why
// not.
const char* why_not_wanted();

// Whether `rank` is in `list`. A text that is not a number is not a rank, and counts as in every list.
bool rank_in_list(const option::Numbers& list, std::string_view rank);

// Whether PROF_HOST_PROCESSES names this program. Changes errno.
bool is_host_process();

// With PROF_CHILDREN=0, removes the library from LD_PRELOAD and marks forked children as not wanted. The constructor
// calls it.
void exclude_children(const char* library_path);
bool is_unwanted_child();

}  // namespace prof::preload
