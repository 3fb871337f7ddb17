// One hook for each row of cuda_api.def: call() replaces the driver's function. The topic of the row defines what
// happens around the real call: enter() before it (returns its state), leave() after it. It runs in the program:
// nothing here may allocate, lock, throw, change errno or change the result. No object here has a destructor that must
// run, so pthread_cancel and longjmp may leave through a hook.
#pragma once

#include "preload/capture/cupti/gpu_state.h"
#include "preload/capture/gpu_activity.h"
#include "preload/control/repeats.h"
#include "preload/control/triggers.h"
#include "preload/driver/api.h"
#include "preload/hardware_counters/counter_recording.h"
#include "preload/hardware_counters/counter_work.h"
#include "preload/intercept/records/record_arguments.h"
#include "preload/intercept/records/record_call.h"
#include "preload/intercept/records/repeated_call.h"
#include "preload/lifecycle/call_scope.h"
#include "preload/lifecycle/recording_period.h"
#include "preload/log/count.h"
#include "preload/record/recording_window.h"
#include "preload/record/thread_local.h"

#include <cerrno>
#include <utility>

namespace prof::preload {

// The rows whose hooks inline everything that they call: 40 ns a launch instead of 51 (2-core VM). launch_hooks.cpp
// instantiates them, because in a file with all rows the compiler would exceed its limits and inline less.
#define PROF_FLAT_ROWS(X) X(cuLaunchKernel) X(cuLaunchKernel_ptsz) X(cuLaunchKernelEx) X(cuLaunchKernelEx_ptsz)
enum class Inlining { ByCompiler, Everything };
template <Api api> inline constexpr Inlining kInlining = Inlining::ByCompiler;
#define PROF_FLAT_ROW(name) template <> inline constexpr Inlining kInlining<Api::name> = Inlining::Everything;
PROF_FLAT_ROWS(PROF_FLAT_ROW)
#undef PROF_FLAT_ROW

// Opens CUPTI before the first launch or context, outside the time that is recorded for that call. If the recording
// ends with a launch, it counts launches.
void prepare_gpu_activity(bool launch);

// An NVTX range of the domain "prof" around launches that the recorder makes itself.
struct RepeatRange {
  RepeatRange();
  ~RepeatRange();
};

template <class Topic>
concept Repeatable = requires {
  Topic::kRepeatable;
};

// A fill that a library may launch before a kernel to reset memory. It is repeated together with that kernel.
template <class Topic>
concept MadeAgain = requires {
  Topic::kMadeAgain;
}
&&Topic::kMadeAgain;

// A topic that must know of a call even if the call is not recorded.
template <class Topic>
concept AroundReal = requires {
  Topic::before_real();
};

template <Api api, class Function = typename Row<api>::Function, Inlining inlining = kInlining<api>> struct Hook;

template <Api api, class... Args> struct Hook<api, CUresult(CUDAAPI*)(Args...), Inlining::ByCompiler> {
  static CUresult call(Args... args) {  // not noexcept: a cancelled thread unwinds through here
    using Topic = typename Row<api>::Topic;
    if (!window_is(Window::Open)) [[unlikely]] {
      if (passes_by()) return real(args...);
    }
    int& error = thread_errno();
    const int error_before = error;
    if constexpr (Topic::kNeedsGpuActivity) {
      if (__atomic_load_n(&g_gpu_activity_tried, __ATOMIC_RELAXED) == 0) [[unlikely]] {
        prepare_gpu_activity(Row<api>::kIsLaunch);
        if (awaits_repeated_kernel()) {
          if constexpr (Repeatable<Topic>) {
            return call_and_repeat(args...);
          } else if constexpr (MadeAgain<Topic>) {
            return call_and_keep<Topic>(args...);
          } else {
            clear_fills();
          }
        }
        if constexpr (Row<api>::kIsLaunch) {
          if (hardware_counters_on()) return call_measured(args...);
        }
      }
    }
    CallScope scope(api_id(api), PROF_HOOK_FRAME());
    if (!scope.recording()) [[unlikely]] {
      error = error_before;
      if constexpr (Row<api>::kIsLaunch) {
        if (window_is(Window::AwaitsLaunch)) [[unlikely]]
          return call_awaiting(args...);
      }
      return real(args...);
    }
    define_api(api);
    auto state = Topic::enter(Caller<api>{}, scope, args...);
    error = error_before;
    const CUresult result = real(args...);
    scope.end();
    const int error_after = error;
    if (scope.still_recording()) [[likely]]
      Topic::leave(Caller<api>{}, scope, state, result, args...);
    scope.leave();
    error = error_after;
    return result;
  }

 private:
  static CUresult real(Args... args) {
    using Topic = typename Row<api>::Topic;
    if constexpr (AroundReal<Topic>) {
      Topic::before_real();
      const CUresult result = real_of<api>()(args...);
      Topic::after_real(result);
      return result;
    } else {
      return real_of<api>()(args...);
    }
  }

  // PROF_COUNTERS: the call runs alone on its context, between two marks. The recorded time does not include this work.
  __attribute__((noinline, cold)) static CUresult call_measured(Args... args) {
    using Topic = typename Row<api>::Topic;
    const int error_before = errno;
    CallScope scope(api_id(api), PROF_HOOK_FRAME());
    if (!scope.recording()) {
      errno = error_before;
      return window_is(Window::AwaitsLaunch) ? call_awaiting(args...) : real(args...);
    }
    define_api(api);
    auto state = Topic::enter(Caller<api>{}, scope, args...);
    const MeasuredLaunch measured = begin_measured_launch(Topic::work(Caller<api>{}, args...));
    scope.restart_timer();
    errno = error_before;
    const CUresult result = real(args...);
    scope.end();
    const int error_after = errno;
    end_measured_launch(measured);
    if (scope.still_recording()) {
      Topic::leave(Caller<api>{}, scope, state, result, args...);
      keep_measured_launch(measured, result == CUDA_SUCCESS, scope.end_tick());
    } else {
      drop_measured_launch(measured);
    }
    scope.leave();
    errno = error_after;
    return result;
  }

  // Not inlined: inlining it would cost the launch path registers and stack.
  __attribute__((noinline, cold)) static CUresult call_awaiting(Args... args) {
    return is_awaited_launch() ? Hook<api>::call(args...) : real(args...);
  }

  __attribute__((noinline, cold)) static CUresult call_and_repeat(Args... args) {
    const uint32_t times = Row<api>::Topic::repeats(Caller<api>{}, args...);
    const CUresult result = Hook<api>::call(args...);
    if (times != 0 && result == CUDA_SUCCESS) repeat(times, ForRepeat<Args>(args)...);
    repeat_is_over();
    return result;
  }

  // Each repeat is made after a repeat of the fills that were before the program's own launch.
  static void repeat(uint32_t times, const ForRepeat<Args>&... each) {
    const RepeatRange range;
    uint32_t made = 0, fills = 0;
    CUresult result = CUDA_SUCCESS;
    while (made < times) {
      result = static_cast<CUresult>(repeat_kept_fills(fills));
      if (result == CUDA_SUCCESS) result = Hook<api>::call(each.get()...);
      if (result != CUDA_SUCCESS) break;
      ++made;
    }
    count(format::LossCounter::launches_repeated, made + fills);
    if (made < times) report_repeat_error(made + 1, times, result);
  }

  template <class Topic> __attribute__((noinline, cold)) static CUresult call_and_keep(Args... args) {
    begin_fill();
    const CUresult result = Hook<api>::call(args...);
    clear_fills_of_others(Topic::stream(args...), static_cast<uint32_t>(Row<api>::kNullStream));
    if (result == CUDA_SUCCESS && Topic::is_queued(Caller<api>{}, args...)) {
      keep_fill({again, {word_of(args)...}}, Topic::stream(args...), static_cast<uint32_t>(Row<api>::kNullStream));
    } else {
      clear_fills();
    }
    repeat_is_over();
    return result;
  }
  static int again(const uint64_t* words) { return again(words, std::index_sequence_for<Args...>{}); }
  template <size_t... at> static int again(const uint64_t* words, std::index_sequence<at...>) {
    return Hook<api>::call(from_word<Args>(words[at])...);
  }
};

template <Api api, class... Args> struct Hook<api, CUresult(CUDAAPI*)(Args...), Inlining::Everything> {
  // Without the check of the stack's end: nothing here is an array.
  __attribute__((flatten, no_stack_protector)) static CUresult call(Args... args) {
    return Hook<api, CUresult(CUDAAPI*)(Args...), Inlining::ByCompiler>::call(args...);
  }
};

template <Api api>
concept PlainRow = requires {
  Row<api>::Topic::kPlain;
};

template <Api api>
concept SayingRow = requires {
  Row<api>::Topic::kSays;
};

template <Api api, class... Args>
requires PlainRow<api>
struct Hook<api, CUresult(CUDAAPI*)(Args...), Inlining::ByCompiler> {
  static CUresult call(Args... args) {
    PlainCall call = enter(PROF_HOOK_FRAME(), args...);
    if (!call.recording()) return real_of<api>()(args...);
    const CUresult result = real_of<api>()(args...);
    const uint64_t object = Row<api>::Topic::object(result, args...);
    if constexpr (SayingRow<api>) {
      return call.leave(api, object, result, arguments_of(result, args...));
    } else {
      return call.leave(api, object, result);
    }
  }

 private:
  static PlainCall enter(void* frame, Args... args) {
    if constexpr (kHas<CUstream, Args...>) {
      return PlainCall(api, frame, argument<CUstream>(args...), Row<api>::kNullStream);
    } else {
      return PlainCall(api, frame);
    }
  }
};

}  // namespace prof::preload
