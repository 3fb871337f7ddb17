// What does a piece of a gap name: the call or range that the thread was in, the thread or stream that was waited for,
// the operation that had not begun? Used by reports that sum pieces by name.
#pragma once

#include "analyzer/analysis/analysis.h"
#include "analyzer/analysis/idle/gap_division.h"

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>

namespace prof::analyzer {

class PieceNames {
 public:
  explicit PieceNames(const AnalysisInput& input) : input_(input), names_(input.views.event_names()) {}

  // Pieces with equal keys have one name. 0: the piece names nothing.
  uint64_t key(const DeviceGap& gap, const GapPiece& piece) const;
  // "cudaMalloc", "aten::add", "thread 501", "device 0 stream 13", a kernel.
  std::string text(uint64_t key) const;
  // Adds up values of keys with one name, and leaves out what has none.
  template <class Value> std::map<std::string, Value> by_text(const std::unordered_map<uint64_t, Value>& values) const {
    std::map<std::string, Value> merged;
    for (const auto& [key, value] : values) {
      if (key != 0) merged[text(key)] += value;
    }
    return merged;
  }

 private:
  const AnalysisInput& input_;
  const EventNames& names_;
};

}  // namespace prof::analyzer
