// See collective_calls.h. The names of the values are those that NCCL registers.
#include "analyzer/analysis/collective_calls.h"

#include <algorithm>
#include <charconv>

namespace prof::analyzer {

namespace {

constexpr std::string_view kCommunicator = "NCCL communicator ID";

std::optional<int64_t> number(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string_view unquoted(std::string_view json) {
  return json.size() >= 2 && json.front() == '"' ? json.substr(1, json.size() - 2) : json;
}

bool is_nccl(std::string_view kernel) { return kernel.find("nccl") != std::string_view::npos; }

}  // namespace

std::string_view CollectiveCalls::value(const Range& range, std::string_view name) const {
  const Rows values = trace_.payload_of(range);
  for (uint32_t i = values.first; i < values.last; ++i) {
    if (trace_.text(trace_.payload_values[i].name) == name) return unquoted(trace_.text(trace_.payload_values[i].json));
  }
  return {};
}

CollectiveCalls::CollectiveCalls(const Trace& trace) : trace_(trace), threads_(trace.threads.size()) {
  if (trace.payload_values.empty()) return;
  for (uint32_t row = 0; row < trace.ranges.size(); ++row) {
    const Range& range = trace.ranges[row];
    const std::string_view communicator = value(range, kCommunicator);
    if (communicator.empty()) continue;
    any_ = true;
    if (range.style == RangeStyle::PushPop) threads_[index(range.thread)].ranges.push_back(row);
    const std::optional<int64_t> rank = number(value(range, "Rank")), ranks = number(value(range, "No. of ranks"));
    if (rank) ranks_.try_emplace({trace.thread(range.thread).process, communicator}, *rank, ranks.value_or(-1));
  }
}

std::optional<CollectiveCall> CollectiveCalls::call(uint32_t row, bool grouped) const {
  const Range& range = trace_.ranges[row];
  CollectiveCall call;
  call.range = row;
  call.grouped = grouped;
  call.communicator = value(range, kCommunicator);
  call.bytes = number(value(range, "Message size [bytes]"));
  call.peer = number(value(range, "Peer rank"));
  if (!call.peer) call.peer = number(value(range, "Root"));
  call.reduction = value(range, "Reduction operation");
  const auto known = ranks_.find({trace_.thread(range.thread).process, call.communicator});
  if (known != ranks_.end()) {
    call.rank = known->second.first;
    if (known->second.second >= 0) call.ranks = known->second.second;
  }
  return call;
}

std::optional<CollectiveCall> CollectiveCalls::of(const GpuOperation& operation) const {
  if (!any_ || !operation.linked() || operation.kind() != GpuKind::Kernel) return std::nullopt;
  const HostEvent& launch = trace_.host[operation.launch];
  const std::vector<uint32_t>& ranges = threads_[index(launch.thread)].ranges;
  const auto after = std::partition_point(ranges.begin(), ranges.end(),
                                          [&](uint32_t row) { return trace_.ranges[row].begin_ns <= launch.begin_ns; });
  if (after == ranges.begin()) return std::nullopt;
  const uint32_t last = *(after - 1);
  if (trace_.ranges[last].end_ns >= launch.end_ns) return call(last, false);
  // Calls within a group return before anything is launched, by ncclGroupEnd().
  if (!is_nccl(trace_.text(trace_.kernels[operation.detail].name))) return std::nullopt;
  return call(last, true);
}

}  // namespace prof::analyzer
