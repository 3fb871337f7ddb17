#include "preload/intercept/records/record_launch.h"

#include "preload/driver/null_stream.h"
#include "preload/intercept/records/repeated_call.h"
#include "preload/lifecycle/call_scope.h"
#include "preload/log/count.h"
#include "preload/record/append.h"
#include "preload/record/intern.h"
#include "preload/record/launch_extras.h"

namespace prof::preload {

namespace {

// 2^13 entries of [40-bit tag | 24-bit id]. An entry may be overwritten at any time: a miss costs a search in the
// interned tables, never a second id.
std::atomic<uint64_t> g_config_cache[8192];

void keep_shape(const LaunchShape& s, uint64_t shared, uint64_t generation, uint32_t id) {
  ThreadState& thread = *t_local.state;
  if (thread.keeps_shape) return;
  thread.keeps_shape = true;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  KnownShape& known = thread.shapes[place_of(s)];
  known.words[0] = 0;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  known.words[1] = s.grid_xy;
  known.words[2] = s.grid_z_block_x;
  known.words[3] = s.block_yz;
  known.words[4] = shared;
  known.words[5] = generation;
  known.id = id;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  known.words[0] = reinterpret_cast<uint64_t>(s.function);
  thread.keeps_shape = false;
}

}  // namespace

__attribute__((noinline)) LaunchShape form::KernelConfig::shape(const CUlaunchConfig* config, CUfunction f, void**,
                                                                void**) {
  if (config == nullptr)
    return shape_of(f, nullptr, 0, 0, 0, 0, 0, 0, 0, 0);  // the real call returns the error for a null config
  uint32_t attributes = 0;
  for (unsigned i = 0; config->attrs != nullptr && i < config->numAttrs; ++i) {
    const CUlaunchAttribute& attribute = config->attrs[i];
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE && attribute.value.cooperative != 0) {
      attributes |= format::kConfigCooperative;
    } else if ((attribute.id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION &&
                attribute.value.programmaticStreamSerializationAllowed != 0) ||
               attribute.id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT) {
      attributes |= format::kConfigProgrammatic;
    }
  }
  return shape_of(f, config->hStream, config->gridDimX, config->gridDimY, config->gridDimZ, config->blockDimX,
                  config->blockDimY, config->blockDimZ, config->sharedMemBytes, attributes);
}

ForRepeat<const CUlaunchConfig*>::ForRepeat(const CUlaunchConfig* given) : given_(given) {
  if (given == nullptr || given->attrs == nullptr) return;
  unsigned kept = 0;
  for (unsigned i = 0; i < given->numAttrs; ++i) {
    const CUlaunchAttribute& attribute = given->attrs[i];
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION ||
        attribute.id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT ||
        attribute.id == CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT)
      continue;
    if (kept == kMostAttributes) return;
    attributes_[kept++] = attribute;
  }
  if (kept == given->numAttrs) return;
  config_ = *given;
  config_.attrs = attributes_;
  config_.numAttrs = kept;
  changed_ = true;
}

__attribute__((noinline)) format::ConfigId config_id_of_other(CUfunction function, uint64_t grid_xy,
                                                              uint64_t grid_z_block_x, uint64_t block_yz,
                                                              uint64_t shared_attributes, Api api, bool succeeded) {
  const LaunchShape s{function, nullptr, grid_xy, grid_z_block_x, block_yz, shared_attributes};
  const uint64_t generation = function_key();
  const uint64_t shared = s.shared_attributes | static_cast<uint64_t>(api) << 48;
  // Independent products instead of a chain of six: 4 ns instead of 12.
  const uint64_t a =
      Hash::fold(reinterpret_cast<uint64_t>(s.function) ^ 0xa0761d6478bd642f, generation ^ 0xe7037ed1a0b428db);
  const uint64_t b = Hash::fold(s.grid_xy ^ 0x8ebc6af09c88c6e3, s.grid_z_block_x ^ 0x589965cc75374cc3);
  const uint64_t c = Hash::fold(s.block_yz ^ 0x1d8e4e27c47d124f, shared ^ 0xeb44accab455d165);
  const uint64_t key = Hash::fold(a ^ b, c + 0x9e3779b97f4a7c15);
  const auto cached = [key] {
    const uint64_t entry = g_config_cache[key & 8191].load(std::memory_order_relaxed);
    return (entry ^ key) >> 24 == 0 ? static_cast<uint32_t>(entry & 0xffffff) : 0;
  };
  const uint32_t known = cached();
  const format::ConfigId id = known != 0 ? format::ConfigId{known} : config_id_slow(s, api, succeeded, key);
  if (s.function != nullptr && id != format::ConfigId{} && cached() == static_cast<uint32_t>(id))
    keep_shape(s, shared, generation, static_cast<uint32_t>(id));
  return id;
}

