#include "analyzer/model/event_names.h"

#include "analyzer/model/names.h"
#include "analyzer/model/range_text.h"

#include <algorithm>

namespace prof::analyzer {

namespace {

// torch.autograd.profiler's filter_name().
constexpr std::string_view kFiltered[] = {"profiler::_record_function_enter", "profiler::_record_function_exit",
                                          "aten::is_leaf", "aten::output_nr", "aten::_version"};

// torch.autograd.profiler's rewrite_name(). Also removes what emit_nvtx() appends to the name.
std::string_view table_name(std::string_view text) {
  return text.starts_with(kProfilerStep) ? kAnyProfilerStep : plain_range_text(text);
}

}  // namespace

EventNames::EventNames(const Trace& trace, const RangeCounters* counters) {
  for (uint32_t label = 0; label < trace.labels.size(); ++label) {
    const std::string_view folded = counters == nullptr ? std::string_view() : counters->name_of(LabelId{label});
    of_label_.push_back(names_.intern(folded.empty() ? table_name(trace.text(trace.labels[label].text)) : folded));
  }
  for (const StringId api : trace.apis) of_api_.push_back(names_.intern(plain_api_name(trace.text(api))));
  filtered_.resize(names_.size());
  for (uint32_t id = 0; id < names_.size(); ++id)
    filtered_[id] = std::find(std::begin(kFiltered), std::end(kFiltered), names_[StringId{id}]) != std::end(kFiltered);
}

}  // namespace prof::analyzer
