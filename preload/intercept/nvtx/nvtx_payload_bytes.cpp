// See nvtx_payload_bytes.h. Nothing is read except what the program declared. That is `size` bytes of each payload. It
// is also a zero-ended text for each pointer that is declared to be one, at most kMaxPayloadTexts bytes.
#include "preload/intercept/nvtx/nvtx_payload_bytes.h"

#include "preload/format/nvtx_types.h"
#include "preload/format/utf8.h"
#include "preload/format/wire.h"
#include "preload/intercept/nvtx/nvtx_clocks.h"
#include "preload/intercept/nvtx/nvtx_scopes.h"
#include "preload/log/count.h"
#include "preload/record/append.h"
#include "preload/record/texts.h"

#include <cstring>

namespace prof::preload {
namespace {

namespace nvtx = format::nvtx;

template <class Char> std::string_view utf8(const Char* from, size_t most, char* to, size_t room) {
  size_t size = 0;
  for (size_t i = 0; i < most && size + 4 <= room; ++i) {
    uint32_t code = static_cast<uint32_t>(from[i]);
    if (code == 0) break;
    if constexpr (sizeof(Char) == 2) {
      if ((code & 0xfc00) == 0xd800 && i + 1 < most && (from[i + 1] & 0xfc00) == 0xdc00)
        code = 0x10000 + ((code & 0x3ff) << 10 | (static_cast<uint32_t>(from[++i]) & 0x3ff));
    }
    size += format::put_utf8(code, to + size);
  }
  return {to, size};
}

// A text of at most `most` characters, as UTF-8. Narrow text is not copied. Wide text is converted into `to`.
std::string_view text_at(const void* from, uint32_t char_bytes, size_t most, char* to, size_t room) {
  if (from == nullptr) return {};
  if (char_bytes == 2) return utf8(static_cast<const char16_t*>(from), most, to, room);
  if (char_bytes == 4) return utf8(static_cast<const char32_t*>(from), most, to, room);
  const auto* const text = static_cast<const char*>(from);
  return {text, strnlen(text, most < room ? most : room)};
}

struct Texts {
  uint8_t bytes[kMaxPayloadTexts + 64];
  size_t size = 0;

