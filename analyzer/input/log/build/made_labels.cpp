#include "analyzer/input/log/build/made_labels.h"

#include <fmt/format.h>

namespace prof::analyzer {

LabelId MadeLabels::with_text(LabelId like, std::string_view text, std::string_view of_domain) {
  Label label = trace_.labels[index(like)];
  label.text = trace_.strings.intern(text);
  if (!of_domain.empty()) label.domain = trace_.strings.intern(of_domain);
  return find_or_add(0, like, label);
}

LabelId MadeLabels::around(LabelId from, std::string_view before, std::string_view after) {
  Label label = trace_.labels[index(from)];
  label.text = trace_.strings.intern(fmt::format("{}{}{}", before, trace_.text(label.text), after));
  return find_or_add(1, from, label);
}

LabelId MadeLabels::find_or_add(uint64_t made_how, LabelId from, const Label& label) {
  const uint64_t key = made_how << 63 | uint64_t{index(from)} << 32 | index(label.text);
  const auto [found, added] = made_.try_emplace(key, static_cast<uint32_t>(trace_.labels.size()));
  if (added) trace_.labels.push_back(label);
  return LabelId{found->second};
}

}  // namespace prof::analyzer
