// Calls of libraries (PROF_LIBS), whose records stand where they returned, as ranges that begin and end in time between a thread's NVTX
// ranges. Third step of the builder.
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

  // A call is known when it returns, which may be in a later task than its begin: all tasks are taken first.
  void take(const LogTask& task, const LogInput& input);
  bool has(uint32_t thread) const { return by_thread_.contains(thread); }

  void begin_thread(uint32_t thread);

  struct Step {
    Range range;
    bool begins;
  };
  // The next begin or end of this thread's calls by then, in order of time; none: no more.
  std::optional<Step> next_until(int64_t now);

 private:
  MadeLabels& labels_;
  std::unordered_map<uint32_t, std::vector<Range>> by_thread_;  // sorted when its turn comes
  std::vector<Range>* calls_ = nullptr;                         // of this thread; null: none
  size_t next_ = 0;
  std::vector<Range> open_;
};

}  // namespace prof::analyzer
