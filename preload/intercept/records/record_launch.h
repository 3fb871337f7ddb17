// Kernel launches: each has one KernelLaunch event, and its shape is interned as a ConfigId. This is the hottest path
// of libprof.so: one comparison of the shape with one that the thread launched before, one record. It runs in the
// program.
#pragma once

#include "preload/capture/gpu_activity.h"
#include "preload/capture/gpu_bursts.h"
#include "preload/control/budget.h"
#include "preload/control/repeats.h"
#include "preload/driver/functions.h"
#include "preload/driver/null_stream.h"
#include "preload/hardware_counters/counter_recording.h"
#include "preload/hardware_counters/counter_work.h"
#include "preload/intercept/records/captured_node.h"
#include "preload/intercept/records/record_call.h"
#include "preload/lifecycle/call_scope.h"
#include "preload/record/append.h"
#include "preload/record/intern.h"
#include "preload/record/launch_extras.h"
#include "preload/stacks/call_stack.h"

namespace prof::preload {

// Two 32-bit numbers share one word that is written and read as a whole. As single numbers, they were stored as halves
// and loaded as words for the hash. Such a load waits until the stores have left the store buffer: 5 ns a launch.
struct LaunchShape {
  static constexpr uint64_t pair(uint32_t low, uint32_t high) { return static_cast<uint64_t>(high) << 32 | low; }
  static constexpr uint32_t low(uint64_t word) { return static_cast<uint32_t>(word); }
  static constexpr uint32_t high(uint64_t word) { return static_cast<uint32_t>(word >> 32); }

  CUfunction function = nullptr;
  CUstream stream = nullptr;
  uint64_t grid_xy = 0;
  uint64_t grid_z_block_x = 0;
  uint64_t block_yz = 0;           // a block of 0: set earlier by cuFuncSetBlockShape
  uint64_t shared_attributes = 0;  // dynamic shared memory in bytes, format::kConfig…

