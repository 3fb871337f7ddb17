#include "preload/intercept/nvtx_events.h"

#include "preload/log/intern.h"
#include "preload/runtime/recorder.h"

#include <cstddef>
#include <cstring>

namespace prof::preload {
namespace {

// Levels live in TLS because push must answer even while nothing is recorded. 28 bytes beside ThreadLocal's 32: the default
// domain and the first domains of the program; others answer NVTX_NO_PUSH_POP_TRACKING.
constexpr uint32_t kLevelDomains = 12;
struct Levels {
  int32_t of_default;
  int16_t of_domain[kLevelDomains];
};
static_assert(sizeof(Levels) + sizeof(ThreadLocal) <= 64);
thread_local Levels t_levels __attribute__((tls_model("initial-exec")));

int level_after_push(const NvtxObject* domain) {
  if (domain == nullptr) return t_levels.of_default++;
  const uint32_t slot = domain->level_slot - 1;
  return slot < kLevelDomains ? t_levels.of_domain[slot]++ : NVTX_NO_PUSH_POP_TRACKING;
}

int level_after_pop(const NvtxObject* domain) {
  if (domain == nullptr) return t_levels.of_default > 0 ? --t_levels.of_default : -1;
  const uint32_t slot = domain->level_slot - 1;
  if (slot >= kLevelDomains) return NVTX_NO_PUSH_POP_TRACKING;
  return t_levels.of_domain[slot] > 0 ? --t_levels.of_domain[slot] : -1;
}

struct Label {
  format::LabelId id;
  std::string_view inline_text;  // where the text could not be interned
};

__attribute__((noinline)) Label new_label(format::DomainId domain, const NvtxMessage& message, uint64_t hash) {
  const format::StringId text = message.text.empty() ? format::StringId{} : intern_string(message.text);
  Label label;
  if (text == format::StringId{} && !message.text.empty()) {
    label.inline_text = message.text;
    if (message.text.size() > format::kMaxTextBytes) {
      count(format::Counter::text_cut);
      label.inline_text = {message.text.data(), format::kMaxTextBytes};
    }
    hash = Hash().add(static_cast<uint64_t>(domain)).add(message.category).add(message.color).done();
  }
  label.id = static_cast<format::LabelId>(g_intern.nvtx_labels.intern(hash, [&](uint32_t fresh) {
    format::NvtxLabelDef definition;
    definition.id = static_cast<format::LabelId>(fresh);
    definition.domain = domain;
    definition.text = text;
    definition.category = message.category;
    definition.has_color = message.has_color ? 1 : 0;
    definition.color = message.color;
    return define(definition);
  }));
  if (label.id == format::LabelId{} && label.inline_text.empty()) {
    label.inline_text = {message.text.data(),
                         message.text.size() < format::kMaxTextBytes ? message.text.size() : format::kMaxTextBytes};
  }
  return label;
}

Label label_of(NvtxObject* domain, const NvtxMessage& message) {
  const format::DomainId id = nvtx_domain_id(domain);
  const uint64_t text = message.text_hash != 0 ? message.text_hash : Hash().add(message.text).done();
  // The same text under another domain, category or colour is another label; three independent factors, folded once.
  const uint64_t hash = Hash::fold(text ^ (static_cast<uint64_t>(id) << 32 | message.category),
                                   (uint64_t{message.color} << 1 | (message.has_color ? 1 : 0)) * 0x9e3779b97f4a7c15 ^
                                       0xa0761d6478bd642f) |
                        1;
  if (const uint32_t known = g_intern.nvtx_labels.find(hash); known != 0)
    return {static_cast<format::LabelId>(known), {}};
  return new_label(id, message, hash);
}

template <class Event> void emit_message(Event& event, NvtxObject* domain, const NvtxMessage& message) {
  const Label label = label_of(domain, message);
  event.label = label.id;
  event.text = label.inline_text;
  event.payload_type = message.payload_type;
  event.payload = message.payload;
  emit(event);
}

std::atomic<uint64_t> g_next_range{1};

char* put_number(char* to, uint32_t number) {
  char digits[10];
  int count = 0;
  do digits[count++] = static_cast<char>('0' + number % 10);
  while ((number /= 10) != 0);
  while (count > 0) *to++ = digits[--count];
  return to;
}

}  // namespace

NvtxMessage nvtx_message(const nvtxEventAttributes_t* attributes, char* buffer) {
  NvtxMessage message;
  if (attributes == nullptr || attributes->size < offsetof(nvtxEventAttributes_t, message) + sizeof(void*))
    return message;
  message.category = attributes->category;
  message.has_color = attributes->colorType == NVTX_COLOR_ARGB;
  if (message.has_color) message.color = attributes->color;
  message.payload_type = static_cast<uint32_t>(attributes->payloadType);
  switch (attributes->payloadType) {
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT64:
    case NVTX_PAYLOAD_TYPE_INT64:
    case NVTX_PAYLOAD_TYPE_DOUBLE: message.payload = attributes->payload.ullValue; break;
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT32:
    case NVTX_PAYLOAD_TYPE_FLOAT: message.payload = attributes->payload.uiValue; break;
    case NVTX_PAYLOAD_TYPE_INT32: message.payload = static_cast<uint64_t>(int64_t{attributes->payload.iValue}); break;
    default: message.payload_type = 0; break;  // extended payloads point into the program's memory
  }
  const void* const registered = attributes->message.registered;
  switch (attributes->messageType) {
    case NVTX_MESSAGE_TYPE_ASCII:
      if (attributes->message.ascii != nullptr) message.text = attributes->message.ascii;
      break;
    case NVTX_MESSAGE_TYPE_UNICODE: message.text = nvtx_utf8(attributes->message.unicode, buffer); break;
    case NVTX_MESSAGE_TYPE_REGISTERED:
      if (const NvtxObject* const string = nvtx_string_of(registered); string != nullptr) {
        message.text = string->view();
        message.text_hash = string->hash;
      }
      break;
    default: break;
  }
  return message;
}

__attribute__((flatten)) int nvtx_push(NvtxObject* domain, const NvtxMessage& message) {
  const EventScope scope;
  if (scope.recording()) [[likely]] {
    format::NvtxPush event;
    event.time = now_ticks();
    emit_message(event, domain, message);
  }
  return level_after_push(domain);
}

__attribute__((flatten)) int nvtx_pop(NvtxObject* domain) {
  const EventScope scope;
  if (scope.recording()) [[likely]] {
    format::NvtxPop event;
    event.time = now_ticks();
    event.domain = nvtx_domain_id(domain);
    emit(event);
  }
  return level_after_pop(domain);
}

uint64_t nvtx_start(NvtxObject* domain, const NvtxMessage& message) {
  const uint64_t range = g_next_range.fetch_add(1, std::memory_order_relaxed);
  const EventScope scope;
  if (scope.recording()) {
    format::NvtxStart event;
    event.time = now_ticks();
    event.range = range;
    emit_message(event, domain, message);
  }
  return range;
}

void nvtx_end(uint64_t range) {
  const EventScope scope;
  if (scope.recording()) emit(format::NvtxEnd{now_ticks(), range});
}

void nvtx_mark(NvtxObject* domain, const NvtxMessage& message) {
  const EventScope scope;
  if (!scope.recording()) return;
  format::NvtxMark event;
  event.time = now_ticks();
  emit_message(event, domain, message);
}

void nvtx_name_category(NvtxObject* domain, uint32_t category, std::string_view name) {
  const EventScope scope;
  if (!scope.recording()) return;
  char key[128] = "nvtx_category/";
  char* to = key + std::strlen(key);
  if (domain != nullptr) {
    const size_t size = domain->size < 64 ? domain->size : 64;
    std::memcpy(to, domain->text, size);
    to += size;
  }
  *to++ = '/';
  to = put_number(to, category);
  define_meta({key, static_cast<size_t>(to - key)}, name);
}

void nvtx_name_thread(uint32_t tid, std::string_view name) {
  const EventScope scope;
  if (!scope.recording()) return;
  char key[32] = "thread_name/";
  const char* const end = put_number(key + std::strlen(key), tid);
  define_meta({key, static_cast<size_t>(end - key)}, name);
}

}  // namespace prof::preload
