#include "analyzer/output/chrome/chrome_stacks.h"

#include "analyzer/analysis/stacks/call_stacks.h"
#include "analyzer/base/json/json_text.h"

#include <fmt/format.h>

namespace prof::analyzer {

ChromeStacks::ChromeStacks(const Trace& trace, const Views& views, ChromeStackForm form, uint64_t most_text)
    : stacks_(call_stacks(views)), form_(form) {
  if (form != ChromeStackForm::Both) return;
  uint64_t bytes = 0;
  for (uint32_t row = 0; row < trace.host.size() && whole_; ++row) {
    bytes += text(of_call(row)).size();
    whole_ = bytes <= most_text;
  }
  if (!whole_) texts_.clear();
}

const std::string& ChromeStacks::call_member(StackId stack) {
  return form_ == ChromeStackForm::Both || form_ == ChromeStackForm::Text ? text(stack) : none_;
}
const std::string& ChromeStacks::operation_member(StackId stack) {
  return form_ == ChromeStackForm::Text ? text(stack) : none_;
}

void ChromeStacks::add(StackId stack, const std::string& member, EventMembers& members) {
  const auto at = static_cast<uint32_t>(stack);
  if (member.empty()) return;
  if (at >= encoded_.size()) encoded_.resize(at + size_t{1});
  if (encoded_[at].empty()) encoded_[at] = members.encoded(member);
  members.append(encoded_[at]);
}

uint32_t ChromeStacks::frame(StackId stack) {
  const auto at = static_cast<uint32_t>(stack);
  if (at == 0) return 0;
  if (at >= frame_of_.size()) frame_of_.resize(at + size_t{1});
  if (frame_of_[at] != 0) return frame_of_[at] - 1;
  uint32_t node = 0;
  const std::span<const uint32_t> rows = stacks_.merged().of(stack);
  for (size_t i = rows.size(); i-- > 0;) {
    const auto [found, added] =
        children_.try_emplace(uint64_t{node} << 32 | rows[i], static_cast<uint32_t>(nodes_.size()));
    if (added) nodes_.push_back({node, rows[i]});
    node = found->second;
  }
  frame_of_[at] = node + 1;
  return node;
}

const std::string& ChromeStacks::text(StackId stack) {
  const auto at = static_cast<uint32_t>(stack);
  if (at >= texts_.size()) texts_.resize(at + size_t{1});
  if (at != 0 && texts_[at].empty()) {
    const std::string text = whole_ ? stacks_.text(stack) : stacks_.best(stack);
    if (!text.empty()) texts_[at] = (whole_ ? "\"Call stack\":" : "\"called from\":") + json_string(text);
  }
  return texts_[at];
}

void ChromeStacks::write_table(Sink& sink) const {
  if (nodes_.size() == 1) return;
  const MergedStacks& merged = stacks_.merged();
  sink.write(",\"stackFrames\":{");
  for (size_t n = 1; n < nodes_.size(); ++n) {
    const TreeFrame& frame = merged.frame(nodes_[n].row);
    const std::string_view module = merged.text(frame.module);
    const bool python = frame.kind == TreeFrameKind::Python;
    std::string text =
        fmt::format("{}\"{}\":{{\"name\":{},\"category\":{}", n == 1 ? "\n" : ",\n", n,
                    json_string(merged.frame_text(nodes_[n].row)), json_string(python ? "Python" : module));
    if (nodes_[n].parent != 0) text += fmt::format(",\"parent\":\"{}\"", nodes_[n].parent);
    sink.write(text + "}");
  }
  sink.write("\n}");
}

}  // namespace prof::analyzer
