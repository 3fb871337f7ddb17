#include "analyzer/model/op_stacks.h"

#include <algorithm>
#include <utility>

namespace prof::analyzer {

namespace {

// torch.autograd.profiler's filter_stack_entry(): a frame that contains both texts is left out.
constexpr std::pair<std::string_view, std::string_view> kFilteredFrames[] = {
    {"autograd/__init__", "_make_grads"},
    {"autograd/__init__", "backward"},
    {"torch/tensor", "backward"},
    {"_internal/common_utils", "prof_callable"},
    {"_internal/common_utils", "prof_func_call"},
    {"_internal/common_utils", "prof_meth_call"}};

bool is_filtered(std::string_view frame) {
  return std::any_of(std::begin(kFilteredFrames), std::end(kFilteredFrames), [&](const auto& parts) {
    return frame.find(parts.first) != std::string_view::npos && frame.find(parts.second) != std::string_view::npos;
  });
}

}  // namespace

OpStacks::OpStacks(const Trace& trace, const ForwardBackward& links) : trace_(trace), links_(links) {
  python_.resize(trace.ranges.size());
  for (uint32_t row = 0; row < trace.ranges.size(); ++row) {
    const uint32_t parent = trace.ranges[row].parent;
    python_[row] = parent == kNone ? kNone : trace.ranges[parent].kind == RangeKind::Python ? parent : python_[parent];
  }
}

uint32_t OpStacks::source(uint32_t range_row) const {
  const BackwardLink* const link = links_.around(range_row);
  return link == nullptr ? range_row : link->outer_forward;
}

uint64_t OpStacks::key(uint32_t range_row) const {
  const uint32_t row = source(range_row);
  return row == kNone ? 0 : own_key(row);
}

uint64_t OpStacks::own_key(uint32_t row) const {
  if (python_[row] != kNone) return uint64_t{python_[row]} + 1;
  const OperatorDetail* const detail = trace_.detail(trace_.ranges[row]);
  return detail == nullptr || index(detail->stack) == 0 ? 0 : uint64_t{1} << 32 | uint64_t{index(detail->stack)} << 33;
}

std::vector<std::string_view> OpStacks::stack(uint32_t range_row, size_t most) const {
  const uint32_t row = source(range_row);
  return row == kNone ? std::vector<std::string_view>() : own_stack(row, most);
}

std::vector<std::string_view> OpStacks::own_stack(uint32_t row, size_t most) const {
  std::vector<std::string_view> frames;
  const auto take = [&](std::string_view frame) {
    if (frame.empty()) return;
    if (is_filtered(frame)) {
      ++left_out_;
    } else {
      frames.push_back(frame);
    }
  };
  for (uint32_t python = python_[row]; python != kNone && frames.size() < most; python = python_[python])
    take(trace_.range_name(trace_.ranges[python]));
  const OperatorDetail* const detail = trace_.detail(trace_.ranges[row]);
  if (python_[row] != kNone || detail == nullptr) return frames;
  std::string_view text = trace_.text(detail->stack);
  while (!text.empty() && frames.size() < most) {
    const size_t end = std::min(text.find(';'), text.size());
    take(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return frames;
}

}  // namespace prof::analyzer
