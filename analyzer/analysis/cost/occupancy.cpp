#include "analyzer/analysis/cost/occupancy.h"

#include <algorithm>
#include <string_view>

namespace prof::analyzer {

namespace {

uint64_t property(const Device& device, std::string_view key, uint64_t otherwise) {
  for (const auto& [name, value] : device.properties) {
    if (name == key) return value;
  }
  return otherwise;
}

uint64_t round_up(uint64_t value, uint64_t to) { return (value + to - 1) / to * to; }

// Maximum number of resident blocks per SM, by compute capability.
uint64_t most_blocks(uint64_t major, uint64_t minor) {
  if (major == 7 && minor == 5) return 16;
  if (major == 8 && minor == 9) return 24;
  if (major == 8 && minor != 0) return 16;
  if (major == 12) return 24;
  return 32;
}

}  // namespace

std::optional<KernelFill> kernel_fill(const Device& device, const Kernel& kernel) {
  const uint64_t sms = property(device, "numSms", 0);
  const uint64_t threads = uint64_t{kernel.block[0]} * kernel.block[1] * kernel.block[2];
  const uint64_t blocks = uint64_t{kernel.grid[0]} * kernel.grid[1] * kernel.grid[2];
  if (sms == 0 || threads == 0 || blocks == 0) return std::nullopt;
  const uint64_t warp = std::max<uint64_t>(property(device, "warpSize", 32), 1);
  KernelFill fill;
  fill.blocks_per_sm = static_cast<double>(blocks) / static_cast<double>(sms);
  fill.warps_per_sm = fill.blocks_per_sm * static_cast<double>(threads) / static_cast<double>(warp);

  const uint64_t most_threads = property(device, "maxThreadsPerMultiprocessor", 0);
  if (most_threads == 0) return fill;
  constexpr uint64_t kRegisterUnit = 256, kSharedUnit = 128, kReservedShared = 1024;  // per warp; per block from 8.0 on
  const uint64_t major = property(device, "computeMajor", 0);
  uint64_t resident =
      std::min(most_threads / round_up(threads, warp), most_blocks(major, property(device, "computeMinor", 0)));
  const uint64_t registers = property(device, "regsPerMultiprocessor", 0);
  if (registers != 0 && kernel.registers != 0) {
    const uint64_t per_warp = round_up(uint64_t{kernel.registers} * warp, kRegisterUnit);
    resident = std::min(resident, registers / per_warp / (round_up(threads, warp) / warp));
  }
  const uint64_t shared = property(device, "sharedMemPerMultiprocessor", 0);
  const uint64_t per_block =
      round_up(uint64_t{kernel.static_shared_bytes} + kernel.dynamic_shared_bytes + (major >= 8 ? kReservedShared : 0),
               kSharedUnit);
  if (shared != 0 && per_block != 0) resident = std::min(resident, shared / per_block);
  fill.resident_percent =
      100 * static_cast<double>(resident * round_up(threads, warp)) / static_cast<double>(most_threads);
  const double used = std::min(static_cast<double>(resident), fill.blocks_per_sm);
  fill.occupancy_percent =
      static_cast<int>(100 * used * static_cast<double>(threads) / static_cast<double>(most_threads));
  return fill;
}

}  // namespace prof::analyzer
