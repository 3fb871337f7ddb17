// Counts of durations in ticks, exact below 512 and within 0.4 % above: gives percentiles of single calls, including
// p99.9, without storing each one. One histogram per thread, merged afterwards.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace prof::bench {

class Histogram {
 public:
  void add(uint64_t ticks) {
    ++counts_[bucket(ticks)];
    ++total_;
    if (ticks > largest_) largest_ = ticks;
  }
  void merge(const Histogram& other) {
    for (size_t i = 0; i < kBuckets; ++i) counts_[i] += other.counts_[i];
    total_ += other.total_;
    if (other.largest_ > largest_) largest_ = other.largest_;
  }
  uint64_t total() const { return total_; }
  uint64_t largest() const { return largest_; }
  // The smallest duration that at least `share` of all do not exceed.
  uint64_t quantile(double share) const {
    const uint64_t wanted = static_cast<uint64_t>(share * static_cast<double>(total_));
    uint64_t seen = 0;
    for (size_t i = 0; i < kBuckets; ++i) {
      seen += counts_[i];
      if (seen > wanted) return value(i);
    }
    return largest_;
  }

 private:
  static constexpr size_t kExact = 512, kSteps = 256, kOctaves = 40;
  static constexpr size_t kBuckets = kExact + kSteps * kOctaves;

  // 512 … 1023 is octave 0 in steps of 2, 1024 … 2047 octave 1 in steps of 4, …
  static size_t bucket(uint64_t ticks) {
    if (ticks < kExact) return static_cast<size_t>(ticks);
    const unsigned octave = static_cast<unsigned>(std::bit_width(ticks)) - 10;
    if (octave >= kOctaves) return kBuckets - 1;
    return kExact + octave * kSteps + static_cast<size_t>((ticks >> (octave + 1)) & (kSteps - 1));
  }
  static uint64_t value(size_t bucket) {
    if (bucket < kExact) return bucket;
    const size_t octave = (bucket - kExact) / kSteps, step = (bucket - kExact) % kSteps;
    return (kSteps + step) << (octave + 1);
  }

  std::array<uint32_t, kBuckets> counts_{};
  uint64_t total_ = 0, largest_ = 0;
};

}  // namespace prof::bench
