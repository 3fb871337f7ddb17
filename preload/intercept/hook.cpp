#include "preload/intercept/hook.h"

#include "preload/base/options.h"
#include "preload/capture/gpu_activity.h"
#include "preload/control/repeats.h"
#include "preload/control/triggers.h"
#include "preload/hardware_counters/counter_recording.h"
#include "preload/hardware_counters/hardware_sampling.h"
#include "preload/intercept/nvtx/nvtx_record.h"
#include "preload/lifecycle/call_scope.h"
#include "preload/lifecycle/recording_period.h"
#include "preload/lifecycle/start.h"

namespace prof::preload {

RepeatRange::RepeatRange() {
  char text[600];
  describe_repeats(text, sizeof text);
  NvtxMessage message;
  message.text = text;
  nvtx_push(nvtx_domain("prof"), message);
}
RepeatRange::~RepeatRange() { nvtx_pop(nvtx_domain("prof")); }

void prepare_gpu_activity(bool launch) {
  if (t_local.guard_frame != 0 || inside_our_calls()) return;  // inside another call: the next call does it
  const EventScope scope;
  if (!scope.recording()) {
    if (!launch) prepare_for_a_later_recording();
    return;
  }
  const auto nobody_awaits = [] { return options().launches == 0 && !repeats_awaited() && !hardware_counters_on(); };
  take_gpu_activity(nobody_awaits());
  prepare_counters();
  prepare_hardware_sampling(nobody_awaits());
  if (launch && options().launches != 0 && stops_with_launch()) end_window("PROF_LAUNCHES");
}

}  // namespace prof::preload
