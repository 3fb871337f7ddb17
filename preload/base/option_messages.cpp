#include "preload/base/option_messages.h"

#include "preload/base/messages.h"
#include "preload/base/options.h"

#include <atomic>

namespace prof::preload {

void report_options() {
  static std::atomic<bool> reported{false};
  const bool again = reported.exchange(true, std::memory_order_relaxed);
  for (uint32_t row = 0; row < kOptionCount; ++row) {
    SetOption set{};
    if (!set_option(row, set)) continue;
    if (set.valid) explain(set.entry);
    std::atomic<bool> said{again || set.valid};
    say(said, set.variable, " is not valid, expected ", set.values, "; the default is used");
  }
  if (options().start == option::Start::Signal && options().signal == option::Signal::Off) {
    std::atomic<bool> said{again};
    say(said, "PROF_START=signal needs PROF_SIGNAL=USR1 or USR2; the recording starts now");
  }
  if (!options().host_processes.list.empty() && !options().host_samples.wanted()) {
    std::atomic<bool> said{again};
    say(said, "PROF_HOST_PROCESSES needs PROF_HOST_SAMPLES; no process is recorded from its start on");
  }
}

}  // namespace prof::preload
