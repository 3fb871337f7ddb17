// PROF_LOG=debug: one line on stderr for each decision of the recorder, with its reason. Never on the record path.
#pragma once

#include <string_view>

namespace prof::preload {

// "libprof: debug: [pid] …", parts joined.
void explain(std::string_view a, std::string_view b = {}, std::string_view c = {}, std::string_view d = {});

}  // namespace prof::preload
