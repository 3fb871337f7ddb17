#include "preload/intercept/nvtx/nvtx_record.h"

#include "preload/base/clock.h"
#include "preload/capture/streams/launch_path.h"
#include "preload/control/triggers.h"
#include "preload/format/nvtx_types.h"
#include "preload/hardware_counters/counter_recording.h"
#include "preload/hardware_counters/counter_work.h"
#include "preload/intercept/nvtx/nvtx_clocks.h"
#include "preload/intercept/nvtx/nvtx_payload_bytes.h"
#include "preload/intercept/nvtx/nvtx_scopes.h"
#include "preload/lifecycle/call_scope.h"
#include "preload/lifecycle/dumps.h"
#include "preload/lifecycle/recording_period.h"
#include "preload/log/count.h"
#include "preload/record/append.h"
#include "preload/record/intern.h"
#include "preload/record/launch_extras.h"
#include "preload/record/recording_window.h"
#include "preload/record/texts.h"
#include "preload/record/thread_local.h"

#include <cstddef>
#include <cstring>
#include <type_traits>

namespace prof::preload {
namespace {

// Nesting levels are in TLS, because push must return a level even while nothing is recorded. They take 28 bytes next
// to the 32 of ThreadLocal: the default domain and the first domains of the program. Other domains get
// NVTX_NO_PUSH_POP_TRACKING.
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
  std::string_view inline_text;  // set if the text could not be interned
};

__attribute__((noinline)) Label new_label(format::DomainId domain, const NvtxMessage& message, uint64_t hash) {
  const format::StringId text = message.text.empty() ? format::StringId{} : intern_string(message.text);
  Label label;
  if (text == format::StringId{} && !message.text.empty()) {  // the log had no room for it, and may have again
    label.inline_text = message.text;
    if (message.text.size() > format::kMaxTextBytes) {
      count(format::LossCounter::text_cut);
      label.inline_text = {message.text.data(), format::kMaxTextBytes};
    }
    hash = Hash().add(static_cast<uint64_t>(domain)).add(message.category).add(message.color).done();
  }
  const auto write = [&](uint32_t fresh) {
    format::NvtxLabelDef definition;
    definition.id = static_cast<format::LabelId>(fresh);
    definition.domain = domain;
    definition.text = text;
    definition.category = message.category;
    definition.has_color = message.has_color ? 1 : 0;
    definition.color = message.color;
    return define(definition);
  };
  label.id = static_cast<format::LabelId>(g_intern.nvtx_labels.intern(hash, write, is_kept(text)));
  if (label.id == format::LabelId{} && label.inline_text.empty()) {
    label.inline_text = {message.text.data(),
                         message.text.size() < format::kMaxTextBytes ? message.text.size() : format::kMaxTextBytes};
  }
  return label;
}

// The same text with another domain, category or colour is another label. Three independent factors, folded once.
uint64_t label_hash(uint64_t text, format::DomainId domain, uint32_t category, uint32_t color, bool has_color) {
  return Hash::fold(text ^ (static_cast<uint64_t>(domain) << 32 | category),
                    ((uint64_t{color} << 1 | (has_color ? 1 : 0)) * 0x9e3779b97f4a7c15) ^ 0xa0761d6478bd642f);
}

// 2^12 entries of [42-bit tag | 22-bit LabelId]. An entry may be overwritten at any time: a miss costs a search in the
// interned labels, never a second id. The tag contains the epoch: an entry of an earlier recording fits nothing.
constexpr uint32_t kCachedLabels = 1u << 12;
std::atomic<uint64_t> g_label_cache[kCachedLabels];
uint64_t cache_key(uint64_t hash) { return hash ^ t_local.epoch << 22; }
// 0: not in the cache.
uint32_t cached_label(uint64_t key) {
  const uint64_t entry = g_label_cache[key % kCachedLabels].load(std::memory_order_relaxed);
  return (entry ^ key) >> 22 == 0 ? static_cast<uint32_t>(entry) & (format::kFirstOnceId - 1) : 0;
}

Label label_of(NvtxObject* domain, const NvtxMessage& message) {
  const format::DomainId id = domain == nullptr ? format::DomainId{} : nvtx_domain_id(domain);
  const uint64_t text = message.text_hash != 0 ? message.text_hash : hash_of_text(message.text);
  const uint64_t hash = label_hash(text, id, message.category, message.color, message.has_color);
  const uint64_t key = cache_key(hash);
  if (const uint32_t cached = cached_label(key); cached != 0) [[likely]]
    return {static_cast<format::LabelId>(cached), {}};
  const uint32_t known = g_intern.nvtx_labels.find(hash);
  const Label label = known != 0 ? Label{static_cast<format::LabelId>(known), {}} : new_label(id, message, hash);
  if (label.id != format::LabelId{} && is_kept(label.id) && label.inline_text.empty()) {
    const uint64_t entry = (key & ~uint64_t{format::kFirstOnceId - 1}) | static_cast<uint32_t>(label.id);
    g_label_cache[key % kCachedLabels].store(entry, std::memory_order_relaxed);
  }
  return label;
}

template <class Event> void emit_message(Event& event, NvtxObject* domain, const NvtxMessage& message) {
  const Label label = label_of(domain, message);
  event.label = label.id;
  event.text = label.inline_text;
  event.payload_type = message.payload_type;
  event.payload = message.payload;
  emit(event);
  if (marker_may_dump()) [[unlikely]]
    marker_dumps(message.text);
  if constexpr (std::is_same_v<Event, format::NvtxPush>) {
    if (counters_of_ranges()) [[unlikely]]
      counter_range_pushed(domain, domain != nullptr ? domain->view() : std::string_view(), message.text, event.time);
  }
}

// Writes the payloads and then the event with the message that they contain. Separate from plain events: their `event`
// stays in registers as long as nothing takes its address (5 ns a push).
template <class Event>
__attribute__((noinline)) void emit_extended(Event event, NvtxObject* domain, const NvtxMessage& message) {
  event.time = now_ticks();
  NvtxMessage whole = message;
  char text[kMaxPayloadTexts];
  NvtxFound found{whole, text, 0, {}, 0, 0};
  record_payloads(event.time, domain, reinterpret_cast<const NvtxPayloadData*>(message.payload),
                  message.payload_type - kNvtxExtended, found);
  whole.payload_type = format::kNvtxPayloadExtended;
  whole.payload = 0;
  emit_message(event, domain, whole);
}

constexpr char kRangeEnds[] = "NVTX range";  // the reason why the recording ends
std::atomic<uint64_t> g_next_range{1};

// Whether the recording starts with this range. The range is then pushed or started once more, and recorded.
__attribute__((noinline)) bool begins_here(const NvtxObject* domain, const NvtxMessage& message) {
  return is_awaited_range(domain != nullptr ? domain->view() : std::string_view(), message.text);
}
__attribute__((noinline)) int push_awaited(NvtxObject* domain, const NvtxMessage& message) {
  awaited_range_is_pushed(domain);
  return nvtx_push(domain, message);
}

}  // namespace

