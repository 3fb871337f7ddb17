// --nvtx: which calls, GPU operations and ranges belong to NVTX ranges (or annotations of torch.profiler) with a given
// name? Every analysis checks it together with the rest of the selection. Built once per run, and only if the option is
// given.
//
//   call        begins while such a range is open on its thread: from its start to before its end. A start/end range is
//               open on the thread that started it, whichever thread ends it.
//   operation   its launch belongs; with --captured, for a graph, the call that captured or added it, if that is known.
//               An operation without a known launch belongs to no range.
//   range       is such a range, or is inside one on its thread
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
  NvtxSelection() = default;  // selects everything
  // `words`: NAME[@DOMAIN]. NAME is a name_pattern.h pattern. The text after the last '@' is a domain as recorded; it
  // is empty for the default domain. '*' or no '@' means any domain. Throws std::runtime_error that names a word that
  // no range matches.
  NvtxSelection(const std::vector<std::string>& words, const Trace& trace, const Views& views, bool captured);

  bool given() const { return found_ != nullptr; }
  // By row of Trace::host, Trace::operations and Trace::ranges.
  bool has_call(uint32_t row) const { return found_ == nullptr || found_->calls[row]; }
  bool has_operation(uint32_t row) const { return found_ == nullptr || found_->operations[row]; }
  bool has_range(uint32_t row) const { return found_ == nullptr || found_->ranges[row]; }
  // Whether the thread was in such a range at that time. For marks and other events that are no call, operation or
  // range.
  bool has_moment(ThreadId thread, int64_t time_ns) const {
    return found_ == nullptr || found_->is_open(thread, time_ns);
  }
  bool has_label(LabelId label) const { return found_ == nullptr || found_->labels[index(label)]; }
  // Number of operations of the input without a known launch.
  uint64_t unlinked() const { return found_ == nullptr ? 0 : found_->unlinked; }

 private:
  // The named ranges of one thread by start, each with the latest end of itself and those before. The last one that
  // began before a moment thus shows whether any is open, and until when.
  struct Opened {
    int64_t begin_ns, latest_end_ns;
  };
  struct Found {
    std::vector<std::vector<Opened>> of_thread;
    std::vector<bool> labels, calls, operations, ranges;
    uint64_t unlinked = 0;
    // Latest end of the ranges that began by then; the lowest number if there are none.
    int64_t open_until(ThreadId thread, int64_t time_ns) const;
    bool is_open(ThreadId thread, int64_t time_ns) const { return open_until(thread, time_ns) > time_ns; }
  };
  static void find_labels(const std::vector<std::string>& words, const Trace& trace, Found& found);
  static void find_ranges(const Trace& trace, Found& found);
  std::shared_ptr<const Found> found_;
};

}  // namespace prof::analyzer