  uint32_t attributes() const { return high(shared_attributes); }
};
constexpr LaunchShape shape_of(CUfunction function, CUstream stream, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx,
                               uint32_t by, uint32_t bz, uint32_t shared_bytes, uint32_t attributes) {
  return {function,
          stream,
          LaunchShape::pair(gx, gy),
          LaunchShape::pair(gz, bx),
          LaunchShape::pair(by, bz),
          LaunchShape::pair(shared_bytes, attributes)};
}

// Which kernel does a function of the topic Launch launch, and with which shape? One form for each list of arguments.
namespace form {

struct Kernel {
  static constexpr bool kNeverProgrammatic = true;
  static CUstream stream(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                         CUstream stream, void**, void**) {
    return stream;
  }
  static LaunchShape shape(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                           unsigned shared, CUstream stream, void**, void**) {
    return shape_of(f, stream, gx, gy, gz, bx, by, bz, shared, 0);
  }
};
struct CooperativeKernel {
  static constexpr bool kNeverProgrammatic = false;
  static LaunchShape shape(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                           unsigned shared, CUstream stream, void**) {
    return shape_of(f, stream, gx, gy, gz, bx, by, bz, shared, format::kConfigCooperative);
  }
};
struct KernelConfig {
  static constexpr bool kNeverProgrammatic = false;
  static LaunchShape shape(const CUlaunchConfig* config, CUfunction f, void**, void**);
};
// cuFuncSetBlockShape sets the block earlier.
struct Function {
  static constexpr bool kNeverProgrammatic = false;
  static LaunchShape shape(CUfunction f) { return shape_of(f, nullptr, 1, 1, 1, 0, 0, 0, 0, 0); }
};
struct FunctionGrid {
  static constexpr bool kNeverProgrammatic = false;
  static LaunchShape shape(CUfunction f, int width, int height, CUstream stream = nullptr) {
    return shape_of(f, stream, static_cast<uint32_t>(width), static_cast<uint32_t>(height), 1, 0, 0, 0, 0, 0);
  }
};

}  // namespace form

// The id of a shape, defined when it is first seen; it is for one use if the table is full. 0: the log is full. For a
// failed launch the driver is never queried about the function, because the handle may be invalid.
format::ConfigId config_id_slow(LaunchShape shape, Api api, bool succeeded, uint64_t key);

// Where a shape is in KnownShape tables of threads.
inline uint32_t place_of(const LaunchShape& s) {
  constexpr uint64_t kFactor = 0x9e3779b97f4a7c15;
  const uint64_t mixed = (s.grid_xy + s.grid_z_block_x) * kFactor + reinterpret_cast<uint64_t>(s.function);
  return static_cast<uint32_t>(mixed * kFactor >> 58);
}
static_assert(kKnownShapes == 1u << (64 - 58));

// The same for any launch. The thread's own table has the shapes of its last launches. The shape comes as its words, so
// that it stays in registers.
format::ConfigId config_id_of_other(CUfunction function, uint64_t grid_xy, uint64_t grid_z_block_x, uint64_t block_yz,
                                    uint64_t shared_attributes, Api api, bool succeeded);

inline format::ConfigId config_id(const LaunchShape& s, Api api, bool succeeded) {
  const uint64_t shared = s.shared_attributes | static_cast<uint64_t>(api) << 48;
  const KnownShape& known = t_local.state->shapes[place_of(s)];
  if (known.words[0] == reinterpret_cast<uint64_t>(s.function) && known.words[1] == s.grid_xy &&
      known.words[2] == s.grid_z_block_x && known.words[3] == s.block_yz && known.words[4] == shared &&
      known.words[5] == function_key()) [[likely]]
    return static_cast<format::ConfigId>(known.id);
  return config_id_of_other(s.function, s.grid_xy, s.grid_z_block_x, s.block_yz, s.shared_attributes, api, succeeded);
}

// State of a launch between its entry and its return. A launch is any operation that the queue depth counts.
struct Launching {
  StreamState* stream;
  uint64_t depth;
  uint32_t flags;
};

inline Launching enter_launch(CUstream stream, NullStream null_stream) {
  Launching state;
  state.stream = stream_state(stream, null_stream);
  state.depth = depth_before(state.stream);
  state.flags = gpu_activity_on() ? 0 : format::kLaunchNoGpuTimes;
  return state;
}

// Called after the real call. The launch counts unless it failed or only became a node of a graph.
inline void count_launch(const CallScope& scope, Launching& state, CUstream stream, CUresult result,
                         uint64_t operations, bool programmatic) {
  if (result != CUDA_SUCCESS) [[unlikely]]
    return note_error(result);
  if (is_captured(state.stream, stream)) [[unlikely]] {
    state.flags |= format::kLaunchCaptured;
    const CallScope copy = scope;  // a scope whose address is passed on could not stay in registers
    record_captured_node(copy, state.stream, stream);
    return;
  }
  launched(state.stream, operations, scope.end_tick());
  if (gpu_in_bursts() && !gpu_burst_holds(state.stream, scope.begin_tick(), scope.end_tick(), operations)) [[unlikely]]
    state.flags |= format::kLaunchNoGpuTimes;
  mark_if_due(state.stream, programmatic);
}

// Whether PROF_DEVICES leaves out the stream's device. Such a launch is not recorded, but this function counts it.
bool is_left_out(const StreamState* stream);

// Writes the event with its call stack, unless its device is left out. Measures the launch for PROF_BUDGET. Its
// parameters are the event's fields: an event whose address is passed on could not stay in registers.
void emit_with_extras(uint64_t end, uint64_t duration, format::ConfigId config, const StreamState* stream,
                      uint64_t depth, uint32_t result, uint32_t flags);

inline void emit_launch(const CallScope& scope, const Launching& state, const LaunchShape& shape, Api api,
                        CUresult result) {
  const format::ConfigId config = config_id(shape, api, result == CUDA_SUCCESS);
  if (g_launch_extras.load(std::memory_order_relaxed) != 0) [[unlikely]] {
    emit_with_extras(scope.end_tick(), scope.duration(), config, state.stream, state.depth,
                     static_cast<uint32_t>(result), state.flags);
    return;
  }
  format::KernelLaunch event;
  event.end = scope.end_tick();
  event.duration = scope.duration();
  event.config = config;
  event.stream = stream_id(state.stream);
  event.depth = state.depth;
  event.result = static_cast<uint32_t>(result);
  event.flags = state.flags;
  emit(event);
}

namespace topic {

struct Launch {
  static constexpr bool kNeedsGpuActivity = true, kRepeatable = true;
  // How many further times this launch is to be made (PROF_REPEAT_KERNEL).
  template <class C, class... Args> static uint32_t repeats(C, Args... args) {
    const LaunchShape shape = C::Form::shape(args...);
    const uint32_t times =
        repeat_count_of(captured(shape.stream, C::kNullStream) ? nullptr : driver_name_of(shape.function));
    clear_fills_of_others(shape.stream, static_cast<uint32_t>(C::kNullStream));
    return times;
  }
  template <class C, class... Args> static LaunchedWork work(C, Args... args) {
    const LaunchShape shape = C::Form::shape(args...);
    return {LaunchedWork::Kind::Kernel, shape.function, shape.stream};
  }
  template <class C, class... Args> static Launching enter(C, const CallScope&, Args... args) {
    return enter_launch(C::Form::shape(args...).stream, C::kNullStream);
  }
  template <class C, class... Args>
  static void leave(C, const CallScope& scope, Launching& state, CUresult result, Args... args) {
    if constexpr (C::Form::kNeverProgrammatic) {  // the shape is made late, so that its words stay in registers
      count_launch(scope, state, C::Form::stream(args...), result, 1, false);
      emit_launch(scope, state, C::Form::shape(args...), C::kApi, result);
    } else {
      const LaunchShape shape = C::Form::shape(args...);
      count_launch(scope, state, shape.stream, result, 1, (shape.attributes() & format::kConfigProgrammatic) != 0);
      emit_launch(scope, state, shape, C::kApi, result);
    }
  }
};

// cuLaunchCooperativeKernelMultiDevice: one event for each device, all with the times of the one call.
struct LaunchMany {
  static constexpr bool kNeedsGpuActivity = true;
  template <class C, class... Args> static LaunchedWork work(C, Args...) {
    return {LaunchedWork::Kind::Kernels, nullptr, nullptr};
  }
  template <class C> static Nothing enter(C, const CallScope&, CUDA_LAUNCH_PARAMS*, unsigned, unsigned) { return {}; }
  template <class C>
  static void leave(C, const CallScope& scope, Nothing, CUresult result, CUDA_LAUNCH_PARAMS* list, unsigned count,
                    unsigned) {
    leave_many(scope, C::kApi, C::kNullStream, result, list, count);
  }
  static void leave_many(const CallScope& scope, Api api, NullStream null_stream, CUresult result,
                         const CUDA_LAUNCH_PARAMS* list, unsigned count);
};

}  // namespace topic
}  // namespace prof::preload
