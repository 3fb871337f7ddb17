// Which hardware counters does a chip have? The answer is CUPTI's own list (its host API, CUDA 12.6 and newer), which
// needs no GPU. Called by record.
#pragma once

#include <string>
#include <string_view>

namespace prof::analyzer {

// Returns each metric of `chip` with its unit and description, one per line. `chip`: a name such as "GH100" in any
// case, or the ordinal of a GPU of this machine. CUPTI is the library of PROF_CUPTI, else it is searched. Throws
// std::runtime_error, whose message lists what is missing, or which chips exist.
std::string chip_metrics(std::string_view chip);

}  // namespace prof::analyzer
