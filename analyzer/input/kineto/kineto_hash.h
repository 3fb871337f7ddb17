// Hash of the few numbers that identify a stream or a kernel. Header only; used by the tables of this folder.
#pragma once

#include <cstdint>
#include <initializer_list>

namespace prof::analyzer {

inline uint64_t hash_words(uint64_t hash, std::initializer_list<uint32_t> words) {
  for (const uint32_t word : words) hash = (hash ^ word) * 0x9e3779b97f4a7c15 + (hash >> 29);
  return hash;
}

}  // namespace prof::analyzer
