#include "analyzer/model/waiting_operations.h"

#include "analyzer/base/parallel.h"

#include <algorithm>

namespace prof::analyzer {

namespace {

// The stream on which the operation counts.
uint32_t counts_on(const Trace& trace, const GpuOperation& operation) {
  if (operation.linked()) {
    const uint32_t launched_into = trace.host_streams[index(trace.host[operation.launch].stream)].stream;
    if (launched_into != kNone) return launched_into;
  }
  return operation.stream_index;
}

// A graph launch may have GPU times of some operations and lack those of others.
bool without_gpu_times(const HostEvent& launch) {
  return launch.is_launch() && launch.has(kHostNoGpuTimes) &&
         (!launch.has(kHostHasGpu) || launch.kind() == HostKind::GraphLaunch);
}

}  // namespace

WaitingOperations::WaitingOperations(const Trace& trace) : trace_(trace) {
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

  // A launch whose host stream is unknown belongs to the stream on which its first operation ran.
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

  find_starts();
  in_order_.resize(trace.streams.size());
  parallel_for(trace.streams.size(), [&](size_t i) {
    const auto s = static_cast<uint32_t>(i);
    find_in_order(s);
    uint32_t* const first = launches.data() + launches_on[s];
    uint32_t* const last = launches.data() + launches_on[s + 1];
    const auto by_begin = [&](uint32_t a, uint32_t b) { return trace.host[a].begin_ns < trace.host[b].begin_ns; };
    if (!std::is_sorted(first, last, by_begin)) std::stable_sort(first, last, by_begin);
    measure_launches(s, first, last);
  });
}

void WaitingOperations::find_in_order(uint32_t stream) {
  std::array<int64_t, 3> last;
  last.fill(INT64_MIN);
  in_order_[stream].fill(true);
  At at;
  for (uint32_t i = of_stream_[stream].first; i < of_stream_[stream].last; ++i) {
    for (const Edge edge : {Edge::Entry, Edge::Start, Edge::End}) {
      if (!read(i, edge, at)) continue;
      const auto e = static_cast<size_t>(edge);
      in_order_[stream][e] = in_order_[stream][e] && at.time_ns >= last[e];
      last[e] = at.time_ns;
    }
  }
}

void WaitingOperations::find_starts() {
  const bool untimed = std::any_of(trace_.host.begin(), trace_.host.end(), without_gpu_times);
  if (!untimed) return;
  starts_.resize(trace_.host.size());
  for (int64_t& start : starts_) start = INT64_MAX;
  for (const GpuOperation& operation : trace_.operations) {
    if (operation.linked()) starts_[operation.launch] = std::min(starts_[operation.launch], operation.start_ns);
  }
}

void WaitingOperations::measure_launches(uint32_t stream, const uint32_t* first, const uint32_t* last) {
  if (first == last) return;
  const std::vector<StreamId> only{StreamId{stream}};
  Merged entries(*this, only, Edge::Entry), starts(*this, only, Edge::Start), ends(*this, only, Edge::End);
  Change depth;
  int64_t returned = INT64_MIN;  // end of the last launch without GPU times so far
  int64_t settled = INT64_MIN;   // start of the first operation that was launched after it
  for (const uint32_t* row = first; row != last; ++row) {
    const HostEvent& launch = trace_.host[*row];
    const int64_t now = launch.begin_ns;
    // A start or end at `now` belongs to an earlier launch, because intervals are not empty.
    depth.add(entries.pop_before(now));
    depth.subtract(starts.pop_until(now));
    depth.subtract(ends.pop_until(now));
    at_launch_[*row] = settled <= now ? LaunchDepth{depth.waiting, depth.outstanding} : LaunchDepth{};
    if (starts_.empty()) continue;
    if (without_gpu_times(launch)) {
      returned = std::max(returned, launch.end_ns);
      settled = INT64_MAX;
    } else if (now >= returned) {
      settled = std::min(settled, starts_[*row]);
    }
  }
}

bool WaitingOperations::read(uint32_t position, Edge edge, At& at) const {
  const GpuOperation& operation = operation_at(position);
  if (!operation.linked()) return false;
  const int64_t entered = trace_.host[operation.launch].begin_ns;
  // An empty or reversed interval counts neither as waiting nor as outstanding.
  const uint32_t waits = operation.start_ns > entered ? 1 : 0, runs = operation.end_ns > entered ? 1 : 0;
  switch (edge) {
    case Edge::Entry: at = {entered, {waits, runs}}; break;
    case Edge::Start: at = {operation.start_ns, {waits, 0}}; break;
    case Edge::End: at = {operation.end_ns, {0, runs}}; break;
  }
  return at.change.waiting + at.change.outstanding != 0;
}

WaitingOperations::Times::Times(const WaitingOperations& depth, StreamId stream, Edge edge)
    : depth_(&depth),
      edge_(edge),
      at_(depth.of_stream_[index(stream)].first),
      end_(depth.of_stream_[index(stream)].last),
      sorted_copy_(!depth.in_order_[index(stream)][static_cast<size_t>(edge)]) {
  if (sorted_copy_) {
    copy_.reserve(end_ - at_);
    for (; at_ < end_; ++at_) {
      if (depth.read(at_, edge, now_)) copy_.push_back(now_);
    }
    std::sort(copy_.begin(), copy_.end(), [](const At& a, const At& b) { return a.time_ns < b.time_ns; });
    at_ = 0;
    end_ = static_cast<uint32_t>(copy_.size());
  }
  settle();
}

void WaitingOperations::Times::settle() {
  if (sorted_copy_) {
    if (at_ < end_) now_ = copy_[at_];
    return;
  }
  while (at_ < end_ && !depth_->read(at_, edge_, now_)) ++at_;
}

WaitingOperations::Merged::Merged(const WaitingOperations& depth, const std::vector<StreamId>& streams, Edge edge) {
  for (const StreamId stream : streams) {
    Times times(depth, stream, edge);
    if (times.done()) continue;
    heads_.push({times.peek().time_ns, static_cast<uint32_t>(lists_.size())});
    lists_.push_back(std::move(times));
  }
}

WaitingOperations::Change WaitingOperations::Merged::pop_until(int64_t time) {
  Change popped;
  while (!heads_.empty() && heads_.front().time_ns <= time) {
    const uint32_t list = heads_.front().list;
    Times& earliest = lists_[list];
    popped.add(earliest.peek().change);
    earliest.pop();
    if (earliest.done()) {
      heads_.pop();
    } else {
      heads_.replace_front({earliest.peek().time_ns, list});
    }
  }
  return popped;
}

}  // namespace prof::analyzer
