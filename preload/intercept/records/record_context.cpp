#include "preload/intercept/records/record_context.h"

#include "preload/driver/driver.h"
#include "preload/driver/handle_map.h"

namespace prof::preload {
namespace {

constexpr int kDevices = 64;
std::atomic<CUcontext> g_primary[kDevices];
HandleMap<256> g_green;  // green context -> the context that it converts to

}  // namespace

void primary_context_retained(CUdevice device, CUcontext context) {
  if (device >= 0 && device < kDevices) g_primary[device].store(context, std::memory_order_relaxed);
}

CUcontext primary_context(CUdevice device) {
  return device >= 0 && device < kDevices ? g_primary[device].load(std::memory_order_relaxed) : nullptr;
}

bool primary_context_active(CUdevice device) {
  if (g_driver.cuDevicePrimaryCtxGetState == nullptr) return true;
  const DriverCall own;
  unsigned flags = 0;
  int active = 0;
  return g_driver.cuDevicePrimaryCtxGetState(device, &flags, &active) != CUDA_SUCCESS || active != 0;
}

void green_context_known(CUgreenCtx green, CUcontext context) {
  if (context != nullptr) g_green.put(green, reinterpret_cast<uint64_t>(context));
}

void green_context_destroyed(CUgreenCtx green) {
  const uint64_t context = g_green.find(green);
  g_green.erase(green);
  if (context == 0) return;
  counters_before_context_end(reinterpret_cast<CUcontext>(context), true);
  context_and_code_destroyed(reinterpret_cast<CUcontext>(context));
}

void context_and_code_destroyed(CUcontext context) {
  functions_unloaded();
  if (context != nullptr) context_destroyed(context);
}

}  // namespace prof::preload
