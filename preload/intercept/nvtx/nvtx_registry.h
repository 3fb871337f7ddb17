// What do registrations of NVTX's extensions share? The number of an object in its domain, the key of both in a table,
// copies of texts, and the refusal of a registration. It runs in the program.
#pragma once

#include "preload/intercept/nvtx/nvtx_objects.h"
#include "preload/intercept/nvtx/nvtx_schemas.h"
#include "preload/log/count.h"
#include "preload/record/intern.h"

#include <cstdint>
#include <cstring>

namespace prof::preload {

// The key of (domain, number) in a HandleMap.
inline void* nvtx_key(const NvtxObject* domain, uint64_t number) {
  const uint64_t key = Hash().add(reinterpret_cast<uint64_t>(domain)).add(number).done();
  return reinterpret_cast<void*>(key < 16 ? key + 16 : key);
}

inline uint64_t nvtx_refuse() {
  count(format::LossCounter::nvtx_schema_refused);
  return 0;
}

// The number of a new object: `wanted`, which a chained tool gave, else the program's own, else a new one. 0: not
// given.
inline uint64_t nvtx_number_of(uint64_t wanted, uint64_t own) {
  if (wanted != 0) return wanted;
  return own != 0 ? own : nvtx_new_number();
}

// The first `most` bytes of a text, in memory that is never freed. Never null.
inline const char* nvtx_copied(const char* text, size_t most) {
  if (text == nullptr || text[0] == '\0') return "";
  const size_t size = strnlen(text, most);
  auto* const copy = static_cast<char*>(nvtx_allocate(size + 1));
  if (copy == nullptr) return "";
  std::memcpy(copy, text, size);
  copy[size] = '\0';
  return copy;
}

}  // namespace prof::preload
