#include "analyzer/model/queue_depth.h"

#include <algorithm>

namespace prof::analyzer {

namespace {

// The stream the operation counts on.
uint32_t counts_on(const Trace& trace, const GpuOperation& operation) {
  if (operation.linked()) {
    const uint32_t launched_into = trace.host_streams[index(trace.host[operation.launch].stream)].stream;
    if (launched_into != kNone) return launched_into;
  }
  return operation.stream_index;
}

}  // namespace

QueueDepth::QueueDepth(const Trace& trace) : trace_(trace) {
  of_stream_.resize(trace.streams.size());
  std::vector<uint32_t> counts(trace.streams.size());
  bool in_place = true;
  for (const GpuOperation& operation : trace.operations) {
    const uint32_t stream = counts_on(trace, operation);
    ++counts[stream];
    in_place = in_place && stream == operation.stream_index;
  }
  uint32_t at = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    of_stream_[i] = in_place ? trace.streams[i].operations : Rows{at, at};
    at += counts[i];
  }
  if (!in_place) {
    order_.resize(trace.operations.size());
    for (uint32_t row = 0; row < trace.operations.size(); ++row) {
      order_[of_stream_[counts_on(trace, trace.operations[row])].last++] = row;
    }
  }

  // Launches without a host stream that is known belong to the stream their first operation ran on.
  at_launch_.resize(trace.host.size());
  for (LaunchDepth& depth : at_launch_) depth = {};
  for (uint32_t s = 0; s < trace.streams.size(); ++s) {
    for (uint32_t i = of_stream_[s].first; i < of_stream_[s].last; ++i) {
      const GpuOperation& operation = operation_at(i);
      if (operation.linked() && !at_launch_[operation.launch].known()) at_launch_[operation.launch].waiting = s;
    }
  }
  std::vector<uint32_t> launches_on(trace.streams.size() + 1);
  const auto stream_for = [&](uint32_t row) {
    const HostEvent& event = trace.host[row];
    if (!event.is_launch() || event.has(kHostCaptured) || event.result() != 0) return kNone;
    const uint32_t known = trace.host_streams[index(event.stream)].stream;
    return known != kNone ? known : at_launch_[row].waiting;
  };
  for (uint32_t row = 0; row < trace.host.size(); ++row) {
    const uint32_t stream = stream_for(row);
    at_launch_[row].waiting = stream;
    if (stream != kNone) ++launches_on[stream + 1];
  }
  for (size_t s = 1; s < launches_on.size(); ++s) launches_on[s] += launches_on[s - 1];
  Column<uint32_t> launches;
  launches.resize(launches_on.back());
  std::vector<uint32_t> fill(launches_on.begin(), launches_on.end() - 1);
  for (uint32_t row = 0; row < trace.host.size(); ++row) {
    if (at_launch_[row].waiting != kNone) launches[fill[at_launch_[row].waiting]++] = row;
  }

  for (uint32_t s = 0; s < trace.streams.size(); ++s) {
    uint32_t* const first = launches.data() + launches_on[s];
    uint32_t* const last = launches.data() + launches_on[s + 1];
    if (first == last) continue;
    const auto by_begin = [&](uint32_t a, uint32_t b) { return trace.host[a].begin_ns < trace.host[b].begin_ns; };
    if (!std::is_sorted(first, last, by_begin)) std::stable_sort(first, last, by_begin);
    const std::vector<StreamId> stream{StreamId{s}};
    Merged begins(*this, stream, Edge::Begin), starts(*this, stream, Edge::Start);
    Merged outstanding_begins(*this, stream, Edge::OutstandingBegin), ends(*this, stream, Edge::End);
    uint32_t waiting = 0, outstanding = 0;
    for (uint32_t* row = first; row != last; ++row) {
      const int64_t now = trace.host[*row].begin_ns;
      // A start or end at `now` itself belongs to a launch before `now`: intervals are not empty.
      waiting += begins.pop_before(now), waiting -= starts.pop_until(now);
      outstanding += outstanding_begins.pop_before(now), outstanding -= ends.pop_until(now);
      at_launch_[*row] = {waiting, outstanding};
    }
  }
}

QueueDepth::Times::Times(const QueueDepth& depth, StreamId stream, Edge edge)
    : depth_(&depth), edge_(edge), rows_(depth.of_stream_[index(stream)]), at_(rows_.first), end_(rows_.last) {
  bool sorted = true;
  int64_t last = INT64_MIN, time = 0;
  for (uint32_t i = rows_.first; i < rows_.last && sorted; ++i) {
    if (!read(i, time)) continue;
    sorted = time >= last;
    last = time;
  }
  if (!sorted) {
    copy_.reserve(rows_.size());
    for (uint32_t i = rows_.first; i < rows_.last; ++i) {
      if (read(i, time)) copy_.push_back(time);
    }
    std::sort(copy_.begin(), copy_.end());
    sorted_copy_ = true;
    at_ = 0;
    end_ = static_cast<uint32_t>(copy_.size());
  }
  settle();
}

bool QueueDepth::Times::read(uint32_t position, int64_t& time) const {
  const GpuOperation& operation = depth_->operation_at(position);
  if (!operation.linked()) return false;
  const int64_t entered = depth_->trace_.host[operation.launch].begin_ns;
  const bool waits = edge_ == Edge::Begin || edge_ == Edge::Start;
  if ((waits ? operation.start_ns : operation.end_ns) <= entered) return false;  // empty or reversed
  time = edge_ == Edge::Start ? operation.start_ns : edge_ == Edge::End ? operation.end_ns : entered;
  return true;
}

void QueueDepth::Times::settle() {
  if (sorted_copy_) {
    if (at_ < end_) now_ = copy_[at_];
    return;
  }
  while (at_ < end_ && !read(at_, now_)) ++at_;
}

namespace {
constexpr auto kLater = [](const auto& a, const auto& b) { return a.peek() > b.peek(); };
}

QueueDepth::Merged::Merged(const QueueDepth& depth, const std::vector<StreamId>& streams, Edge edge) {
  for (const StreamId stream : streams) {
    Times times(depth, stream, edge);
    if (!times.done()) lists_.push_back(std::move(times));
  }
  std::make_heap(lists_.begin(), lists_.end(), kLater);
}

uint32_t QueueDepth::Merged::pop_until(int64_t time) {
  uint32_t popped = 0;
  while (!lists_.empty() && lists_.front().peek() <= time) {
    if (lists_.size() > 1) std::pop_heap(lists_.begin(), lists_.end(), kLater);
    Times& earliest = lists_.back();
    const int64_t bound = lists_.size() > 1 ? std::min(time, lists_.front().peek()) : time;
    while (!earliest.done() && earliest.peek() <= bound) earliest.pop(), ++popped;
    if (earliest.done()) {
      lists_.pop_back();
    } else {
      std::push_heap(lists_.begin(), lists_.end(), kLater);
    }
  }
  return popped;
}

}  // namespace prof::analyzer
