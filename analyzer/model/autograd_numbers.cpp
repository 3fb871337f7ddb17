#include "analyzer/model/autograd_numbers.h"

#include "analyzer/model/range_text.h"

namespace prof::analyzer {

AutogradNumbers::AutogradNumbers(const Trace& trace) : trace_(trace) {
  constexpr std::string_view kEngine = "autograd::engine::evaluate_function: ";
  for (uint32_t label = 0; label < trace.labels.size(); ++label) {
    const RangeText text = parse_range_text(trace.text(trace.labels[label].text));
    if (text.sequence >= 0) numbered_[label] = {text.sequence, text.stashed, text.name};
    if (text.name.starts_with(kEngine)) evaluated_[label] = text.name.substr(kEngine.size());
  }
}

uint32_t AutogradNumbers::engine_around(const Range& range, std::string_view name) const {
  if (range.parent == kNone || trace_.ranges[range.parent].kind != RangeKind::Nvtx) return kNone;
  const auto found = evaluated_.find(index(trace_.ranges[range.parent].label));
  return found != evaluated_.end() && found->second == name ? range.parent : kNone;
}

AutogradNumber AutogradNumbers::of(uint32_t range_row) const {
  const Range& range = trace_.ranges[range_row];
  if (range.style != RangeStyle::PushPop) return {};
  if (range.kind == RangeKind::Nvtx) {
    const auto found = numbered_.find(index(range.label));
    if (found == numbered_.end()) return {};
    const Numbered& text = found->second;
    if (text.stashed) return {text.sequence, true, 0, kNone};
    const uint32_t engine = engine_around(range, text.name);
    return {text.sequence, engine != kNone, 0, engine};
  }
  const OperatorDetail* const detail = trace_.detail(range);
  if (detail == nullptr || detail->sequence < 0) return {};
  return {detail->sequence, detail->forward_thread != 0, detail->forward_thread, kNone};
}

}  // namespace prof::analyzer
