// Which hardware counters does a chip have? CUPTI's own lists (its host API, CUDA 12.6 and newer), which need no GPU. Called
// by record.
#pragma once

#include <string>
#include <string_view>

namespace prof::analyzer {

// Each metric of `chip` with its unit and what it counts, one a line. `chip`: a name such as "GH100" in any case, or the
// ordinal of a GPU of this machine. CUPTI is that of PROF_CUPTI, else searched. std::runtime_error says what is missing, or
// which chips there are.
std::string chip_metrics(std::string_view chip);

}  // namespace prof::analyzer
