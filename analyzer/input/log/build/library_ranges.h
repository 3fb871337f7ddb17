// Converts calls of libraries (PROF_LIBS), whose records are written when they return, to ranges that start and end
// between a thread's NVTX ranges. Part of the third step of the builder.
#pragma once

#include "analyzer/input/log/build/made_labels.h"
#include "analyzer/input/log/build/stages.h"

#include <optional>
#include <unordered_map>
#include <vector>

namespace prof::analyzer {

class LibraryRanges {
 public:
  explicit LibraryRanges(MadeLabels& labels) : labels_(labels) {}

  // A call is known when it returns, possibly in a later task than its start. So all tasks are passed first.
  void take(const LogTask& task, const LogInput& input);
  bool has(uint32_t thread) const { return by_thread_.contains(thread); }

  void begin_thread(uint32_t thread);

  struct Step {
    Range range;
    bool begins;
  };
  // The next start or end of this thread's calls up to `now`, in order of time; nullopt: no more.
  std::optional<Step> next_until(int64_t now);

 private:
  MadeLabels& labels_;
  std::unordered_map<uint32_t, std::vector<Range>> by_thread_;  // sorted when the thread begins
  std::vector<Range>* calls_ = nullptr;                         // of this thread; null: none
  size_t next_ = 0;
  std::vector<Range> open_;
};

}  // namespace prof::analyzer
