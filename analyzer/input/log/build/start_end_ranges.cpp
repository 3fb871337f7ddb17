#include "analyzer/input/log/build/start_end_ranges.h"

#include <algorithm>
#include <unordered_map>

namespace prof::analyzer {

void StartEndRanges::finish(Started& started, int64_t end_ns, ThreadId by) {
  started.range.end_ns = end_ns;
  started.range.unfinished = false;
  started.range.other_thread = by != started.range.thread;
  started.ended = true;
  started.ended_by = by;
}

// Matches by id over all threads: an end closes the latest open range with its id.
void StartEndRanges::match_ends(Process& process) {
  std::unordered_map<uint64_t, std::vector<uint32_t>> open;  // range id -> entries of started_, latest last
  std::unordered_map<uint64_t, uint32_t> closed;             // range id -> the range closed last
  std::stable_sort(started_.begin(), started_.end(),
                   [](const Started& a, const Started& b) { return a.range.begin_ns < b.range.begin_ns; });
  std::stable_sort(ended_.begin(), ended_.end(), [](const Ended& a, const Ended& b) { return a.time_ns < b.time_ns; });
  size_t next = 0;
  const auto open_until = [&](int64_t time_ns) {
    for (; next < started_.size() && started_[next].range.begin_ns <= time_ns; ++next) {
      if (!started_[next].ended) open[started_[next].id].push_back(static_cast<uint32_t>(next));
    }
  };
  for (const Ended& end : ended_) {
    open_until(end.time_ns);
    const auto found = open.find(end.id);
    if (found == open.end() || found->second.empty()) {
      const auto before = closed.find(end.id);
      if (before == closed.end() && process.ring) {
        process.coverage.ranges_begun_before += end.time_ns < process.horizon_ns ? 0 : 1;
        continue;
      }
      ++(before == closed.end() ? process.nvtx_ends_without_start : process.nvtx_ended_again);
      if (before != closed.end()) started_[before->second].range.ended_again = true;
      continue;
    }
    Started& started = started_[found->second.back()];
    closed[end.id] = found->second.back();
    found->second.pop_back();
    finish(started, end.time_ns, end.thread);
    payloads_.extend(started.range, end.values);
  }
}

// Matches in order of time over all threads: one thread waits or holds, another thread may release.
void StartEndRanges::match_sync(Process& process) {
  std::stable_sort(synced_.begin(), synced_.end(),
                   [](const Synced& a, const Synced& b) { return a.time_ns < b.time_ns; });
  std::unordered_map<uint64_t, std::vector<size_t>> waiting, holding;  // object -> entries of started_, by start
  const auto begin = [&](std::vector<size_t>& of, const Synced& each, std::string_view verb) {
    Range range = each.range;
    range.label = labels_.around(range.label, verb, "");
    of.push_back(started_.size());
    range.unfinished = true;
    started_.push_back({0, range});
  };
  const auto end = [&](std::vector<size_t>& of, const Synced& each) {
    auto found =
        std::find_if(of.begin(), of.end(), [&](size_t i) { return started_[i].range.thread == each.range.thread; });
    if (found == of.end() && each.action == format::SyncAction::Releasing) found = of.begin();
    if (found == of.end()) {
      ++process.nvtx_sync_unmatched;
      return;
    }
    finish(started_[*found], each.time_ns, each.range.thread);
    of.erase(found);
  };
  for (const Synced& each : synced_) {
    switch (each.action) {
      case format::SyncAction::AcquireStart: begin(waiting[each.object], each, "wait for "); break;
      case format::SyncAction::AcquireFailed: end(waiting[each.object], each); break;
      case format::SyncAction::AcquireSuccess:
        end(waiting[each.object], each);
        begin(holding[each.object], each, "hold ");
        break;
      case format::SyncAction::Releasing: end(holding[each.object], each); break;
      default: break;
    }
  }
  synced_.clear();
}

void StartEndRanges::leave_out_before_horizon(const Process& process) {
  if (!process.ring) return;
  const int64_t horizon = process.horizon_ns;
  std::erase_if(started_, [&](const Started& each) { return each.ended && each.range.end_ns < horizon; });
  for (Started& each : started_) each.range.begin_ns = std::max(each.range.begin_ns, horizon);
}

void StartEndRanges::write(Process& process) {
  for (Started& each : started_) {
    each.range.style = RangeStyle::StartEnd;
    if (each.range.unfinished) each.range.end_ns = std::max(process.last_ns, each.range.begin_ns);
  }
  std::stable_sort(started_.begin(), started_.end(),
                   [](const Started& a, const Started& b) { return a.range.begin_ns < b.range.begin_ns; });
  process.start_end_ranges.first = static_cast<uint32_t>(trace_.ranges.size());
  for (const Started& each : started_) {
    if (each.range.other_thread) trace_.ended_by.emplace(static_cast<uint32_t>(trace_.ranges.size()), each.ended_by);
    trace_.ranges.push_back(each.range);
  }
  process.start_end_ranges.last = static_cast<uint32_t>(trace_.ranges.size());
}

void StartEndRanges::end_process(Process& process) {
  for (Started& each : started_) {
    if (!each.ended) each.range.unfinished = true;
  }
  match_ends(process);
  match_sync(process);
  leave_out_before_horizon(process);
  write(process);
  started_.clear();
  ended_.clear();
}

}  // namespace prof::analyzer
