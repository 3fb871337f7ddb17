// Which processes does the user want recorded? Asked once a life, when it starts.
#pragma once

#include "preload/base/options.h"

#include <string_view>

namespace prof::preload {

// PROF_PROCESSES and PROF_RANKS. Null: this process is wanted; else why not.
const char* why_not_wanted();

// A text that is no number is no rank, which is in every list.
bool rank_in_list(const option::Numbers& list, std::string_view rank);

// With PROF_CHILDREN=0 the library is taken out of LD_PRELOAD, and a forked child is not wanted. Called by the constructor.
void leave_children_alone(const char* library_path);
bool is_unwanted_child();

}  // namespace prof::preload
