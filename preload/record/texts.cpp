#include "preload/record/texts.h"

#include "preload/log/count.h"
#include "preload/record/append.h"
#include "preload/record/intern.h"

namespace prof::preload {

void define_meta(std::string_view key, std::string_view value) {
  if (value.size() > format::kMaxTextBytes - 100) {
    value = std::string_view(value.data(), format::kMaxTextBytes - 100);
    count(format::LossCounter::text_cut);
  }
  define(format::MetaDef{key, value});
}

namespace {

bool define_string(uint32_t id, std::string_view text) {
  for (size_t offset = 0; offset < text.size(); offset += format::kMaxTextBytes) {
    format::StringPart part;
    part.id = format::StringId{id};
    part.total_bytes = text.size();
    part.offset = offset;
    const size_t left = text.size() - offset;  // substr() could throw, which needs the C++ library
    part.text = {text.data() + offset, left < format::kMaxTextBytes ? left : format::kMaxTextBytes};
    if (!define(part)) return false;
  }
  return true;
}

}  // namespace

format::StringId intern_string(std::string_view text) {
  return text.empty() ? format::StringId{} : intern_string(text, Hash{}.add(text).done());
}

format::StringId intern_string(std::string_view text, uint64_t hash) {
  if (text.empty()) return {};
  return format::StringId{g_intern.strings.intern(hash, [&](uint32_t id) { return define_string(id, text); })};
}

format::StringId intern_lasting_string(std::string_view text) {
  if (text.empty()) return {};
  const uint64_t hash = Hash{}.add(text).done();
  if (const uint32_t known = g_intern.strings.find(hash); known != 0) return format::StringId{known};
  return format::StringId{g_intern.strings.intern_lasting(hash, [&](uint32_t id) { return define_string(id, text); })};
}

}  // namespace prof::preload