std::string_view nvtx_text(int32_t type, nvtxMessageValue_t message, char* buffer) {
  switch (type) {
    case NVTX_MESSAGE_TYPE_ASCII:
      return message.ascii != nullptr ? std::string_view(message.ascii) : std::string_view();
    case NVTX_MESSAGE_TYPE_UNICODE: return nvtx_utf8(message.unicode, buffer);
    case NVTX_MESSAGE_TYPE_REGISTERED: {
      const NvtxObject* const string = nvtx_string_of(message.registered);
      return string != nullptr ? string->view() : std::string_view();
    }
    default: return {};
  }
}

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
    case kNvtxPayloadTypeExtended:
      message.payload_type =
          attributes->payload.ullValue != 0 ? nvtx_extended(static_cast<uint32_t>(attributes->reserved0)) : 0;
      message.payload = attributes->payload.ullValue;
      break;
    default: message.payload_type = 0; break;
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

namespace {

// Whether a push or a pop on this thread is only one record.
inline bool records_only() {
  const uint64_t epoch = life().epoch.load(std::memory_order_acquire);
  return epoch != 0 && t_local.epoch == epoch && !nvtx_has_extras();
}

// Whether nothing is recorded, nothing starts with this push or pop, and no other tool gets it.
inline bool passes_by_quickly() {
  return !window_is(Window::Open) && !window_is(Window::AwaitsRange) && !nvtx_has_extras() && passes_by();
}

}  // namespace

// The usual case of the most frequent function. Nothing here changes errno.
__attribute__((flatten)) bool nvtx_push_known(const char* text, int& level) {
  if (!records_only()) [[unlikely]] {
    if (!passes_by_quickly()) return false;
    level = level_after_push(nullptr);
    return true;
  }
  if (text == nullptr) [[unlikely]]
    return false;
  const uint64_t now = now_ticks();
  const uint64_t hash = label_hash(hash_of_text(text), {}, 0, 0, false);
  const uint32_t label = cached_label(cache_key(hash));
  if (label == 0) [[unlikely]]
    return false;
  format::NvtxPush event;
  event.time = now;
  event.label = static_cast<format::LabelId>(label);
  emit(event);
  level = level_after_push(nullptr);
  return true;
}

__attribute__((flatten)) bool nvtx_pop_plain(int& level) {
  if (!records_only()) [[unlikely]] {
    if (!passes_by_quickly()) return false;
    level = level_after_pop(nullptr);
    return true;
  }
  format::NvtxPop event;
  event.time = now_ticks();
  emit(event);
  level = level_after_pop(nullptr);
  return true;
}

__attribute__((flatten)) int nvtx_push(NvtxObject* domain, const NvtxMessage& message) {
  const EventScope scope;
  if (scope.recording()) [[likely]] {
    if (message.payload_type >= kNvtxExtended) [[unlikely]] {
      emit_extended(format::NvtxPush{}, domain, message);
    } else {
      format::NvtxPush event;
      event.time = now_ticks();
      emit_message(event, domain, message);
    }
    if (in_awaited_range()) [[unlikely]]
      range_pushed(domain);
  } else if (window_is(Window::AwaitsRange) && begins_here(domain, message)) {
    return push_awaited(domain, message);
  }
  return level_after_push(domain);
}

