// What did the host do while the GPU ran nothing? Counts the samples of PROF_HOST_SAMPLES by stack and state. Memory is
// bounded: with too many stacks, those that were defined first have no frames. Used by LiveLog.
#pragma once

#include "preload/format/host_events.h"
#include "preload/format/stack_definitions.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace prof::analyzer {

// The stack with the most samples.
struct LiveIdleStack {
  uint64_t samples = 0, of = 0;     // of all samples while the GPU ran nothing
  std::string state;                // "running", "waiting for a lock: thread 7"
  std::vector<std::string> frames;  // innermost first, at most 12; empty: the samples have no stack, or it is not known
};

class IdleStacks {
 public:
  void add(const format::HostSample& sample);
  void add(const format::StackDef& stack);
  void add(const format::PythonFrameDef& frame) {
    if (python_.size() < kMostPythonFrames) python_[static_cast<uint32_t>(frame.id)] = frame;
  }
  void add(const format::ImageDef& image) { images_.push_back(image), images_.back().build_id = {}; }
  void add_launch(uint32_t thread) { launching_.insert(thread); }

  // `is_idle`: whether the GPU ran nothing at a tick; ticks are asked in order. `forgotten`: whether a tick is too old.
  // `text_of`: a text of the log by its id, empty if it is not known. Empty if no thread that launches was sampled.
  std::optional<LiveIdleStack> top(const std::function<bool(uint64_t)>& forgotten,
                                   const std::function<bool(uint64_t)>& is_idle,
                                   const std::function<std::string(uint32_t)>& text_of);
  // The texts that are needed later.
  void add_texts(std::set<uint32_t>& used) const;

 private:
  static constexpr size_t kMostPythonFrames = 200'000;  // 8 MB
  struct Stack {
    std::vector<uint64_t> words;  // of Python frames, or addresses
    bool python = false;
  };
  std::vector<std::string> frames(uint32_t stack, const std::function<std::string(uint32_t)>& text_of) const;

  std::vector<format::HostSample> samples_;
  std::unordered_map<uint32_t, Stack> stacks_;
  std::deque<uint32_t> order_;  // of definition
  uint64_t words_ = 0;
  std::unordered_map<uint32_t, format::PythonFrameDef> python_;
  std::vector<format::ImageDef> images_;
  std::set<uint32_t> launching_;  // threads
};

}  // namespace prof::analyzer
