// Names of what the coverage line knows of a process beside its counts (coverage.h).
#pragma once

#include <string_view>

namespace prof::analyzer {

// A counter of the process: different correlation ids of operations in calls that launch and that no hook recorded.
inline constexpr std::string_view kLaunchesUnseen = "launches_unseen";

}  // namespace prof::analyzer
