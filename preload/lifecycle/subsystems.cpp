// Which subsystems does a recording have, and in which order? The order of the rows is the order of a start: the log
// file before what is written into it, tables before the threads that use them. Other walks use the same order. It
// matters to them as follows.
//
//   describe, start   "budget" and "devices" after "stacks": the definitions at the start of a log keep their order
//   stop, finish      "PC samples" before "GPU activity", whose kernel records it needs. "hardware counters", "GPU
//                     activity", "hardware samples", "completion marks": CUPTI's ranges end before its last flush.
//                     Marks are last, because until then they show which launches have finished
//   before_restart    "put-aside memory" first: memory that is retired after it must stay for one recording at least
//   tick              "hardware samples" before "budget", which counts the time that they took
//   watch             backwards: a stop by prof ctl replaces the reason of a slow launch that was noticed in the same
//                     round
//   finish_log        backwards: the blocks, whose end becomes the end of the file, then the file
//
// The order of other columns, and of rows not named here, makes no difference. Only one of "hardware counters" and "GPU
// activity" has something to flush in a recording. abandon() of a row changes only memory of its own.
#include "preload/lifecycle/subsystems.h"

#include "preload/base/clock.h"
#include "preload/base/life_page.h"
#include "preload/base/messages.h"
#include "preload/base/options.h"
#include "preload/capture/cupti/gpu_state.h"
#include "preload/capture/gpu_activity.h"
#include "preload/capture/streams/depth_marks.h"
#include "preload/capture/streams/streams.h"
#include "preload/capture/wait_flushes.h"
#include "preload/control/budget.h"
#include "preload/control/prof_ctl.h"
#include "preload/control/repeats.h"
#include "preload/control/triggers.h"
#include "preload/control/wanted.h"
#include "preload/driver/gpu_devices.h"
#include "preload/hardware_counters/counter_recording.h"
#include "preload/hardware_counters/counter_work.h"
#include "preload/hardware_counters/hardware_sampling.h"
#include "preload/host_samples/host_sampler.h"
#include "preload/lifecycle/describe.h"
#include "preload/lifecycle/dumps.h"
#include "preload/lifecycle/recording_period.h"
#include "preload/log/blocks.h"
#include "preload/log/count.h"
#include "preload/log/log_storage.h"
#include "preload/log/retired.h"
#include "preload/log/sigbus.h"
#include "preload/pc_sampling/pc_sampling.h"
#include "preload/record/bypasses.h"
#include "preload/record/intern.h"
#include "preload/record/recording_window.h"
#include "preload/record/texts.h"
#include "preload/record/thread.h"
#include "preload/stacks/call_stack.h"
#include "preload/stacks/stack_memo.h"

