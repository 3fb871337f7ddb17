// Which launches did the recorder make itself (PROF_REPEAT_KERNEL)? Those inside its ranges of the domain "prof".
#pragma once

#include "analyzer/model/trace.h"

#include <cstdint>
#include <vector>

namespace prof::analyzer {

class RepeatedLaunches {
 public:
  explicit RepeatedLaunches(const Trace& trace);

  // Rows of Trace::ranges by thread and start; each range contains the repeats of one launch.
  const std::vector<uint32_t>& ranges() const { return ranges_; }
  // The range that contains a launch; kNone: the launch is the program's own.
  uint32_t range_around(const HostEvent& launch) const;
  // The first range of the launch's thread that ends after it; kNone: there is none.
  uint32_t range_at_or_behind(const HostEvent& launch) const;

 private:
  const Trace& trace_;
  std::vector<uint32_t> ranges_;
};

}  // namespace prof::analyzer
