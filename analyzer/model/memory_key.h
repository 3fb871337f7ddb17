// Distinguishes the addresses of one process in 32 bits, for rows without room for 64. Allocations are aligned to at
// least 256 bytes, and 32 bits of such units are 1 TiB; the higher bits are folded in. 0 is no address.
#pragma once

#include "analyzer/model/trace.h"

#include <cstdint>

namespace prof::analyzer {

constexpr uint32_t memory_key(uint64_t address) {
  const uint64_t step = address >> 8;
  const auto key = static_cast<uint32_t>(step ^ step >> 32);
  return key == 0 && address != 0 ? 1 : key;
}

// For a handle, which is no GPU address and may have any alignment.
constexpr uint32_t handle_key(uint64_t handle) { return memory_key(handle << 8); }

// Requested bytes of a copy, memset or allocation. A failed allocation has no pool, so it may have requested more than
// the 48 bits that fit next to a pool.
inline uint64_t asked_bytes(const HostEvent& event) { return event.result() != 0 ? event.subject : event.bytes(); }

}  // namespace prof::analyzer