namespace prof::preload {

namespace {

bool start_sigbus_handler(const StartFacts& facts) {
  if (facts.ended == 0 && options().sigbus) survive_truncation();
  return true;
}

bool start_log_file(const StartFacts& facts) {
  if (!g_log.create(output_folder(), options().output, {options().max_size}, facts.part)) return false;
  explain("log ", g_log.path(),
          g_log.backing() == format::Backing::Mapped
              ? ", mapped"
              : ", copied once a second: mapping is not trusted on this file system",
          g_clock.source == format::ClockSource::Tsc ? ", clock the processor's counter"
                                                     : ", clock of the system or the program");
  describe_header();
  adopt_counters();
  return true;
}
void finish_log_file(LogEnd& end) {
  g_log.finish(end.offset, end.monotonic_ns);
  explain("log closed: ", g_log.path());
}

void finish_blocks(LogEnd& end) {
  end.offset = close_blocks();
  adopt_counters();  // a thread that noticed the start late may have counted after it
  write_back_blocks();
}

bool start_counters(const StartFacts&) {
  open_counters({[] { take_gpu_activity(false); }, collect_gpu_activity_after_all});
  return true;
}

// GPU activity that was enabled too late for stop(), while a recording ends, is stopped here. The program continues, so
// the flush is not forced.
void finish_gpu(bool at_exit) {
  if (!at_exit && window_is(Window::Ending)) {
    stop_gpu_activity();
  } else {
    finish_gpu_activity();
  }
}

void watch_for_full_log(uint64_t) {
  if (blocks_ran_out()) end_because_log_is_full();
}

void watch_for_ctl(uint64_t) {
  if (control_stop_requested()) request_end("prof ctl");
}

// If the log is full, the process may be refused memory too: the driver is not called for the sake of some events.
void stop_all_marks() { stop_marks(life().lost_calls.load(std::memory_order_relaxed) == nullptr); }

uint64_t tick_budget(uint64_t) {
  const uint64_t pause = tend_budget();
  return pause != 0 ? monotonic_ns() + pause : kNever;
}

uint64_t tick_dumps(uint64_t) {
  const uint64_t poll = slow_launch_poll_ns();
  return poll != 0 ? monotonic_ns() + poll : kNever;
}

// A start that cannot fail.
template <void (*kStart)()> bool start_with(const StartFacts&) {
  kStart();
  return true;
}
template <void (*kFinish)()> void finish_with(bool) { kFinish(); }

constexpr Subsystem kSubsystems[] = {
    {.name = "process", .why_not = why_not_wanted, .describe = describe_process},
    {.name = "put-aside memory",
     .before_restart = [](uint64_t) { free_retired(recording_has_threads); },
     .abandon = abandon_retired},
    {.name = "SIGBUS handler",
     .before_restart = [](uint64_t) { abandon_guarded_mappings(); },
     .start = start_sigbus_handler,
     .abandon = abandon_guarded_mappings},
    {.name = "log file",
     .before_restart = [](uint64_t ended) { g_log.retire(ended); },
     .start = start_log_file,
     .tend = refine_header,
     .finish_log = finish_log_file,
     .abandon = [] { g_log.abandon(); }},
    {.name = "prof ctl",
     .start = start_with<open_control>,
     .tend = switch_samples_if_requested,
     .watch = watch_for_ctl,
     .unload = close_control},
    {.name = "blocks of the log",
     .before_restart = retire_blocks,
     .start = [](const StartFacts&) { return open_blocks(); },
     .tend = tend_blocks,
     .watch = watch_for_full_log,
     .write_back = write_back_blocks,
     .finish_log = finish_blocks,
     .abandon = abandon_blocks},
    {.name = "tables of definitions", .start = [](const StartFacts& facts) { return open_intern_tables(facts.ended); }},
    {.name = "streams", .start = [](const StartFacts& facts) { return open_streams(facts.ended); }},
    {.name = "stacks",
     .start =
         [](const StartFacts& facts) {
           open_stacks(facts.ended != 0);
           return true;
         },
     .describe = describe_stacks},
    {.name = "threads",
     .start =
         [](const StartFacts& facts) {
           open_threads(facts.ended != 0, release_memo);
           return true;
         }},
    {.name = "triggers", .start = start_with<open_triggers>},
    {.name = "repeated launch", .start = start_with<open_repeats>},
    {.name = "host samples",
     .start = start_with<open_host_samples>,
     .tend = tend_host_samples,
     .tick = next_host_samples,
     .stop = finish_host_samples,
     .finish = finish_with<finish_host_samples>,
     .abandon = abandon_host_samples},
    {.name = "hardware counters",
     .start = start_counters,
     .flush = flush_counters,
     .stop = stop_counters,
     .finish = finish_with<finish_counters>,
     .abandon = abandon_counters},
    {.name = "PC samples",
     .start = start_with<open_pc_sampling>,
     .describe = describe_pc_sampling,
     .tick = tend_pc_sampling,
     .stop = stop_pc_sampling,
     .finish = finish_with<finish_pc_sampling>,
     .abandon = abandon_pc_sampling},
    {.name = "GPU activity",
     .prepare = arm_gpu_activity,
     .before_restart = [](uint64_t) { restart_gpu_activity(); },
     .tick = tend_wait_flushes,
     .flush = flush_gpu_activity,
     .describe_stop =
         [] {
           if (cupti_in_use() != nullptr) define_meta("cupti_residual", "CUPTI collects nothing, but stays attached");
         },
     .stop = stop_gpu_activity,
     .finish = finish_gpu,
     .abandon = abandon_gpu_activity},
    {.name = "hardware samples",
     .start = start_with<open_hardware_sampling>,
     .tick = tend_hardware_sampling,
     .stop = stop_hardware_sampling,
     .finish = finish_with<finish_hardware_sampling>,
     .abandon = abandon_hardware_sampling},
    {.name = "completion marks", .stop = stop_all_marks},
    {.name = "budget", .start = start_with<open_budget>, .describe = describe_budget, .tick = tick_budget},
    {.name = "devices", .start = start_with<open_wanted_devices>, .describe = describe_wanted_devices},
    {.name = "calls past the hooks", .tend = describe_bypasses, .finish = finish_with<describe_bypasses>},
    {.name = "dumps of a ring", .start = start_with<open_dumps>, .watch = look_for_slow_launch, .tick = tick_dumps},
};

}  // namespace

Subsystems subsystems() { return {kSubsystems, sizeof kSubsystems / sizeof kSubsystems[0]}; }

}  // namespace prof::preload
