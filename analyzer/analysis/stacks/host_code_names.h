// How are host samples named and grouped in tables? By the most informative frame of their stacks, as other reports
// name code, and by what the thread did there: running, runnable, or what it waited for. Used by reports about idle
// time.
#pragma once

#include "analyzer/analysis/idle/host_code_times.h"
#include "analyzer/analysis/stacks/call_stacks.h"

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace prof::analyzer {

inline constexpr std::string_view kNotSampled = "not sampled";

// Not thread-safe.
class HostCodeNames {
 public:
  HostCodeNames(const Trace& trace, CallStacks& stacks) : trace_(trace), stacks_(stacks) {}

  // The number of the group of a sample: equal names are one group.
  uint32_t group(const HostCode& code) {
    return number_of(uint64_t{index_of(code)} << 32 | static_cast<uint32_t>(state(code)), code.stack);
  }
  // The same with a name of the caller's for the code, for example a group of several frames.
  uint32_t group(const HostCode& code, uint32_t named) {
    return number_of(uint64_t{named} << 32 | static_cast<uint32_t>(state(code)), code.stack);
  }
  // The groups of a sum.
  HostCodeDivision divide(const HostCodeTimes& times) {
    return times.divide([&](uint32_t i) { return group(times.codes()[i]); });
  }

  // "tokenize (app.py:41)"; "[no stack]".
  std::string_view code(uint32_t group) const { return texts_[StringId{named(group)}]; }
  uint32_t named(uint32_t group) const { return static_cast<uint32_t>(groups_[group].first >> 32); }
  // "running", "waiting for a lock".
  std::string_view state(uint32_t group) const { return texts_[StringId{static_cast<uint32_t>(groups_[group].first)}]; }
  // The stack of the first sample of the group.
  StackId stack(uint32_t group) const { return groups_[group].second; }

 private:
  uint32_t index_of(const HostCode& code) {
    const auto [found, added] = of_stack_.try_emplace(static_cast<uint32_t>(code.stack), 0);
    if (added) {
      const std::string best = stacks_.best(code.stack);
      found->second = static_cast<uint32_t>(texts_.intern(best.empty() ? "[no stack]" : best));
    }
    return found->second;
  }
  StringId state(const HostCode& code) {
    const HostCode only{{}, code.detail, code.state, code.blocked_in};
    const uint64_t key = uint64_t{static_cast<uint32_t>(code.detail)} << 32 | static_cast<uint64_t>(code.state) << 8 |
                         static_cast<uint64_t>(code.blocked_in);
    const auto [found, added] = of_state_.try_emplace(key, StringId{});
    if (added) found->second = texts_.intern(host_state_text(trace_, only));
    return found->second;
  }
  uint32_t number_of(uint64_t key, StackId stack) {
    const auto [found, added] = numbers_.try_emplace(key, static_cast<uint32_t>(groups_.size()));
    if (added) groups_.emplace_back(key, stack);
    return found->second;
  }

  const Trace& trace_;
  CallStacks& stacks_;
  StringTable texts_;
  std::unordered_map<uint32_t, uint32_t> of_stack_;   // StackId -> text
  std::unordered_map<uint64_t, StringId> of_state_;   // state, wait and detail -> text
  std::unordered_map<uint64_t, uint32_t> numbers_;    // texts -> index of groups_
  std::vector<std::pair<uint64_t, StackId>> groups_;  // texts, the first stack
};

}  // namespace prof::analyzer
