// What are the names of ranges and calls in tables that group by name? Numbers that make a text unique are removed
// ("ProfilerStep#7" becomes "ProfilerStep*", ", seq = 12" is removed), and so is the suffix of a driver function. With
// RangeCounters, counters are removed too ("step 7" becomes "step *"). Equal names have equal ids, whether of a range
// or of a call. Used by the event tree and every table of operators and ranges.
#pragma once

#include "analyzer/base/strings.h"
#include "analyzer/model/range_counters.h"
#include "analyzer/model/trace.h"

#include <string_view>
#include <vector>

namespace prof::analyzer {

class EventNames {
 public:
  explicit EventNames(const Trace& trace) : EventNames(trace, nullptr) {}
  EventNames(const Trace& trace, const RangeCounters& counters) : EventNames(trace, &counters) {}

  StringId of(const Range& range) const { return of_label_[index(range.label)]; }
  StringId of(LabelId label) const { return of_label_[index(label)]; }
  StringId of(const HostEvent& call) const { return of_api_[call.api()]; }
  std::string_view text(StringId id) const { return names_[id]; }
  size_t size() const { return names_.size(); }
  // Bookkeeping operators of PyTorch ("aten::is_leaf"), which torch.autograd.profiler leaves out of its trees.
  bool is_filtered(StringId id) const { return filtered_[static_cast<uint32_t>(id)]; }

 private:
  EventNames(const Trace& trace, const RangeCounters* counters);

  StringTable names_;
  std::vector<StringId> of_label_, of_api_;
  std::vector<bool> filtered_;
};

}  // namespace prof::analyzer
