#include "analyzer/symbols/symbol_answer.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace prof::analyzer {

namespace {

// bytes:  | AnswerHead | number of the problem's text | first | frames | lengths of texts | texts |
struct AnswerHead {
  uint64_t frames = 0, texts = 0, text_bytes = 0;
};

}  // namespace

uint32_t SymbolAnswerWriter::text(std::string_view text) {
  const auto found = known_.find(text);
  if (found != known_.end()) return found->second;
  const std::string& kept = texts_.emplace_back(text);
  text_bytes_ += kept.size();
  return known_.emplace(kept, static_cast<uint32_t>(texts_.size() - 1)).first->second;
}

std::string SymbolAnswerWriter::bytes() {
  const uint32_t why = text(problem);
  first_.back() = static_cast<uint32_t>(frames_.size());
  const AnswerHead head{frames_.size(), texts_.size(), text_bytes_};
  std::string bytes;
  const auto put = [&](const void* from, size_t count) { bytes.append(static_cast<const char*>(from), count); };
  put(&head, sizeof head);
  put(&why, sizeof why);
  put(first_.data(), first_.size() * sizeof(uint32_t));
  put(frames_.data(), frames_.size() * sizeof(Frame));
  for (const std::string& each : texts_) {
    const auto length = static_cast<uint32_t>(each.size());
    put(&length, sizeof length);
  }
  for (const std::string& each : texts_) bytes += each;
  return bytes;
}

bool add_symbol_answer(std::string_view bytes, uint32_t first, uint32_t last, StringTable& strings, SymbolAnswer& to) {
  const auto take = [&](auto& values, size_t count) {
    using T = typename std::remove_reference_t<decltype(values)>::value_type;
    if (bytes.size() / sizeof(T) < count) return false;
    values.resize(count);
    if (count != 0) std::memcpy(values.data(), bytes.data(), count * sizeof(T));
    bytes.remove_prefix(count * sizeof(T));
    return true;
  };
  std::vector<AnswerHead> head;
  std::vector<uint32_t> why, starts, lengths;
  std::vector<SymbolAnswerWriter::Frame> frames;
  if (!take(head, 1) || !take(why, 1) || !take(starts, last - first + size_t{1}) || !take(frames, head[0].frames) ||
      !take(lengths, head[0].texts) || bytes.size() != head[0].text_bytes) {
    return false;
  }
  std::vector<StringId> texts;
  for (const uint32_t length : lengths) {
    if (bytes.size() < length) return false;
    texts.push_back(strings.intern(bytes.substr(0, length)));
    bytes.remove_prefix(length);
  }
  const auto text = [&](uint32_t id) { return id < texts.size() ? texts[id] : StringId{}; };
  if (!std::is_sorted(starts.begin(), starts.end()) || starts.back() > frames.size()) return false;
  const auto base = static_cast<uint32_t>(to.frames.size());
  for (size_t i = 0; i + 1 < starts.size(); ++i) to.first[first + i] = base + starts[i];
  for (const SymbolAnswerWriter::Frame& frame : frames)
    to.frames.push_back(
        {text(frame.function), text(frame.file), frame.line, frame.inlined != 0, frame.modified_s, frame.file_bytes});
  if (to.problem.empty()) to.problem = std::string(strings[text(why[0])]);
  return true;
}

}  // namespace prof::analyzer