  void add(uint32_t offset, std::string_view text) {
    if (size + text.size() + 12 > sizeof bytes) {
      count(format::LossCounter::nvtx_payload_cut);
      if (size + 16 > sizeof bytes) return;
      text = text.substr(0, sizeof bytes - size - 12);
    }
    uint8_t* to = format::put_varint(bytes + size, offset);
    to = format::put_text(to, text);
    size = static_cast<size_t>(to - bytes);
  }
  // A text that the log has once, however long it is. False: there is no room for it in the table of names.
  bool refer(uint32_t offset, const NvtxObject& string) {
    constexpr size_t kMostBytes = 16;  // of two varints
    if (size + kMostBytes > sizeof bytes) return false;
    const format::StringId id = intern_string(string.view(), string.hash);
    if (id == format::StringId{}) return false;
    uint8_t* to = format::put_varint(bytes + size, format::kNvtxTextReference + offset);
    to = format::put_varint(to, static_cast<uint64_t>(id));
    size = static_cast<size_t>(to - bytes);
    return true;
  }
};

// The data that a pointer of the payload leads to: as many bytes as the schema defines and as fit.
std::string_view bytes_at(const void* from, const NvtxField& field, const char* payload, size_t size) {
  uint64_t elements = field.count;
  if (field.count == NvtxField::kCounted) {
    elements = 0;
    const size_t width = static_cast<size_t>(field.length_bytes < 0 ? -field.length_bytes : field.length_bytes);
    if (field.length_offset > size || size - field.length_offset < width) return {};
    std::memcpy(&elements, payload + field.length_offset, width);
    if (field.length_bytes < 0 && (elements >> (8 * width - 1)) != 0) return {};  // a negative count
  }
  const auto* const begin = static_cast<const char*>(from);
  const uint64_t most = kMaxPayloadTexts / field.size;
  if (field.count == 0) {
    static constexpr char kZeros[kMaxPayloadTexts] = {};
    while (elements < most && std::memcmp(begin + elements * field.size, kZeros, field.size) != 0) ++elements;
    return {begin, static_cast<size_t>((elements < most ? elements + 1 : most) * field.size)};
  }
  if (elements > most) count(format::LossCounter::nvtx_payload_cut);
  return {begin, static_cast<size_t>((elements < most ? elements : most) * field.size)};
}

// Reads one field of a payload of `size` bytes.
void read_field(NvtxObject* domain, const NvtxField& field, const char* payload, size_t size, Texts& texts,
                NvtxFound* found) {
  const size_t width = field.what == NvtxField::EmbeddedText                                 ? field.size
                       : field.what == NvtxField::Category || field.what == NvtxField::Color ? 4
                                                                                             : 8;
  if (field.offset > size || size - field.offset < width) return;
  const char* const at = payload + field.offset;
  char converted[kMaxPayloadTexts];
  uint64_t word = 0;
  std::memcpy(&word, at, width < 8 ? width : 8);
  std::string_view text;
  switch (field.what) {
    case NvtxField::TextPointer:
      text =
          text_at(reinterpret_cast<const void*>(word), field.char_bytes, kMaxPayloadTexts, converted, sizeof converted);
      texts.add(field.offset, text);
      break;
    case NvtxField::DataPointer:
      if (word != 0) texts.add(field.offset, bytes_at(reinterpret_cast<const void*>(word), field, payload, size));
      return;
    case NvtxField::Registered:
      if (const NvtxObject* const string = nvtx_string_of_number(word); string != nullptr) {
        text = string->view();
        constexpr size_t kShort = 32;  // not longer than some uses of a reference and its definition
        if (text.size() <= kShort || !texts.refer(field.offset, *string)) texts.add(field.offset, text);
      }
      break;
    case NvtxField::EmbeddedText: {
      alignas(4) char aligned[kMaxPayloadTexts];
      const size_t bytes = width < sizeof aligned ? width : sizeof aligned;
      std::memcpy(aligned, at, bytes);
      text = text_at(aligned, field.char_bytes, bytes / field.char_bytes, converted, sizeof converted);
      if (found != nullptr && field.message) {
        const size_t most = text.size() < kMaxPayloadTexts ? text.size() : kMaxPayloadTexts;
        std::memcpy(found->text, text.data(), most);
        found->message.text = {found->text, most};
        found->message.text_hash = 0;
      }
      return;
    }
    case NvtxField::BeginStamp:
    case NvtxField::EndStamp:
      if (found == nullptr) return;
      (field.what == NvtxField::BeginStamp ? found->begin : found->end) = word;
      found->clock = nvtx_stamp_clock(domain, field.time_domain, field.scope != 0 ? field.scope : found->scope);
      return;
    case NvtxField::Scope: nvtx_define_scope(domain, word); return;
    case NvtxField::Category:
      if (found != nullptr) found->message.category = static_cast<uint32_t>(word);
      return;
    case NvtxField::Color:
      if (found == nullptr) return;
      found->message.color = static_cast<uint32_t>(word);
      found->message.has_color = true;
      return;
  }
  if (found == nullptr || !field.message) return;
  const size_t most = text.size() < kMaxPayloadTexts ? text.size() : kMaxPayloadTexts;
  if (most != 0) std::memcpy(found->text, text.data(), most);
  found->message.text = {found->text, most};
  found->message.text_hash = 0;
}

// SIZE_MAX requests that the tool computes the size. That is not possible if the size depends on values.
size_t size_of(const NvtxPayloadData& given, const NvtxSchema* schema) {
  if (given.size != SIZE_MAX) return given.size;
  if (schema != nullptr) return schema->size;
  if (given.schema == nvtx::kString || given.schema == nvtx::kStringUtf8)
    return strnlen(static_cast<const char*>(given.payload), kMaxPayloadBytes);
  return nvtx::is_string(given.schema) ? 0 : nvtx::type_bytes(given.schema);
}

void record_payload(uint64_t time, NvtxObject* domain, const NvtxPayloadData& given, bool several, NvtxFound* found) {
  if (given.payload == nullptr) return;
  NvtxSchema* const schema = given.schema >= nvtx::kFirstSchema ? nvtx_schema(domain, given.schema) : nullptr;
  const size_t size = size_of(given, schema);
  const auto* const payload = static_cast<const char*>(given.payload);
  Texts texts;
  if (schema != nullptr) {
    for (uint32_t i = 0; i < schema->field_count; ++i)
      read_field(domain, schema->fields[i], payload, size, texts, found);
  } else if (given.schema == nvtx::kRegisteredString && size >= 8) {
    NvtxField field;
    field.what = NvtxField::Registered;
    read_field(domain, field, payload, size, texts, nullptr);
  }
  format::NvtxPayload record;
  record.time = time;
  record.schema = nvtx_schema_id(schema);
  if (record.schema == format::SchemaId{}) record.type = given.schema;
  record.bytes = size;
  record.data = {payload, size < kMaxPayloadBytes ? size : kMaxPayloadBytes};
  if (size > kMaxPayloadBytes) count(format::LossCounter::nvtx_payload_cut);
  record.texts = {reinterpret_cast<const char*>(texts.bytes), texts.size};
  if (several) record.address = reinterpret_cast<uint64_t>(payload);
  if (record.data.size() + record.texts.size() > format::kMaxTextBytes)
    record.data = record.data.substr(0, format::kMaxTextBytes - record.texts.size());
  emit(record);
}

void record_all(uint64_t time, NvtxObject* domain, const NvtxPayloadData* payloads, size_t payload_count,
                NvtxFound* found) {
  if (payloads == nullptr) return;
  if (payload_count > kMaxNvtxPayloads) {
    count(format::LossCounter::nvtx_payload_cut);
    payload_count = kMaxNvtxPayloads;
  }
  for (size_t i = 0; i < payload_count; ++i) record_payload(time, domain, payloads[i], payload_count > 1, found);
}

}  // namespace

void record_payloads(uint64_t time, NvtxObject* domain, const NvtxPayloadData* payloads, size_t payload_count,
                     NvtxFound& found) {
  record_all(time, domain, payloads, payload_count, &found);
}
void record_payloads(uint64_t time, NvtxObject* domain, const NvtxPayloadData* payloads, size_t payload_count) {
  record_all(time, domain, payloads, payload_count, nullptr);
}

}  // namespace prof::preload
