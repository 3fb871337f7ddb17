// --nvtx: which calls, GPU operations and ranges belong to NVTX ranges (or annotations of torch.profiler) of a name. Asked by every
// analysis beside the rest of the selection; made once a run, and only where the option is given.
//
//   call        entered while such a range was open on its thread: from its begin to before its end. A start/end range is open on
//               the thread that started it, whoever ends it.
//   operation   its launch belongs; with --captured, of a graph the call that captured or added it, where that is known. One
//               without a known launch belongs to nothing.
//   range       is such a range, or lies inside one on its thread
#pragma once

#include "analyzer/model/trace.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace prof::analyzer {

class Views;

class NvtxSelection {
 public:
  NvtxSelection() = default;  // everything belongs
  // `words`: NAME[@DOMAIN]; NAME is a name_pattern.h pattern, behind the last '@' stands a domain as recorded: empty for the
  // default one, '*' or no '@' at all for any. Throws std::runtime_error that says which one no range has.
  NvtxSelection(const std::vector<std::string>& words, const Trace& trace, const Views& views, bool captured);

  bool given() const { return found_ != nullptr; }
  // By row of Trace::host, Trace::operations and Trace::ranges.
  bool has_call(uint32_t row) const { return found_ == nullptr || found_->calls[row]; }
  bool has_operation(uint32_t row) const { return found_ == nullptr || found_->operations[row]; }
  bool has_range(uint32_t row) const { return found_ == nullptr || found_->ranges[row]; }
  // The thread was in such a range: of what is neither of the three, as marks.
  bool has_moment(ThreadId thread, int64_t time_ns) const {
    return found_ == nullptr || found_->is_open(thread, time_ns);
  }
  bool has_label(LabelId label) const { return found_ == nullptr || found_->labels[index(label)]; }
  // Operations of the input without a known launch.
  uint64_t unlinked() const { return found_ == nullptr ? 0 : found_->unlinked; }

 private:
  // Ranges of the name on one thread by begin, each with the latest end up to it: what is open at a moment, and what lies inside
  // one of them, follows from the last that began before.
  struct Opened {
    int64_t begin_ns, latest_end_ns;
  };
  struct Found {
    std::vector<std::vector<Opened>> of_thread;
    std::vector<bool> labels, calls, operations, ranges;
    uint64_t unlinked = 0;
    // Latest end of the ranges that began by then, the least number for none.
    int64_t open_until(ThreadId thread, int64_t time_ns) const;
    bool is_open(ThreadId thread, int64_t time_ns) const { return open_until(thread, time_ns) > time_ns; }
  };
  static void find_labels(const std::vector<std::string>& words, const Trace& trace, Found& found);
  static void find_ranges(const Trace& trace, Found& found);
  std::shared_ptr<const Found> found_;
};

}  // namespace prof::analyzer
