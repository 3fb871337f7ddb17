#include "analyzer/input/kineto/kineto_translation.h"

#include "analyzer/model/call_class.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace prof::analyzer {

void KinetoTranslation::start(const KinetoRows& rows) {
  texts_.clear();
  for (const std::string_view text : rows.texts.texts()) texts_.push_back(trace_.strings.intern(text));
  label_of_text_.assign(texts_.size(), kNone);
  call_of_text_.assign(texts_.size(), kNone);
  tracks_.clear();
  for (const KinetoTrack& track : rows.tracks) tracks_.push_back(threads_.thread(text(track.pid), text(track.tid)));
  numbers_.clear();
  for (const KinetoStream& stream : rows.streams)
    numbers_.push_back(
        streams_.number({text(stream.pid), stream.device, stream.context, stream.number, stream.in_order}));
  rows_of_kernels_.clear();
  for (const KinetoKernel& each : rows.kernels) {
    Kernel kernel;
    kernel.name = text(each.name);
    std::copy(std::begin(each.grid), std::end(each.grid), std::begin(kernel.grid));
    std::copy(std::begin(each.block), std::end(each.block), std::begin(kernel.block));
    kernel.registers = each.registers;
    kernel.dynamic_shared_bytes = each.shared_bytes;
    kernel.from_gpu = true;
    rows_of_kernels_.push_back(kernels_.row(kernel));
  }
  first_detail_ = trace_.details.empty() ? 0 : trace_.details.size() - 1;  // row 0: none
}

LabelId KinetoTranslation::label_row(StringId name, StringId domain) {
  const uint64_t key = uint64_t{static_cast<uint32_t>(domain)} << 32 | static_cast<uint32_t>(name);
  const auto [found, added] = labels_.try_emplace(key, row_count(trace_.labels));
  if (added) {
    Label& label = trace_.labels.emplace_back();
    label.text = name;
    label.domain = domain;
  }
  return LabelId{found->second};
}

LabelId KinetoTranslation::label(const KinetoLabel& label) {
  if (index(label.domain) != 0) return label_row(text(label.name), text(label.domain));
  uint32_t& known = label_of_text_[index(label.name)];
  if (known == kNone) known = index(label_row(text(label.name), StringId{}));
  return LabelId{known};
}

uint32_t KinetoTranslation::call_word(StretchText name) {
  uint32_t& word = call_of_text_[index(name)];
  if (word == kNone) {
    const std::string_view text = trace_.strings[this->text(name)];
    word = HostEvent::pack(apis_.intern(text), call_kind(text), 0, 0);
  }
  return word;
}

}  // namespace prof::analyzer
