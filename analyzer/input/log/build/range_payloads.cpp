#include "analyzer/input/log/build/range_payloads.h"

#include "analyzer/base/json/json_text.h"
#include "preload/format/nvtx_events.h"
#include "preload/format/nvtx_types.h"
#include "preload/format/wire.h"

#include <fmt/format.h>

#include <charconv>
#include <string>
#include <string_view>

namespace prof::analyzer {

namespace {

// The payload with the texts that it refers to in their places. False: it refers to none.
bool with_references(const RecordedPayload& payload, const LogInput& input, RecordedPayload& whole) {
  const auto* const from = reinterpret_cast<const uint8_t*>(payload.texts.data());
  format::Cursor cursor{from, from + payload.texts.size()};
  std::string texts;
  bool any = false;
  const auto add = [&](uint64_t offset, std::string_view text) {
    uint8_t head[24];
    const uint8_t* end = format::put_varint(format::put_varint(head, offset), text.size());
    texts.append(reinterpret_cast<const char*>(head), static_cast<size_t>(end - head));
    texts += text;
  };
  while (cursor.ok && !cursor.at_end()) {
    const uint64_t offset = cursor.varint();
    if (!cursor.ok) break;
    if (offset < format::kNvtxTextReference) {
      const std::string_view text = cursor.text();
      if (cursor.ok) add(offset, text);
      continue;
    }
    any = true;
    const auto known = input.payload_texts.find(static_cast<uint32_t>(cursor.varint()));
    if (cursor.ok && known != input.payload_texts.end()) add(offset - format::kNvtxTextReference, known->second);
  }
  if (!any) return false;
  whole = payload;
  whole.texts = std::move(texts);
  return true;
}

}  // namespace

uint32_t RangePayloads::take(uint64_t tick, const LogInput& input, ThreadId thread) {
  if (pending_.empty()) return 0;
  if (pending_.back()->tick != tick) {
    leave_unread(input);
    return 0;
  }
  std::vector<RecordedPayload> whole(pending_.size());
  for (size_t i = 0; i < pending_.size(); ++i) {
    if (with_references(*pending_[i], input, whole[i])) pending_[i] = &whole[i];
  }
  const DecodedPayload decoded = decode_payloads(input.schemas, pending_);
  pending_.clear();
  trace_.processes[index(input.process)].nvtx_payloads_unread += decoded.unread;
  if (decoded.values.empty()) return 0;
  const auto first = static_cast<uint32_t>(trace_.payload_values.size());
  for (const NamedValue& value : decoded.values) {
    std::string name = value.name, json = value.json;
    if (value.entry != nullptr) {
      const format::DomainId domain = input.schemas[value.entry->schema].def.domain;
      const auto path = [&](uint64_t scope) {
        return trace_.text(scopes_.of(input.scopes, input.process, domain, scope, thread));
      };
      uint64_t held = 0;
      if (value.entry->type == format::nvtx::kScope) std::from_chars(json.data(), json.data() + json.size(), held);
      if (const std::string_view of = path(held); !of.empty()) json = json_string(of);
      if (const std::string_view of = path(value.scope); !of.empty()) name = fmt::format("{}/{}", of, name);
    }
    trace_.payload_values.push_back({trace_.strings.intern(name), trace_.strings.intern(json)});
  }
  return add_row(first);
}

void RangePayloads::add_scope(Range& range, const LogInput& input, format::DomainId domain, uint64_t scope) {
  const std::string_view path = trace_.text(scopes_.of(input.scopes, input.process, domain, scope, range.thread));
  if (path.empty()) return;
  const auto first = static_cast<uint32_t>(trace_.payload_values.size());
  trace_.payload_values.push_back({trace_.strings.intern("scope"), trace_.strings.intern(json_string(path))});
  extend(range, add_row(first));
}

void RangePayloads::leave_unread(const LogInput& input) {
  trace_.processes[index(input.process)].nvtx_payloads_unread += pending_.size();
  pending_.clear();
}

void RangePayloads::extend(Range& range, uint32_t values) {
  if (values == 0) return;
  if (range.payload_type == kExtendedPayload) {
    const Rows before = trace_.payloads[range.payload], more = trace_.payloads[values];
    const auto first = static_cast<uint32_t>(trace_.payload_values.size());
    for (const Rows rows : {before, more}) {
      for (uint32_t i = rows.first; i < rows.last; ++i) {
        const PayloadValue value = trace_.payload_values[i];
        trace_.payload_values.push_back(value);
      }
    }
    values = add_row(first);
  }
  range.payload_type = kExtendedPayload;  // replaces a plain number of its start
  range.payload = values;
}

uint32_t RangePayloads::add_row(uint32_t first) {
  trace_.payloads.push_back({first, static_cast<uint32_t>(trace_.payload_values.size())});
  return static_cast<uint32_t>(trace_.payloads.size() - 1);
}

}  // namespace prof::analyzer
