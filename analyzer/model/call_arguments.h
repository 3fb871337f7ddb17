// Arguments of a call as text: what the record of them says by number (format::CallArguments).
#pragma once

#include "analyzer/model/trace.h"

#include <string>
#include <string_view>

namespace prof::analyzer {

// "device 0", "host", "NUMA node 1"; empty: nowhere in particular.
std::string target_text(const CallDetails& said);

// What the flags of some calls choose, by a word for it: "advice": "set preferred location" of cuMemAdvise, "limit": "stack size" of
// cuCtxSetLimit. Empty: they are flags, or newer than this.
struct Choice {
  std::string_view key, value;
};
Choice choice_text(std::string_view api, const CallDetails& said);

// All of it in one line: "4096 B, device 0, set preferred location", "flags 2", "kernels.cubin".
std::string arguments_text(const Trace& trace, std::string_view api, const CallDetails& said);

}  // namespace prof::analyzer
