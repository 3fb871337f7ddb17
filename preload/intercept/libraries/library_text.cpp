#include "preload/intercept/libraries/library_text.h"

#include "preload/record/append.h"
#include "preload/record/texts.h"

namespace prof::preload {

namespace {

format::DomainId library_domain() {
  constexpr std::string_view kDomain = "library";
  static const uint64_t hash = Hash().add(kDomain).add(kDomain.size()).done();
  return static_cast<format::DomainId>(g_intern.nvtx_domains.intern_lasting(hash, [&](uint32_t fresh) {
    format::NvtxDomainDef definition;
    definition.id = static_cast<format::DomainId>(fresh);
    definition.name = intern_lasting_string(kDomain);
    return define(definition);
  }));
}

format::LabelId intern_label(std::string_view text) {
  const format::StringId string = intern_string(text);
  if (string == format::StringId{}) return {};
  const format::DomainId domain = library_domain();
  const uint64_t hash = Hash().add(text).add(static_cast<uint64_t>(domain)).add(0x6c6962).done();
  const auto write = [&](uint32_t fresh) {
    format::NvtxLabelDef definition;
    definition.id = static_cast<format::LabelId>(fresh);
    definition.domain = domain;
    definition.text = string;
    return define(definition);
  };
  return static_cast<format::LabelId>(g_intern.nvtx_labels.intern(hash, write, is_kept(string)));
}

}  // namespace

std::atomic<uint64_t> g_library_labels[1024];

format::LabelId new_library_label(uint64_t key, std::string_view text) {
  const format::LabelId label = intern_label(text);
  if (label != format::LabelId{} && is_kept(label))
    g_library_labels[key & 1023].store(key >> 24 << 24 | static_cast<uint64_t>(label), std::memory_order_relaxed);
  return label;
}

}  // namespace prof::preload
