// Which code keeps a GPU waiting, in one sentence? Host samples answer it. Used by advise, above its findings.
#pragma once

#include "analyzer/analysis/idle/host_code_times.h"
#include "analyzer/analysis/select/time_window.h"

#include <string>
#include <string_view>
#include <vector>

namespace prof::analyzer {

// What helps where a thread was in that state.
std::string_view action_in_state(const HostCode& code);

// "the GPU of rank 0 is idle 92 % of the run; 61 % (+-4) of that is tokenize (app.py:41), called from main (app.py:90);
// 20 % (+-3) is waiting for a lock in get (queue.py:171); do: …". One for each device with host samples, over all
// windows of its process, if the device is idle for 5 % of them or more. The most idle ones come first; at most 8.
// Empty if the input has no host samples.
std::vector<std::string> idle_sentences(const AnalysisInput& input, const std::vector<Window>& windows);

}  // namespace prof::analyzer