__attribute__((flatten)) int nvtx_pop(NvtxObject* domain) {
  const EventScope scope;
  if (scope.recording()) [[likely]] {
    if (counters_of_ranges()) [[unlikely]]
      counter_range_popped(domain);
    format::NvtxPop event;
    event.time = now_ticks();
    event.domain = domain == nullptr ? format::DomainId{} : nvtx_domain_id(domain);
    emit(event);
  }
  if (in_awaited_range() && ends_with_pop(domain)) [[unlikely]]
    end_window(kRangeEnds);
  return level_after_pop(domain);
}

uint64_t nvtx_start(NvtxObject* domain, const NvtxMessage& message) {
  const uint64_t range = g_next_range.fetch_add(1, std::memory_order_relaxed);
  const EventScope scope;
  if (scope.recording()) {
    format::NvtxStart event;
    event.time = now_ticks();
    event.range = range;
    if (message.payload_type >= kNvtxExtended) {
      emit_extended(event, domain, message);
    } else {
      emit_message(event, domain, message);
    }
  } else if (window_is(Window::AwaitsRange) && begins_here(domain, message)) {
    const uint64_t recorded = nvtx_start(domain, message);
    awaited_range_is_started(recorded);
    return recorded;
  }
  return range;
}

void nvtx_end(uint64_t range) {
  const EventScope scope;
  if (scope.recording()) emit(format::NvtxEnd{now_ticks(), range});
  if (is_awaited_start(range)) {
    clear_awaited_range();
    end_window(kRangeEnds);
  }
}

void nvtx_mark(NvtxObject* domain, const NvtxMessage& message) {
  const EventScope scope;
  if (!scope.recording()) return;
  format::NvtxMark event;
  event.time = now_ticks();
  if (message.payload_type >= kNvtxExtended) {
    emit_extended(event, domain, message);
  } else {
    emit_message(event, domain, message);
  }
}

int nvtx_pop(NvtxObject* domain, const NvtxPayloadData* payloads, size_t payload_count) {
  const EventScope scope;
  if (scope.recording()) {
    if (counters_of_ranges()) counter_range_popped(domain);
    format::NvtxPop event;
    event.time = now_ticks();
    event.domain = nvtx_domain_id(domain);
    record_payloads(event.time, domain, payloads, payload_count);
    emit(event);
  }
  if (in_awaited_range() && ends_with_pop(domain)) [[unlikely]]
    end_window(kRangeEnds);
  return level_after_pop(domain);
}

void nvtx_end(NvtxObject* domain, uint64_t range, const NvtxPayloadData* payloads, size_t payload_count) {
  const EventScope scope;
  if (!scope.recording()) return;
  const format::NvtxEnd event{now_ticks(), range};
  record_payloads(event.time, domain, payloads, payload_count);
  emit(event);
  if (is_awaited_start(range)) {
    clear_awaited_range();
    end_window(kRangeEnds);
  }
}

void nvtx_deferred(NvtxObject* domain, const NvtxPayloadData* payloads, size_t payload_count, uint64_t scope_number) {
  const EventScope scope;
  if (!scope.recording() || payloads == nullptr || payload_count == 0) return;
  NvtxMessage message;
  char text[kMaxPayloadTexts];
  NvtxFound found{message, text, scope_number, {}, 0, 0};
  format::NvtxDeferred event;
  event.time = now_ticks();
  const NvtxSchema* const schema = nvtx_schema(domain, payloads[0].schema);
  const uint64_t style = schema != nullptr ? schema->flags & format::nvtx::kSchemaStyleMask : 0;
  event.style = style == format::nvtx::kSchemaPushPop ? 0 : style == format::nvtx::kSchemaStartEnd ? 1 : 2;
  record_payloads(event.time, domain, payloads, payload_count, found);
  event.clock = found.clock;
  event.begin = found.begin;
  event.end = found.end;
  event.scope = scope_number;
  if (scope_number != 0) {
    event.domain = nvtx_domain_id(domain);
    nvtx_define_scope(domain, scope_number);
  }
  if (event.clock == format::StampClock::Unknown) count(format::LossCounter::nvtx_times_unknown);
  const Label label = label_of(domain, message);
  event.label = label.id;
  event.text = label.inline_text;
  emit(event);
}

void nvtx_sync(const NvtxObject* object, format::SyncAction action) {
  const EventScope scope;
  if (!scope.recording()) return;
  format::NvtxSync event;
  event.time = now_ticks();
  event.action = action;
  event.object = object->number;
  NvtxMessage message;
  message.text = object->view();
  message.text_hash = object->hash;
  const Label label = label_of(object->domain, message);
  event.label = label.id;
  event.text = label.inline_text;
  emit(event);
}

}  // namespace prof::preload
