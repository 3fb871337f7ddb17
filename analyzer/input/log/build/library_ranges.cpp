#include "analyzer/input/log/build/library_ranges.h"

#include <fmt/format.h>

#include <algorithm>

namespace prof::analyzer {

namespace {

constexpr std::string_view kLibraryDomain = "library";  // in logs

}  // namespace

void LibraryRanges::take(const LogTask& task, const LogInput& input) {
  if (task.library.empty()) return;
  ClockReader ns{*input.clock};
  for (const StagedLibraryCall& staged : task.library) {
    Range range;
    range.begin_ns = ns.tick(std::max(staged.begin, input.horizon_tick)) - input.origin_ns;
    range.end_ns = ns.tick(staged.end) - input.origin_ns;
    range.thread = ThreadId{staged.thread};
    range.label = LabelId{staged.label};
    if (staged.text != 0)
      range.label = labels_.with_text(range.label, task.library_texts[staged.text - 1], kLibraryDomain);
    if (staged.status != 0) range.label = labels_.around(range.label, "", fmt::format(" = {}", staged.status));
    by_thread_[staged.thread].push_back(range);
  }
}

void LibraryRanges::begin_thread(uint32_t thread) {
  const auto found = by_thread_.find(thread);
  calls_ = found == by_thread_.end() ? nullptr : &found->second;
  next_ = 0;
  if (calls_ == nullptr) return;
  std::stable_sort(calls_->begin(), calls_->end(), [](const Range& a, const Range& b) {
    return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.end_ns > b.end_ns;
  });
}

std::optional<LibraryRanges::Step> LibraryRanges::next_until(int64_t now) {
  if (calls_ == nullptr) return {};
  const bool begins = next_ < calls_->size() && (*calls_)[next_].begin_ns <= now;
  const bool ends = !open_.empty() && open_.back().end_ns <= now;
  if (ends && (!begins || open_.back().end_ns <= (*calls_)[next_].begin_ns)) {
    const Range done = open_.back();
    open_.pop_back();
    return Step{done, false};
  }
  if (!begins) return {};
  Range range = (*calls_)[next_++];
  // Calls are nested: no call ends after the one around it.
  if (!open_.empty()) range.end_ns = std::min(range.end_ns, open_.back().end_ns);
  open_.push_back(range);
  return Step{range, true};
}

}  // namespace prof::analyzer
