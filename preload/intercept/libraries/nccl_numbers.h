// Which number does NCCL give a communicator? NVTX payloads and NCCL_DEBUG have it, and it is equal on all ranks.
// Source: getHash() and ncclCommInitRankFunc() of NCCL 2.8 to 2.29; on an H200, NCCL 2.28 prints the same number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace prof::preload {

constexpr size_t kNcclUniqueIdBytes = 128;
constexpr int kNcclMixes =
    22602;  // the version (2.26.2, as ncclGetVersion() has it) since which NCCL mixes 64-bit words

// A hash of several byte strings in order.
class NcclMix {
 public:
  template <class Value> NcclMix& add(const Value& value) { return add(&value, sizeof value); }

  NcclMix& add(const void* bytes, size_t size) {
    first_ ^= size;
    for (size_t at = 0; at < size; at += sizeof(uint64_t)) {
      first_ += second_;
      second_ ^= first_;
      first_ = (first_ ^ first_ >> 31) * 0x9de62bbc8cef3ce3;
      second_ = (second_ ^ second_ >> 32) * 0x485cd6311b599e79;
      uint64_t word = 0;  // the last one may be short
      std::memcpy(&word, static_cast<const char*>(bytes) + at, size - at < sizeof word ? size - at : sizeof word);
      first_ += word;
    }
    return *this;
  }

  uint64_t done() const {
    const uint64_t hash = (first_ ^ first_ >> 31) * 0xbac3bd562846de6b + second_;
    return (hash ^ hash >> 32) * 0x995a187a14e7b445;
  }

 private:
  uint64_t first_ = 1, second_ = 1;
};

// Of a communicator that was made with this unique id. `version`: of NCCL; 0: not known, then the newest is assumed.
inline uint64_t nccl_number(const void* unique_id, int version) {
  if (version == 0 || version >= kNcclMixes) return NcclMix().add(unique_id, kNcclUniqueIdBytes).done();
  uint64_t hash = 5381;  // DJB2a
  for (size_t i = 0; i < kNcclUniqueIdBytes; ++i) {
    signed char byte;
    std::memcpy(&byte, static_cast<const char*>(unique_id) + i, 1);
    hash = (hash * 33) ^ static_cast<uint64_t>(int64_t{byte});
  }
  return hash;
}

// Of a part of `parent`. `splits`: how often the parent was split, this time included. Before 2.26.2 NCCL has a random
// number there, so this one is of the logs only; it is equal on all ranks, too.
inline uint64_t nccl_number_of_split(uint64_t parent, uint64_t splits, int32_t color) {
  return NcclMix().add(parent).add(static_cast<int32_t>(splits)).add(color).done();
}

}  // namespace prof::preload
