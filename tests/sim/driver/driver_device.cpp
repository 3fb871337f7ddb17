// Devices: initialisation, number, names, attributes.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "tests/sim/api_call.h"
#include "tests/sim/device.h"
#include "tests/sim/objects.h"

namespace sim {
namespace {

std::atomic<bool> g_initialised{false};

// CUDA_VISIBLE_DEVICES, numbers only: the listed devices, up to the first that does not exist.
std::vector<size_t> visible() {
  const size_t count = script().devices.size();
  std::vector<size_t> all;
  const char* at = getenv("CUDA_VISIBLE_DEVICES");
  if (at == nullptr) {
    for (size_t i = 0; i < count; ++i) all.push_back(i);
    return all;
  }
  for (char* end = nullptr; *at != '\0'; at = *end == ',' ? end + 1 : "") {
    const size_t number = strtoul(at, &end, 10);
    if (end == at || number >= count || std::find(all.begin(), all.end(), number) != all.end()) break;
    all.push_back(number);
  }
  return all;
}

// A MIG part of a GPU is its own device, and its name shows it.
bool is_mig(const Device& device) { return device.told.name.find(" MIG ") != std::string::npos; }

std::vector<Device>& devices() {
  static auto* const all = [] {
    auto* made = new std::vector<Device>;
    for (const size_t physical : visible()) {
      Device& one = made->emplace_back();
      one.ordinal = static_cast<int>(made->size() - 1);
      one.physical = static_cast<int>(physical);
      one.told = script().devices[physical];
    }
    return made;
  }();
  return *all;
}

int attribute(const Device& device, CUdevice_attribute which) {
  switch (which) {
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK: return 1024;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X: return 1024;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y: return 1024;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z: return 64;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X: return 2147483647;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y: return 65535;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z: return 65535;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK: return 49152;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: return 232448;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR: return 233472;
    case CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK: return 1024;
    case CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY: return 65536;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE: return 32;
    case CU_DEVICE_ATTRIBUTE_MAX_PITCH: return 2147483647;
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK: return 65536;
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR: return 65536;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE: return 1980000;
    case CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT: return 512;
    case CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT: return 32;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: return device.told.multiprocessors;
    case CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY: return 1;
    case CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS: return 1;
    case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID: return 0x18 + device.physical;
    case CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID: return 0;
    case CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID: return 0;
    case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE: return 3201000;
    case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH: return 6144;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE: return 62914560;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR: return 2048;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR: return 32;
    case CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT: return 3;
    case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING: return 1;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: return device.told.major;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: return device.told.minor;
    case CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED: return 1;
    case CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED: return 1;
    case CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED: return 1;
    case CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY: return 1;
    case CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS: return 1;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED: return 1;
    case CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM: return 1;
    case CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH: return 1;
    case CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS: return 1;
    case CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED: return 1;
    case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED: return 1;
    case CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH: return 1;
    case CU_DEVICE_ATTRIBUTE_ECC_ENABLED: return 1;
    default: return 0;
  }
}

}  // namespace

bool initialised() { return g_initialised.load(); }
int device_count() { return static_cast<int>(devices().size()); }
Device* device_at(CUdevice ordinal) {
  return ordinal >= 0 && ordinal < device_count() ? &devices()[static_cast<size_t>(ordinal)] : nullptr;
}

const char* intern(const std::string& text) {
  static auto* const all = new std::set<std::string>;
  static auto* const mutex = new std::mutex;
  std::lock_guard<std::mutex> lock(*mutex);
  return all->insert(text).first->c_str();
}

}  // namespace sim

SIM_API(cuInit)(unsigned int flags) {
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (device_count() == 0) return CUDA_ERROR_NO_DEVICE;
  take_first_call_time(FirstCall::Init);
  g_initialised.store(true);
  return CUDA_SUCCESS;
}

