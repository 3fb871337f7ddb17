#include "preload/driver/gpu_devices.h"

#include "preload/base/decimal.h"
#include "preload/base/helper_wake.h"
#include "preload/base/options.h"
#include "preload/driver/driver.h"
#include "preload/format/number_list.h"
#include "preload/record/append.h"
#include "preload/record/launch_extras.h"
#include "preload/record/texts.h"

#include <cstring>

namespace prof::preload {

uint64_t g_wanted_devices = UINT64_MAX;
std::atomic<uint64_t> g_awaited_devices{0}, g_seen_devices{0};

namespace {

void define_properties(CUdevice device, uint32_t ordinal) {
  size_t bytes = 0;
  if (g_driver.cuDeviceTotalMem_v2 != nullptr && g_driver.cuDeviceTotalMem_v2(&bytes, device) == CUDA_SUCCESS) {
    define(format::DeviceProperty{ordinal, "totalGlobalMem", bytes});
  }
  if (g_driver.cuDeviceGetAttribute == nullptr) return;
  int value = 0;
#define PROF_DEVICE_PROPERTY(name, attribute, times)                                      \
  if (g_driver.cuDeviceGetAttribute(&value, attribute, device) == CUDA_SUCCESS) {         \
    define(format::DeviceProperty{ordinal, #name, static_cast<uint64_t>(value) * times}); \
  }
#include "preload/driver/device_properties.def"
#undef PROF_DEVICE_PROPERTY
}

void define_device(CUdevice device) {
  format::DeviceDef definition;
  definition.ordinal = static_cast<uint32_t>(device);
  char name[256] = {};
  if (g_driver.cuDeviceGetName != nullptr && g_driver.cuDeviceGetName(name, sizeof name - 1, device) == CUDA_SUCCESS) {
    definition.name = name;
  }
  CUuuid uuid{};
  char digits[2 * sizeof uuid.bytes];
  if (g_driver.cuDeviceGetUuid_v2 != nullptr && g_driver.cuDeviceGetUuid_v2(&uuid, device) == CUDA_SUCCESS) {
    for (size_t i = 0; i < sizeof uuid.bytes; ++i) {
      const auto byte = static_cast<unsigned char>(uuid.bytes[i]);
      digits[2 * i] = "0123456789abcdef"[byte >> 4];
      digits[2 * i + 1] = "0123456789abcdef"[byte & 15];
    }
    definition.uuid = {digits, sizeof digits};
  }
  define(definition);
  define_properties(device, definition.ordinal);
}

}  // namespace

void open_wanted_devices() {
  uint64_t wanted = 0;
  for (uint64_t device = 0; device < 64; ++device) {
    if (options().devices.has(device)) wanted |= uint64_t{1} << device;
  }
  g_wanted_devices = wanted;
  set_launch_extra(kLaunchDevices, !every_device_wanted());
}

void describe_wanted_devices() {
  if (!every_device_wanted()) define_meta("devices", options().devices.list);
}

void await_devices(uint64_t devices) {
  g_seen_devices.store(0, std::memory_order_relaxed);
  g_awaited_devices.store(devices, std::memory_order_relaxed);
}

void await_device_no_more(uint32_t device) {
  g_awaited_devices.fetch_and(~(uint64_t{1} << device), std::memory_order_relaxed);
}

void device_seen(uint32_t device) {
  if (device >= 64) return;
  const uint64_t bit = uint64_t{1} << device;
  if ((g_awaited_devices.load(std::memory_order_relaxed) & bit) == 0) return;
  if ((g_seen_devices.fetch_or(bit, std::memory_order_acq_rel) & bit) == 0) wake_helper();
}

int read_driver_version() {
  const DriverCall call;
  int version = 0;
  if (g_driver.cuDriverGetVersion == nullptr || g_driver.cuDriverGetVersion(&version) != CUDA_SUCCESS) return 0;
  return version;
}

int define_devices() {
  const DriverCall call;
  const int version = read_driver_version();
  if (version != 0) define_meta("driver_version", Decimal(static_cast<uint64_t>(version)).text());
  int count = 0;
  if (g_driver.cuDeviceGetCount == nullptr || g_driver.cuDeviceGetCount(&count) != CUDA_SUCCESS) return version;
  for (CUdevice device = 0; device < count; ++device) define_device(device);
  return version;
}

}  // namespace prof::preload
