#include "preload/driver/functions.h"

#include "preload/driver/driver.h"
#include "preload/driver/handle_map.h"
#include "preload/log/count.h"
#include "preload/record/append.h"
#include "preload/record/intern.h"
#include "preload/record/texts.h"
#include "preload/record/thread_local.h"

namespace prof::preload {

namespace {

// handle → [31 bits epoch of the recording | 1 bit "is a CUkernel" | 32 bits StringId]. A name is stored only if the
// driver cannot report it later. The bit "is a CUkernel" is always stored, because only cuKernelGetName accepts such a
// handle.
HandleMap<16384> g_learned;
constexpr uint64_t kKernel = uint64_t{1} << 32;

void learn(const void* handle, const char* name, bool driver_can_name, uint64_t kind) {
  uint64_t string = 0;
  if (!driver_can_name && name != nullptr) string = static_cast<uint64_t>(intern_string(name));
  if ((kind | string) == 0 && g_learned.find(handle) == 0) return;
  g_learned.put(handle, t_local.epoch << 33 | kind | string);
}

bool can_name_functions() {
#if CUDA_VERSION >= 12030
  return g_driver.cuFuncGetName != nullptr;
#else
  return false;
#endif
}

format::StringId name_of(CUfunction function) {
  if (const char* const name = driver_name_of(function); name != nullptr) return intern_string(name);
  const uint64_t learned = g_learned.find(function);
  if (learned >> 33 == t_local.epoch << 33 >> 33) return static_cast<format::StringId>(learned & 0xffffffff);
  return {};
}

CUmodule module_of(CUfunction function) {
  if ((g_learned.find(function) & kKernel) != 0 || g_driver.cuFuncGetModule == nullptr) return nullptr;
  const DriverCall own;
  CUmodule module = nullptr;
  return g_driver.cuFuncGetModule(&module, function) == CUDA_SUCCESS ? module : nullptr;
}

}  // namespace

namespace {

format::ModuleId module_id(CUmodule module, bool lasting) {
  if (module == nullptr) return {};
  const uint64_t generation = g_function_generation.load(std::memory_order_relaxed);
  const uint64_t handle = reinterpret_cast<uint64_t>(module);
  const uint64_t hash = Hash().add(handle).add(generation).done();
  const auto write = [&](uint32_t id) {
    format::ModuleDef definition;
    definition.id = static_cast<format::ModuleId>(id);
    definition.handle = handle;
    definition.generation = generation;
    return define(definition);
  };
  return static_cast<format::ModuleId>(lasting ? g_intern.modules.intern_lasting(hash, write)
                                               : g_intern.modules.intern(hash, write));
}

}  // namespace

const char* driver_name_of([[maybe_unused]] CUfunction function) {
  const char* name = nullptr;
#if CUDA_VERSION >= 12030
  if (can_name_functions()) {
    const DriverCall own;
    const bool kernel = (g_learned.find(function) & kKernel) != 0 && g_driver.cuKernelGetName != nullptr;
    const CUresult result = kernel ? g_driver.cuKernelGetName(&name, reinterpret_cast<CUkernel>(function))
                                   : g_driver.cuFuncGetName(&name, function);
    if (result != CUDA_SUCCESS) name = nullptr;
  }
#endif
  return name;
}

namespace {

// In a new generation the handle is queried again. The same handle with the same name in the same module keeps its id.
// Otherwise a program that loads and unloads modules all day would fill the tables.
__attribute__((noinline)) format::FunctionId define_function(CUfunction function, uint64_t key) {
  const uint64_t generation = g_function_generation.load(std::memory_order_relaxed);
  const uint64_t handle = reinterpret_cast<uint64_t>(function);
  const format::StringId name = name_of(function);
  const CUmodule module = module_of(function);
  Hash hash;
  hash.add(handle).add(reinterpret_cast<uint64_t>(module)).add(static_cast<uint64_t>(name));
  if (name == format::StringId{}) {
    count(format::LossCounter::function_name_unknown);
    hash.add(generation);
  }
  const auto write = [&](uint32_t id) {
    format::FunctionDef definition;
    definition.id = static_cast<format::FunctionId>(id);
    definition.name = name;
    definition.module = module_id(module, is_kept(id));
    definition.handle = handle;
    definition.generation = generation;
    return define(definition);
  };
  const uint32_t id = g_intern.functions.intern(hash.done(), write, is_kept(name));
  if (id != 0 && is_kept(id) && name != format::StringId{}) g_intern.function_handles.remember(key, id);
  return static_cast<format::FunctionId>(id);
}

}  // namespace

format::FunctionId function_id(CUfunction function) {
  const uint64_t key = Hash().add(reinterpret_cast<uint64_t>(function)).add(function_key()).done();
  if (const uint32_t known = g_intern.function_handles.find(key); known != 0)
    return static_cast<format::FunctionId>(known);
  return define_function(function, key);
}

void functions_unloaded() { g_function_generation.fetch_add(1, std::memory_order_acq_rel); }

void learn_function(CUfunction function, const char* name) { learn(function, name, can_name_functions(), 0); }

void learn_kernel(CUkernel kernel, const char* name) {
#if CUDA_VERSION >= 12030
  const bool can_name = g_driver.cuKernelGetName != nullptr;
#else
  const bool can_name = false;
#endif
  learn(kernel, name, can_name, kKernel);
}

}  // namespace prof::preload
