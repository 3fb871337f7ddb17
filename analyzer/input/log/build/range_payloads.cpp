#include "analyzer/input/log/build/range_payloads.h"

#include "analyzer/base/json/json_text.h"
#include "preload/format/nvtx_types.h"

#include <fmt/format.h>

#include <charconv>
#include <string>
#include <string_view>

namespace prof::analyzer {

uint32_t RangePayloads::take(uint64_t tick, const LogInput& input, ThreadId thread) {
  if (pending_.empty()) return 0;
  if (pending_.back()->tick != tick) {
    leave_unread(input);
    return 0;
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
