// How to visit the operations of several streams, or the calls of several threads, in order of start without copying
// them? With a heap of one cursor per stream. O(n log streams).
#pragma once

#include "analyzer/model/trace.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace prof::analyzer {

// Calls visit(row) for all groups of rows in order of key(row), equal keys by row. Each group must be in that order
// already.
template <class Key, class Visit> void merge_rows(const std::vector<Rows>& groups, Key&& key, Visit&& visit) {
  struct Head {
    decltype(key(0U)) begin;  // key of the next row, computed once
    uint32_t next, last;
  };
  const auto later = [](const Head& a, const Head& b) {
    return a.begin != b.begin ? a.begin > b.begin : a.next > b.next;
  };
  std::vector<Head> heads;
  for (const Rows& rows : groups) {
    if (rows.size() != 0) heads.push_back({key(rows.first), rows.first, rows.last});
  }
  std::make_heap(heads.begin(), heads.end(), later);
  while (!heads.empty()) {
    if (heads.size() > 1) std::pop_heap(heads.begin(), heads.end(), later);
    Head& head = heads.back();
    // The front group is visited until its next row begins after another group's next row.
    do {
      visit(head.next);
      if (++head.next < head.last) head.begin = key(head.next);
    } while (head.next < head.last && (heads.size() == 1 || !later(head, heads.front())));
    if (head.next == head.last) {
      heads.pop_back();
    } else {
      std::push_heap(heads.begin(), heads.end(), later);
    }
  }
}

// Calls visit(row of Trace::operations) in order of start, then of stream.
template <class Visit> void in_order_of_start(const Trace& trace, const std::vector<StreamId>& streams, Visit&& visit) {
  std::vector<Rows> rows;
  for (const StreamId stream : streams) rows.push_back(trace.stream(stream).operations);
  merge_rows(
      rows, [&](uint32_t row) { return trace.operations[row].start_ns; }, visit);
}

// The selected streams of each physical GPU with operations, in order of its first DeviceId.
inline std::vector<std::pair<DeviceId, std::vector<StreamId>>> streams_by_gpu(const Trace& trace, auto&& selected) {
  std::vector<std::vector<StreamId>> of_gpu(trace.devices.size());
  for (uint32_t s = 0; s < trace.streams.size(); ++s) {
    const Stream& stream = trace.streams[s];
    if (stream.operations.size() != 0 && selected(stream))
      of_gpu[trace.device(stream.device).physical].push_back(StreamId{s});
  }
  std::vector<std::pair<DeviceId, std::vector<StreamId>>> gpus;
  for (uint32_t d = 0; d < of_gpu.size(); ++d) {
    if (!of_gpu[d].empty()) gpus.emplace_back(DeviceId{d}, std::move(of_gpu[d]));
  }
  return gpus;
}

}  // namespace prof::analyzer