__attribute__((noinline)) format::ConfigId config_id_slow(LaunchShape s, Api api, bool succeeded, uint64_t key) {
  const format::FunctionId function = succeeded ? function_id(s.function) : format::FunctionId{};
  Hash hash;
  hash.add(static_cast<uint64_t>(function) << 32 | static_cast<uint32_t>(api));
  hash.add(s.grid_xy).add(s.grid_z_block_x).add(s.block_yz).add(s.shared_attributes);
  const auto write = [&](uint32_t fresh) {
    format::ConfigDef config;
    config.id = static_cast<format::ConfigId>(fresh);
    config.api = api_id(api);
    config.function = function;
    config.grid[0] = LaunchShape::low(s.grid_xy);
    config.grid[1] = LaunchShape::high(s.grid_xy);
    config.grid[2] = LaunchShape::low(s.grid_z_block_x);
    config.block[0] = LaunchShape::high(s.grid_z_block_x);
    config.block[1] = LaunchShape::low(s.block_yz);
    config.block[2] = LaunchShape::high(s.block_yz);
    config.shared_bytes = LaunchShape::low(s.shared_attributes);
    config.attributes = s.attributes();
    return define(config);
  };
  const uint32_t id = g_intern.configs.intern(hash.done(), write, is_kept(function));
  if (id != 0 && is_kept(id) && succeeded && function != format::FunctionId{}) {
    g_config_cache[key & 8191].store((key & ~uint64_t{0xffffff}) | id, std::memory_order_relaxed);
  }
  return static_cast<format::ConfigId>(id);
}

__attribute__((noinline)) bool is_left_out(const StreamState* stream) {
  if (stream == nullptr || !stream->left_out) return false;
  count(format::LossCounter::other_device_launches);
  return true;
}

__attribute__((noinline)) void emit_with_extras(uint64_t end, uint64_t duration, format::ConfigId config,
                                                const StreamState* stream, uint64_t depth, uint32_t result,
                                                uint32_t flags) {
  format::KernelLaunch event;
  event.end = end;
  event.duration = duration;
  event.config = config;
  event.stream = stream_id(stream);
  event.depth = depth;
  event.result = result;
  event.flags = flags;
  if (!is_left_out(stream)) {
    event.stack = stack_for(StackUse::Launch);
    emit(event);
  }
  if (budget_on()) budget_launch(event);
}

namespace topic {

void LaunchMany::leave_many(const CallScope& scope, Api api, NullStream null_stream, CUresult result,
                            const CUDA_LAUNCH_PARAMS* list, unsigned count) {
  if (list == nullptr) return;
  for (unsigned i = 0; i < count; ++i) {
    const CUDA_LAUNCH_PARAMS& one = list[i];
    const LaunchShape shape =
        shape_of(one.function, one.hStream, one.gridDimX, one.gridDimY, one.gridDimZ, one.blockDimX, one.blockDimY,
                 one.blockDimZ, one.sharedMemBytes, format::kConfigCooperative);
    Launching state = enter_launch(shape.stream, null_stream);
    count_launch(scope, state, shape.stream, result, 1, false);
    emit_launch(scope, state, shape, api, result);
  }
}

}  // namespace topic
}  // namespace prof::preload
