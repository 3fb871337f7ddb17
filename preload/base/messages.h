// The recorder's lines on stderr. Never on the record path.
#pragma once

#include <atomic>
#include <string_view>

namespace prof::preload {

// One line, "libprof: …\n", at most once per call site's `once` flag; silent with PROF_QUIET. The parts are joined.
// Keeps errno.
void say(std::atomic<bool>& once, std::string_view a, std::string_view b = {}, std::string_view c = {},
         std::string_view d = {});

// PROF_LOG=debug: one line for each decision of the recorder, with its reason: "libprof: debug: [pid] …", parts joined.
// Keeps errno.
void explain(std::string_view a, std::string_view b = {}, std::string_view c = {}, std::string_view d = {});

}  // namespace prof::preload
