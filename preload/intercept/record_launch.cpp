#include "preload/intercept/record_launch.h"

#include "preload/log/intern.h"

namespace prof::preload {

std::atomic<uint64_t> g_config_cache[8192];

__attribute__((noinline)) LaunchShape launch_shape(const CUlaunchConfig* config, CUfunction f, void**, void**) {
  LaunchShape shape;
  shape.function = f;
  if (config == nullptr) return shape;  // the driver will say what it thinks of that
  shape.grid[0] = config->gridDimX, shape.grid[1] = config->gridDimY, shape.grid[2] = config->gridDimZ;
  shape.block[0] = config->blockDimX, shape.block[1] = config->blockDimY, shape.block[2] = config->blockDimZ;
  shape.shared_bytes = config->sharedMemBytes;
  shape.stream = config->hStream;
  if (config->attrs == nullptr) return shape;
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const CUlaunchAttribute& attribute = config->attrs[i];
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE && attribute.value.cooperative != 0) {
      shape.attributes |= format::kConfigCooperative;
    } else if ((attribute.id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION &&
                attribute.value.programmaticStreamSerializationAllowed != 0) ||
               attribute.id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT) {
      shape.attributes |= format::kConfigProgrammatic;
    }
  }
  return shape;
}

__attribute__((noinline)) format::ConfigId config_id_slow(const LaunchShape& s, Api api, bool succeeded, uint64_t key) {
  const format::FunctionId function = succeeded ? function_id(s.function) : format::FunctionId{};
  Hash hash;
  hash.add(static_cast<uint64_t>(function) << 32 | static_cast<uint32_t>(api));
  for (int i = 0; i < 3; ++i) hash.add(static_cast<uint64_t>(s.grid[i]) << 32 | s.block[i]);
  hash.add(static_cast<uint64_t>(s.shared_bytes) << 32 | s.attributes);
  const uint32_t id = g_intern.configs.intern(hash.done(), [&](uint32_t fresh) {
    format::ConfigDef config;
    config.id = static_cast<format::ConfigId>(fresh);
    config.api = api_id(api);
    config.function = function;
    for (int i = 0; i < 3; ++i) config.grid[i] = s.grid[i], config.block[i] = s.block[i];
    config.shared_bytes = s.shared_bytes;
    config.attributes = s.attributes;
    return define(config);
  });
  if (id != 0 && id <= 0xffffff && succeeded && function != format::FunctionId{}) {
    g_config_cache[key & 8191].store((key & ~uint64_t{0xffffff}) | id, std::memory_order_relaxed);
  }
  return static_cast<format::ConfigId>(id);
}

namespace topic {

void LaunchMany::leave_many(const CallScope& scope, Api api, NullStream null_stream, CUresult result,
                            const CUDA_LAUNCH_PARAMS* list, unsigned count) {
  if (gpu_activity_needs_external_ids()) pop_external_id();
  if (list == nullptr) return;
  for (unsigned i = 0; i < count; ++i) {
    const CUDA_LAUNCH_PARAMS& one = list[i];
    const LaunchShape shape = {one.function,
                               {one.gridDimX, one.gridDimY, one.gridDimZ},
                               {one.blockDimX, one.blockDimY, one.blockDimZ},
                               one.sharedMemBytes,
                               one.hStream,
                               format::kConfigCooperative};
    Launching state;
    state.stream = stream_state(shape.stream, null_stream);
    state.depth = depth_before(state.stream);
    state.flags = gpu_activity_on() ? 0 : format::kLaunchNoGpuTimes;
    state.external_id = false;
    count_launch(scope, state, shape.stream, result, 1, false);
    emit_launch(scope, state, shape, api, result);
  }
}

}  // namespace topic
}  // namespace prof::preload
