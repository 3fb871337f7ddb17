// See collective_calls.h. Names of payload values are those that NCCL registers; names of arguments are PyTorch's.
#include "analyzer/analysis/collectives/collective_calls.h"

#include "analyzer/analysis/cost/library_call_text.h"
#include "analyzer/base/json/json_members.h"
#include "analyzer/base/json/json_text.h"

#include <algorithm>
#include <charconv>

namespace prof::analyzer {

namespace {

constexpr std::string_view kCommunicator = "NCCL communicator ID", kOperator = "record_param_comms",
                           kNoNumber = "0",  // of a communicator that is not initialized yet
    kSeveral = "rank unknown: several in this process", kUnnumbered = "unknown: made without a number",
                           kSplit = "unknown: split from another communicator";

std::optional<int64_t> number(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// The value of a member of an event's arguments, a string without its quotes. Empty if there is none.
std::string_view member(std::string_view members, std::string_view key) {
  return unquoted(json_member(members, key).value_or(std::string_view()));
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

CollectiveCalls::CollectiveCalls(const Trace& trace)
    : trace_(trace),
      operator_label_(trace.labels.size()),
      calls_(trace.threads.size()),
      library_(trace.threads.size()) {
  if (!trace.payload_values.empty()) take_payloads();
  if (!trace.details.empty()) take_operators();
  for (std::vector<uint32_t>& calls : calls_) std::sort(calls.begin(), calls.end());  // of one thread: by start
}

void CollectiveCalls::take_payloads() {
  take_library_calls();
  std::vector<uint32_t> numbered;  // rows of ranges whose communicator has a number
  for (uint32_t row = 0; row < trace_.ranges.size(); ++row) {
    const Range& range = trace_.ranges[row];
    const std::string_view communicator = value(range, kCommunicator);
    if (communicator.empty()) continue;
    any_ = true;
    if (range.style == RangeStyle::PushPop) calls_[index(range.thread)].push_back(row);
    if (communicator == kNoNumber) {
      unnumbered_[trace_.thread(range.thread).process].push_back(said_by_payload(range));
    } else {
      numbered.push_back(row);
    }
  }
  for (const uint32_t row : numbered) {
    const Range& range = trace_.ranges[row];
    const std::pair key{trace_.thread(range.thread).process, value(range, kCommunicator)};
    const Membership said = said_by_payload(range);
    if (said.rank && may_be_another(key.first, said)) {
      join(key, {std::nullopt, said.ranks, kUnnumbered});
    } else if (!said.source.empty()) {
      join(key, said);
    }
  }
  for (const std::vector<uint32_t>& calls : calls_) {
    for (const uint32_t row : calls) {
      const Range& range = trace_.ranges[row];
      if (const std::optional<Membership> said = said_by_library(range))
        join({trace_.thread(range.thread).process, value(range, kCommunicator)}, *said);
    }
  }
}

// The rank and size in the payload of a call that creates or ends a communicator. An empty source: the payload has
// neither.
CollectiveCalls::Membership CollectiveCalls::said_by_payload(const Range& range) const {
  // The payload of ncclCommSplit() has the rank and size in the parent communicator, not in the new one.
  if (!value(range, "Parent NCCL communicator ID").empty()) return {std::nullopt, std::nullopt, kSplit};
  if (const std::optional<int64_t> rank = number(value(range, "Rank")))
    return {rank, number(value(range, "No. of ranks")), "payload"};
  const std::optional<int64_t> devices = number(value(range, "No. of devices"));  // ncclCommInitAll(): a rank for each
  if (!devices) return {};
  if (*devices == 1) return {0, 1, "payload"};
  return {std::nullopt, devices, kSeveral};
}

// Whether this process created communicators of the same size without a number and as another rank. Any of them may be
// the communicator of `said`, so the process may have other ranks of it too.
bool CollectiveCalls::may_be_another(ProcessId process, const Membership& said) const {
  const auto made = unnumbered_.find(process);
  if (made == unnumbered_.end()) return false;
  return std::any_of(made->second.begin(), made->second.end(), [&](const Membership& one) {
    return one.rank && one.ranks == said.ranks && one.rank != said.rank;
  });
}

// Merges what one call shows about a communicator. A process may have several ranks of one communicator, one per GPU. A
// source with a rank takes precedence over one without.
void CollectiveCalls::join(const std::pair<ProcessId, std::string_view>& communicator, const Membership& one) {
  const auto [found, first] = ranks_.try_emplace(communicator, one);
  Membership& known = found->second;
  if (first || known.source == kSeveral || (known.rank && !one.rank)) return;
  if (!known.rank || !one.rank) {
    if (one.rank) known = one;
    return;
  }
  if (known.ranks != one.ranks) known.ranks = std::nullopt;
  if (known.rank == one.rank && known.ranks == one.ranks) return;
  known.rank = std::nullopt;
  known.source = kSeveral;
}

void CollectiveCalls::take_library_calls() {
  std::vector<bool> of_nccl(trace_.labels.size());
  for (size_t label = 0; label < trace_.labels.size(); ++label) {
    of_nccl[label] = trace_.text(trace_.labels[label].domain) == "library" &&
                     trace_.text(trace_.labels[label].text).starts_with("nccl");
  }
  for (uint32_t row = 0; row < trace_.ranges.size(); ++row) {
    const Range& range = trace_.ranges[row];
    if (of_nccl[index(range.label)]) library_[index(range.thread)].push_back(row);
  }
  const auto begins_before = [this](uint32_t a, uint32_t b) {
    return trace_.ranges[a].begin_ns < trace_.ranges[b].begin_ns;
  };
  for (std::vector<uint32_t>& calls : library_) std::sort(calls.begin(), calls.end(), begins_before);
}

// The rank and size from the recorded library call around a range of NCCL. libprof.so called ncclCommUserRank and
// ncclCommCount for the communicator of that call. The two ranges are matched by time on their thread, because their
// NVTX domains differ.
std::optional<CollectiveCalls::Membership> CollectiveCalls::said_by_library(const Range& range) const {
  const std::vector<uint32_t>& calls = library_[index(range.thread)];
  const auto after = std::partition_point(calls.begin(), calls.end(),
                                          [&](uint32_t row) { return trace_.ranges[row].begin_ns <= range.begin_ns; });
  if (after == calls.begin() || trace_.ranges[*(after - 1)].end_ns < range.end_ns) return std::nullopt;
  const CallArguments said(trace_.text(trace_.labels[index(trace_.ranges[*(after - 1)].label)].text));
  const std::optional<uint64_t> rank = said.number("rank"), ranks = said.number("ranks");
  if (!rank || !ranks) return std::nullopt;
  return Membership{static_cast<int64_t>(*rank), static_cast<int64_t>(*ranks), "library call"};
}

void CollectiveCalls::take_operators() {
  bool any = false;
  for (size_t label = 0; label < trace_.labels.size(); ++label) {
    operator_label_[label] = trace_.text(trace_.labels[label].text) == kOperator;
    any = any || operator_label_[label];
  }
  for (uint32_t row = 0; any && row < trace_.ranges.size(); ++row) {
    const Range& range = trace_.ranges[row];
    if (!operator_label_[index(range.label)] || !is_call(range)) continue;
    any_ = true;
    calls_[index(range.thread)].push_back(row);
  }
}

// Only operators that launch something: PyTorch records the wait for a collective under the same operator name.
bool CollectiveCalls::is_call(const Range& range) const {
  if (range.kind == RangeKind::Nvtx) return !value(range, kCommunicator).empty();
  const OperatorDetail* const detail = operator_label_[index(range.label)] ? trace_.detail(range) : nullptr;
  if (detail == nullptr) return false;
  const std::string_view name = member(trace_.text(detail->other), "Collective name");
  return !name.empty() && name != "wait" && name != "init";
}

void CollectiveCalls::read_payload(const Range& range, CollectiveCall& call) const {
  call.name = trace_.range_name(range);
  call.communicator = value(range, kCommunicator);
  call.bytes = number(value(range, "Message size [bytes]"));
  call.peer = number(value(range, "Peer rank"));
  if (!call.peer) call.peer = number(value(range, "Root"));
  call.reduction = value(range, "Reduction operation");
  const auto known = ranks_.find({trace_.thread(range.thread).process, call.communicator});
  if (const std::optional<Membership> said = call.grouped ? std::nullopt : said_by_library(range)) {
    call.rank = said->rank;
    call.ranks = said->ranks;
    call.rank_source = said->source;
  } else if (known != ranks_.end()) {
    call.rank = known->second.rank;
    call.ranks = known->second.ranks;
    call.rank_source = known->second.source;
  } else if (unnumbered_.contains(trace_.thread(range.thread).process)) {
    call.rank_source = kUnnumbered;
  } else {
    call.rank_source = "unknown: its making is not recorded";
  }
  call.kind = collective_kind(call.name);
  if (call.bytes && *call.bytes >= 0)
    call.size = collective_size(call.kind, static_cast<uint64_t>(*call.bytes), call.known_ranks());
}

void CollectiveCalls::read_arguments(const OperatorDetail& detail, CollectiveCall& call) const {
  const std::string_view members = trace_.text(detail.other);
  call.name = member(members, "Collective name");
  call.communicator = member(members, "Process Group Name");
  call.rank = number(member(members, "Rank"));
  call.ranks = number(member(members, "Group size"));
  call.sequence = number(member(members, "Seq"));
  call.rank_source = call.rank || call.ranks ? std::string_view("operator") : "unknown: not among the arguments";
  call.type = member(members, "dtype");
  call.kind = collective_kind(call.name);
  if (call.kind == CollectiveKind::PointToPoint)
    call.peer = number(member(members, call.name.starts_with("recv") ? "Src Rank" : "Dst Rank"));
  const std::optional<int64_t> in = number(member(members, "In msg nelems")),
                               out = number(member(members, "Out msg nelems"));
  const auto element = static_cast<int64_t>(element_bytes(call.type));
  const auto bytes = [&](int64_t elements) -> std::optional<int64_t> {
    int64_t product = 0;
    if (element == 0 || elements < 0 || __builtin_mul_overflow(elements, element, &product)) return std::nullopt;
    return product;
  };
  if (in) call.bytes = bytes(*in);
  // If one of the two is the data of all ranks, it is the larger one.
  const std::optional<int64_t> size = in && out && *in >= 0 ? bytes(std::max(*in, *out)) : std::nullopt;
  if (size && moves_bytes(call.kind)) call.size = static_cast<uint64_t>(*size);
}

CollectiveCall CollectiveCalls::call(uint32_t row, bool grouped) const {
  const Range& range = trace_.ranges[row];
  CollectiveCall call;
  call.range = row;
  call.grouped = grouped;
  if (const OperatorDetail* const detail = trace_.detail(range)) {
    read_arguments(*detail, call);
  } else {
    read_payload(range, call);
  }
  return call;
}

std::optional<CollectiveCall> CollectiveCalls::of(const GpuOperation& operation) const {
  if (!any_ || !operation.linked() || operation.kind() != GpuKind::Kernel) return std::nullopt;
  const HostEvent& launch = trace_.host[operation.launch];
  const std::vector<uint32_t>& calls = calls_[index(launch.thread)];
  const auto after = std::partition_point(calls.begin(), calls.end(),
                                          [&](uint32_t row) { return trace_.ranges[row].begin_ns <= launch.begin_ns; });
  if (after == calls.begin()) return std::nullopt;
  const uint32_t last = *(after - 1);
  const bool nccl = is_nccl(trace_.text(trace_.kernels[operation.detail].name));
  for (uint32_t row = last; row != kNone; row = trace_.ranges[row].parent) {
    const Range& range = trace_.ranges[row];
    if (range.end_ns < launch.end_ns || !is_call(range)) continue;
    // Other kernels that PyTorch launches in the operator, such as copies of its arguments, are not NCCL's.
    return nccl || range.kind == RangeKind::Nvtx ? std::optional(call(row, false)) : std::nullopt;
  }
  // Calls within a group return before their kernels are launched by ncclGroupEnd().
  return nccl ? std::optional(call(last, true)) : std::nullopt;
}

}  // namespace prof::analyzer