SIM_API(cuDriverGetVersion)(int* driverVersion) {
  if (driverVersion == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *driverVersion = script().driver_version;
  return CUDA_SUCCESS;
}

SIM_API(cuDeviceGet)(CUdevice* device, int ordinal) {
  if (!initialised()) return CUDA_ERROR_NOT_INITIALIZED;
  if (device_at(ordinal) == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  *device = ordinal;
  return CUDA_SUCCESS;
}

SIM_API(cuDeviceGetCount)(int* count) {
  if (!initialised()) return CUDA_ERROR_NOT_INITIALIZED;
  *count = device_count();
  return CUDA_SUCCESS;
}

SIM_API(cuDeviceGetName)(char* name, int len, CUdevice dev) {
  const Device* device = device_at(dev);
  if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  if (name == nullptr || len <= 0) return CUDA_ERROR_INVALID_VALUE;
  const size_t length = std::min(device->told.name.size(), static_cast<size_t>(len - 1));
  memcpy(name, device->told.name.data(), length);
  name[length] = '\0';
  return CUDA_SUCCESS;
}

// For a MIG part, the UUID of the GPU; all parts have the UUID of the first GPU.
SIM_API(cuDeviceGetUuid)(CUuuid* uuid, CUdevice dev) {
  const Device* device = device_at(dev);
  if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  const int number = is_mig(*device) ? 0 : device->physical;
  for (int i = 0; i < 16; ++i) uuid->bytes[i] = static_cast<char>(0x10 * (number + 1) + i);
  return CUDA_SUCCESS;
}

// For a MIG part, its own UUID.
SIM_API(cuDeviceGetUuid_v2)(CUuuid* uuid, CUdevice dev) {
  const CUresult result = impl_cuDeviceGetUuid(uuid, dev);
  if (result != CUDA_SUCCESS || !is_mig(*device_at(dev))) return result;
  uuid->bytes[0] = 'M';
  uuid->bytes[15] = static_cast<char>(device_at(dev)->physical);
  return CUDA_SUCCESS;
}

SIM_API(cuDeviceGetLuid)(char*, unsigned int*, CUdevice) { return CUDA_ERROR_NOT_SUPPORTED; }

SIM_API(cuDeviceTotalMem_v2)(size_t* bytes, CUdevice dev) {
  const Device* device = device_at(dev);
  if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  *bytes = device->told.memory_bytes;
  return CUDA_SUCCESS;
}

SIM_API(cuDeviceGetAttribute)(int* pi, CUdevice_attribute attrib, CUdevice dev) {
  const Device* device = device_at(dev);
  if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  if (pi == nullptr || attrib <= 0 || attrib >= CU_DEVICE_ATTRIBUTE_MAX) return CUDA_ERROR_INVALID_VALUE;
  *pi = attribute(*device, attrib);
  return CUDA_SUCCESS;
}

SIM_API(cuDeviceComputeCapability)(int* major, int* minor, CUdevice dev) {
  const Device* device = device_at(dev);
  if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  *major = device->told.major;
  *minor = device->told.minor;
  return CUDA_SUCCESS;
}

SIM_API(cuDeviceCanAccessPeer)(int* canAccessPeer, CUdevice dev, CUdevice peerDev) {
  if (device_at(dev) == nullptr || device_at(peerDev) == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  *canAccessPeer = dev != peerDev;
  return CUDA_SUCCESS;
}

SIM_API(cuDeviceGetP2PAttribute)(int* value, CUdevice_P2PAttribute, CUdevice src, CUdevice dst) {
  if (device_at(src) == nullptr || device_at(dst) == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  *value = 1;
  return CUDA_SUCCESS;
}

SIM_API(cuDeviceGetPCIBusId)(char* pciBusId, int len, CUdevice dev) {
  if (device_at(dev) == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  snprintf(pciBusId, static_cast<size_t>(len), "0000:%02x:00.0", 0x18 + device_at(dev)->physical);
  return CUDA_SUCCESS;
}

SIM_API(cuDeviceGetByPCIBusId)(CUdevice* dev, const char* pciBusId) {
  for (int i = 0; i < device_count(); ++i) {
    char own[32];
    impl_cuDeviceGetPCIBusId(own, sizeof own, i);
    if (strcmp(own, pciBusId) != 0) continue;
    *dev = i;
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_DEVICE;
}
