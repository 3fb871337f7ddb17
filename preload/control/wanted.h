// Which processes does the user want recorded? Asked once a life, when it starts.
#pragma once

#include <string_view>

namespace prof::preload {

// PROF_PROCESSES and PROF_RANKS. Null: this process is wanted; else why not.
const char* why_not_wanted();

// The list is "all" or one such as "0,2-3". A text that is no number is no rank, which is in every list.
bool rank_in_list(std::string_view list, std::string_view rank);

// PROF_CHILDREN=0, read from the environment as it was when the library was loaded: the environment no longer names the library,
// and a forked child is not wanted. Called by the constructor.
void leave_children_alone(const char* library_path);
bool is_unwanted_child();

}  // namespace prof::preload
