#include "preload/intercept/library_text.h"

namespace prof::preload {

namespace {

// 2^10 entries of [40-bit tag | 24-bit label], overwritten freely: a miss costs a text and a look in the interned tables.
std::atomic<uint64_t> g_labels[1024];

format::DomainId library_domain() {
  constexpr std::string_view kDomain = "library";
  static const uint64_t hash = Hash().add(kDomain).add(kDomain.size()).done();
  return static_cast<format::DomainId>(g_intern.nvtx_domains.intern(hash, [&](uint32_t fresh) {
    format::NvtxDomainDef definition;
    definition.id = static_cast<format::DomainId>(fresh);
    definition.name = intern_string(kDomain);
    return define(definition);
  }));
}

format::LabelId intern_label(std::string_view text) {
  const format::StringId string = intern_string(text);
  if (string == format::StringId{}) return {};
  const format::DomainId domain = library_domain();
  const uint64_t hash = Hash().add(text).add(static_cast<uint64_t>(domain)).add(0x6c6962).done();
  return static_cast<format::LabelId>(g_intern.nvtx_labels.intern(hash, [&](uint32_t fresh) {
    format::NvtxLabelDef definition;
    definition.id = static_cast<format::LabelId>(fresh);
    definition.domain = domain;
    definition.text = string;
    return define(definition);
  }));
}

format::LibraryCall event_of(const Recorded& call) {
  format::LibraryCall event;
  event.end = call.times.end;
  event.duration = call.times.end - call.times.begin;
  event.status = call.status;
  return event;
}

}  // namespace

bool Recorded::write_known(uint64_t key) const {
  const uint64_t known = g_labels[key & 1023].load(std::memory_order_relaxed);
  if ((known ^ key) >> 24 != 0 || known == 0) return false;
  format::LibraryCall event = event_of(*this);
  event.label = static_cast<format::LabelId>(known & 0xffffff);
  emit(event);
  return true;
}

void Recorded::write_new(uint64_t key, std::string_view text) const {
  format::LibraryCall event = event_of(*this);
  event.label = intern_label(text);
  const uint64_t label = static_cast<uint64_t>(event.label);
  if (label == 0) event.text = text;
  if (label != 0 && label >> 24 == 0) g_labels[key & 1023].store(key >> 24 << 24 | label, std::memory_order_relaxed);
  emit(event);
}

}  // namespace prof::preload
