// The recorded arguments of a call as text: the names of what the record has as numbers (format::CallArguments).
#pragma once

#include "analyzer/model/trace.h"

#include <string>
#include <string_view>

namespace prof::analyzer {

// "device 0", "host", "NUMA node 1"; empty: no location.
std::string target_text(const CallDetails& said);

// The named choice in the flags of some calls: "advice": "set preferred location" of cuMemAdvise, "limit": "stack size"
// of cuCtxSetLimit. Empty: they are flags, or a choice that is not known here.
struct Choice {
  std::string_view key, value;
};
Choice choice_text(std::string_view api, const CallDetails& said);

// All arguments in one line: "4096 B, device 0, set preferred location", "flags 2", "kernels.cubin".
std::string arguments_text(const Trace& trace, std::string_view api, const CallDetails& said);

}  // namespace prof::analyzer
