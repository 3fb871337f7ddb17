// The recorder's lines on stderr. All code of the recorder uses it, but never on the record path.
#pragma once

#include <atomic>
#include <string_view>

namespace prof::preload {

// Prints one line, "libprof: …\n", at most once per `once` flag of a call site. The parts are joined. PROF_QUIET
// suppresses the line. Keeps errno.
void say(std::atomic<bool>& once, std::string_view a, std::string_view b = {}, std::string_view c = {},
         std::string_view d = {});

// If PROF_LOG=debug, prints one line for a decision of the recorder, with its reason: "libprof: debug: [pid] …". The
// parts are joined. Keeps errno.
void explain(std::string_view a, std::string_view b = {}, std::string_view c = {}, std::string_view d = {});

}  // namespace prof::preload
