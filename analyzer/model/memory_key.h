// Tells the addresses of one process apart in 32 bits, where a row has no room for more. Allocations are aligned to 256 bytes at
// least, and 32 bits of such steps are 1 TiB; the bits above are folded in. 0 is no address.
#pragma once

#include "analyzer/model/trace.h"

#include <cstdint>

namespace prof::analyzer {

constexpr uint32_t memory_key(uint64_t address) {
  const uint64_t step = address >> 8;
  const auto key = static_cast<uint32_t>(step ^ step >> 32);
  return key == 0 && address != 0 ? 1 : key;
}

// Of a handle, which is no address of the GPU's and may be aligned to anything.
constexpr uint32_t handle_key(uint64_t handle) { return memory_key(handle << 8); }

// Bytes that a copy, fill or allocation was asked for. An allocation that failed came from no pool, and may have asked for more than
// the 48 bits that are left beside one.
inline uint64_t asked_bytes(const HostEvent& event) { return event.result() != 0 ? event.subject : event.bytes(); }

}  // namespace prof::analyzer
