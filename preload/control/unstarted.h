// What did the process do while a recording was awaited? If the recording never starts, the process tells it at its end
// to `prof record`, which then prints why nothing was recorded. This code runs in the program.
#pragma once

#include <string_view>

namespace prof::preload {

// A range starts while another one is awaited. Counted; the first few names are kept, as NAME or
// NAME@DOMAIN.
void saw_range(std::string_view domain, std::string_view range);

// The process ends. If it awaited a launch or a range until now, appends one line to the file that the variable
// PROF_UNSTARTED names: "launches N" or "ranges N NAME\tNAME…". Without the variable it does nothing.
void report_unstarted();

}  // namespace prof::preload
