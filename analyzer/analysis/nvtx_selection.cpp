#include "analyzer/analysis/nvtx_selection.h"

#include "analyzer/analysis/graph_launches.h"
#include "analyzer/base/json/json_text.h"
#include "analyzer/base/name_pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace prof::analyzer {

namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::min();
constexpr int64_t kForever = std::numeric_limits<int64_t>::max();

bool has_name(const Range& range) { return range.kind == RangeKind::Nvtx || range.kind == RangeKind::Annotation; }

NamePattern pattern_of(const std::string& name) {
  try {
    return NamePattern(name);
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(fmt::format("--nvtx: {}", error.what()));
  }
}

// By LabelId.
std::vector<bool> labels_of(const std::string& word, const Trace& trace) {
  const size_t at = word.rfind('@');
  const NamePattern pattern = pattern_of(word.substr(0, at));
  const std::string domain = at == std::string::npos ? "*" : word.substr(at + 1);
  std::vector<bool> labels;
  for (const Label& label : trace.labels) {
    const std::string_view recorded = trace.text(label.domain);
    const bool in_domain = domain == "*" || recorded == domain || readable_utf8(recorded) == domain;
    const auto matches = [&](const std::string& text) { return pattern.matches(text, text); };
    const std::string text(trace.text(label.text));
    labels.push_back(in_domain && (matches(text) || matches(readable_utf8(text))));  // as recorded or as printed
  }
  return labels;
}

}  // namespace

int64_t NvtxSelection::Found::open_until(ThreadId thread, int64_t time_ns) const {
  if (index(thread) >= of_thread.size()) return kNever;
  const std::vector<Opened>& opened = of_thread[index(thread)];
  const auto after =
      std::partition_point(opened.begin(), opened.end(), [&](const Opened& each) { return each.begin_ns <= time_ns; });
  return after == opened.begin() ? kNever : after[-1].latest_end_ns;
}

void NvtxSelection::find_labels(const std::vector<std::string>& words, const Trace& trace, Found& found) {
  found.labels.resize(trace.labels.size());
  for (const std::string& word : words) {
    const std::vector<bool> labels = labels_of(word, trace);
    const bool any = std::any_of(trace.ranges.begin(), trace.ranges.end(),
                                 [&](const Range& range) { return has_name(range) && labels[index(range.label)]; });
    if (!any) throw std::runtime_error(fmt::format("--nvtx: no NVTX range or annotation '{}' in the input", word));
    for (size_t i = 0; i < labels.size(); ++i) found.labels[i] = found.labels[i] || labels[i];
  }
}

void NvtxSelection::find_ranges(const Trace& trace, Found& found) {
  found.of_thread.resize(trace.threads.size());
  for (const Range& range : trace.ranges) {
    // A range that was never closed contains everything that its thread did later.
    if (has_name(range) && found.labels[index(range.label)])
      found.of_thread[index(range.thread)].push_back(
          {range.begin_ns, range.unfinished && !range.closed_early ? kForever : range.end_ns});
  }
  for (std::vector<Opened>& opened : found.of_thread) {
    std::sort(opened.begin(), opened.end(), [](const Opened& a, const Opened& b) { return a.begin_ns < b.begin_ns; });
    for (size_t i = 1; i < opened.size(); ++i)
      opened[i].latest_end_ns = std::max(opened[i].latest_end_ns, opened[i - 1].latest_end_ns);
  }
  found.ranges.resize(trace.ranges.size());
  for (uint32_t row = 0; row < trace.ranges.size(); ++row) {
    const Range& range = trace.ranges[row];
    const int64_t until_ns = found.open_until(range.thread, range.begin_ns);
    found.ranges[row] = (has_name(range) && found.labels[index(range.label)]) ||
                        (until_ns > range.begin_ns && until_ns >= range.end_ns);
  }
}

NvtxSelection::NvtxSelection(const std::vector<std::string>& words, const Trace& trace, const Views& views,
                             bool captured) {
  if (words.empty()) return;
  Found found;
  find_labels(words, trace, found);
  find_ranges(trace, found);
  found.calls.resize(trace.host.size());
  for (uint32_t row = 0; row < trace.host.size(); ++row)
    found.calls[row] = found.is_open(trace.host[row].thread, trace.host[row].begin_ns);
  found.operations.resize(trace.operations.size());
  for (uint32_t row = 0; row < trace.operations.size(); ++row) {
    const uint32_t call = call_of(trace, views, trace.operations[row], captured);
    found.operations[row] = call != kNone && found.calls[call];
    found.unlinked += call == kNone ? 1 : 0;
  }
  found_ = std::make_shared<const Found>(std::move(found));
}

}  // namespace prof::analyzer
