#include "analyzer/dependencies/value_waits.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace prof::analyzer {

namespace {

constexpr uint32_t kGeq = 0, kEq = 1, kAnd = 2, kConditions = 3;  // CUstreamWaitValue_flags
// Maximum number of consecutive writes that fit one wait. With more of them it is unknown which write ended the wait.
constexpr size_t kMostCandidates = 64;

}  // namespace

bool ends_wait(const StreamMemoryOp& wait, uint64_t value) {
  const bool wide = wait.wide();
  const uint64_t mask = wide ? UINT64_MAX : UINT32_MAX;
  const uint64_t now = value & mask, wanted = wait.value & mask;
  switch (wait.flags & kConditions) {
    case kGeq: return ((now - wanted) & (uint64_t{1} << (wide ? 63 : 31))) == 0;
    case kEq: return now == wanted;
    case kAnd: return (now & wanted) != 0;
    default: return (~(now | wanted) & mask) != 0;
  }
}

ValueWaits::ValueWaits(const Trace& trace) : trace_(trace) {
  const std::vector<StreamMemoryOp>& ops = trace.memory_ops;
  for (uint32_t row = 0; row < ops.size(); ++row) {
    if (ops[row].call == kNone) continue;
    by_call_.push_back(row);
    if (ops[row].writes()) writes_.push_back(row);
  }
  std::stable_sort(by_call_.begin(), by_call_.end(), [&](uint32_t a, uint32_t b) { return ops[a].call < ops[b].call; });
  // Rows of a process are in order of time, so row numbers order two of them.
  std::sort(writes_.begin(), writes_.end(), [&](uint32_t a, uint32_t b) {
    return std::tuple(process(a), ops[a].address, ops[a].wide(), a) <
           std::tuple(process(b), ops[b].address, ops[b].wide(), b);
  });
}

std::span<const uint32_t> ValueWaits::of_call(uint32_t call) const {
  const auto before = [&](uint32_t row, uint32_t wanted) { return trace_.memory_ops[row].call < wanted; };
  const auto first = std::lower_bound(by_call_.begin(), by_call_.end(), call, before);
  auto last = first;
  while (last != by_call_.end() && trace_.memory_ops[*last].call == call) ++last;
  return {first, last};
}

bool ValueWaits::same_word(uint32_t a, uint32_t b) const {
  const StreamMemoryOp &left = trace_.memory_ops[a], &right = trace_.memory_ops[b];
  return left.address == right.address && left.wide() == right.wide() && process(a) == process(b);
}

std::span<const uint32_t> ValueWaits::writes_for(uint32_t wait) const {
  const std::vector<StreamMemoryOp>& ops = trace_.memory_ops;
  const StreamMemoryOp& wanted = ops[wait];
  const std::tuple key(process(wait), wanted.address, wanted.wide(), wait);
  const auto after = std::partition_point(writes_.begin(), writes_.end(), [&](uint32_t row) {
    return std::tuple(process(row), ops[row].address, ops[row].wide(), row) < key;
  });
  const auto fits = [&](uint32_t row) { return ends_wait(wanted, ops[row].value); };
  auto first = after, last = after;
  while (first != writes_.begin() && same_word(first[-1], wait) && fits(first[-1])) {
    if (static_cast<size_t>(last - --first) > kMostCandidates) return {};
  }
  if (first == last) {
    while (first != writes_.end() && same_word(*first, wait) && !fits(*first)) {
      if (static_cast<size_t>(++first - after) > kMostCandidates) return {};
    }
    last = first;
    while (last != writes_.end() && same_word(*last, wait) && fits(*last)) {
      if (static_cast<size_t>(++last - first) > kMostCandidates) return {};
    }
  }
  return {first, last};
}

}  // namespace prof::analyzer
