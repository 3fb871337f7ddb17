// See nvtx_payload.h.
#include "analyzer/model/nvtx_payload.h"

#include "analyzer/model/nvtx_values.h"
#include "analyzer/model/payload_shapes.h"
#include "analyzer/output/json_text.h"
#include "preload/format/nvtx_types.h"
#include "preload/format/wire.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <optional>

namespace prof::analyzer {

namespace {

namespace nvtx = format::nvtx;

constexpr size_t kMaxValues = 512;     // of one event
constexpr size_t kMaxElements = 4096;  // of one array
constexpr uint64_t kMaxWork = 20'000;

class Decoder {
 public:
  Decoder(const PayloadSchemas& schemas, const std::vector<const RecordedPayload*>& payloads, DecodedPayload& to)
      : schemas_(schemas), payloads_(payloads), to_(to), shapes_(schemas) {}

  void run() {
    for (const RecordedPayload* payload : payloads_) {
      payload_ = payload;
      if (const DefinedSchema* const schema = schemas_.find(payload->schema); schema != nullptr) {
        bytes_ = payload->data;
        if (schema->def.type == format::kSchemaEnum) {
          add(std::string(schema->def.name.empty() ? "payload" : schema->def.name), enum_json(*schema, 0));
        } else {
          entries(*schema, 0, "", 0, std::nullopt);
        }
      } else if (payload->type != nvtx::kReferenced) {
        predefined(*payload);
      }
    }
  }

 private:
  void add(std::string name, std::string json) {
    if (json.empty() || to_.values.size() >= kMaxValues) {
      ++to_.unread;
    } else {
      to_.values.push_back({std::move(name), std::move(json)});
    }
  }

  bool have(uint64_t at, uint64_t size) const { return at <= bytes_.size() && bytes_.size() - at >= size; }
  std::string_view piece(uint64_t at, uint64_t size) const {
    return have(at, size) ? bytes_.substr(at, size) : std::string_view();
  }

  // A payload of one value, without a schema.
  void predefined(const RecordedPayload& payload) {
    bytes_ = payload.data;
    if (payload.type == nvtx::kRaw) {
      add("payload", hex(bytes_));
    } else if (nvtx::is_string(payload.type)) {
      add("payload", json_string(payload_text(bytes_, nvtx::char_bytes(payload.type))));
    } else if (payload.type == nvtx::kRegisteredString) {
      add("payload", copied_text(0));
    } else if (const uint32_t size = nvtx::type_bytes(payload.type); size != 0 && bytes_.size() >= size) {
      add("payload", payload_number(piece(0, size), payload.type).json());
    } else {
      ++to_.unread;
    }
  }

  static std::string hex(std::string_view bytes) {
    std::string text = "\"";
    for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    text += '"';
    return text;
  }

  // What the recorder copied from behind the pointer at this place of the payload.
  std::string copied_text(uint64_t offset) const {
    const auto* const from = reinterpret_cast<const uint8_t*>(payload_->texts.data());
    format::Cursor cursor{from, from + payload_->texts.size()};
    while (cursor.ok && !cursor.at_end()) {
      const uint64_t at = cursor.varint();
      const std::string_view text = cursor.text();
      if (cursor.ok && at == offset) return json_string(text);
    }
    return {};
  }

  std::string enum_json(const DefinedSchema& schema, uint64_t at) const {
    const uint64_t size = schema.def.bytes == 0 || schema.def.bytes > 8 ? 4 : schema.def.bytes;
    if (!have(at, size)) return {};
    uint64_t value = 0;
    std::memcpy(&value, bytes_.data() + at, size);
    const uint64_t mask = size == 8 ? UINT64_MAX : (uint64_t{1} << 8 * size) - 1;
    std::string flags;
    uint64_t left = value;
    for (const format::NvtxSchemaEntry& entry : schema.entries) {
      if ((entry.detail & mask) == value && entry.flags == 0) return json_string(entry.name);
      if (entry.flags == 0 || (entry.detail & mask) == 0 || (left & entry.detail) != (entry.detail & mask)) continue;
      flags += flags.empty() ? "" : "|";
      flags += entry.name;
      left &= ~entry.detail;
    }
    if (!flags.empty() && left == 0) return json_string(flags);
    return fmt::format("{}", value);
  }

  // The entries of a schema whose first byte is at `base`. Returns the byte behind the last one read; nullopt: not known.
  // `selected`: of a union, the member that counts.
  std::optional<uint64_t> entries(const DefinedSchema& schema, uint64_t base, const std::string& prefix, int depth,
                                  std::optional<uint64_t> selected) {
    if (depth > kMaxPayloadDepth) {
      ++to_.unread;
      return std::nullopt;
    }
    const bool is_union = is_payload_union(schema);
    std::vector<std::optional<uint64_t>> integers(schema.entries.size());
    std::optional<uint64_t> at = base;
    for (size_t i = 0; i < schema.entries.size() && to_.values.size() < kMaxValues; ++i) {
      const format::NvtxSchemaEntry& entry = schema.entries[i];
      const PayloadShape one = shapes_.of(entry, depth);
      const uint64_t align = packed_align(schema, one.align);
      if (entry.offset != 0) {
        if (entry.offset > UINT32_MAX) {
          ++to_.unread;
          continue;
        }
        at = base + entry.offset;
      } else if (is_union) {
        at = base;
      } else if (at) {
        at = base + (*at - base + align - 1) / align * align;
      }
      if (is_union && selected && *selected != i) continue;
      if (!at) {
        ++to_.unread;
        continue;
      }
      std::string name = prefix + (entry.name.empty() ? fmt::format("[{}]", i) : std::string(entry.name));
      at = value(entry, *at, one.size, std::move(name), depth, integers, i);
    }
    return at;
  }

  std::optional<uint64_t> value(const format::NvtxSchemaEntry& entry, uint64_t at, uint64_t one, std::string name,
                                int depth, std::vector<std::optional<uint64_t>>& integers, size_t index) {
    if (++work_ > kMaxWork) {
      ++to_.unread;
      return std::nullopt;
    }
    const bool hidden = (entry.flags & nvtx::kFlagHide) != 0;
    const auto shown = [&](std::string json) {
      if (!hidden) add(std::move(name), std::move(json));
    };
    if (nvtx::is_text_pointer(entry.type, entry.flags, entry.detail)) {
      std::string text = copied_text(at);
      if (text.empty()) text = text_behind(at, entry.type);
      shown(std::move(text));
      return at + 8;
    }
    if (entry.type == nvtx::kRegisteredString) {
      shown(copied_text(at));
      return at + 8;
    }
    const bool relative = (entry.flags & (nvtx::kFlagFromBase | nvtx::kFlagFromHere)) != 0;
    if (relative || (one == 0 && schemas_.find(entry.nested) == nullptr)) {
      ++to_.unread;
      return std::nullopt;
    }
    if ((entry.flags & nvtx::kFlagPointer) != 0) {
      pointed(entry, at, one, std::move(name), depth, integers);
      return at + 8;
    }
    const std::optional<uint64_t> count = elements(entry, at, one, integers);
    if (!count) {  // a single value
      if (const DefinedSchema* const nested = nested_of(entry); nested != nullptr) {
        if (nested->def.type == format::kSchemaEnum) {
          shown(enum_json(*nested, at));
          return at + one;
        }
        std::optional<uint64_t> member;
        if (nested->def.type == format::kSchemaUnion && entry.detail < integers.size()) member = integers[entry.detail];
        const std::optional<uint64_t> end = entries(*nested, at, name + ".", depth + 1, member);
        return one != 0 ? at + one : end;
      }
      if (!have(at, one)) {
        ++to_.unread;
        return std::nullopt;
      }
      const PayloadNumber number = payload_number(piece(at, one), entry.type);
      if (number.natural) integers[index] = number.natural;
      if (number.integer && *number.integer >= 0) integers[index] = static_cast<uint64_t>(*number.integer);
      shown(number.json());
      return at + one;
    }
    if (*count > kMaxElements || (one != 0 && !have(at, *count * one))) {
      ++to_.unread;
      return std::nullopt;
    }
    work_ += *count;
    shown(array_json(entry, at, one, *count, depth));
    const bool ended = (entry.flags & nvtx::kArrayMask) == nvtx::kArrayZeroEnded;
    if (one == 0) return std::nullopt;
    return at + *count * one + (ended ? one : 0);
  }

  const DefinedSchema* nested_of(const format::NvtxSchemaEntry& entry) const {
    return entry.type == 0 ? schemas_.find(entry.nested) : nullptr;
  }

  // How many elements an embedded array or text has; nullopt: it is none.
  std::optional<uint64_t> elements(const format::NvtxSchemaEntry& entry, uint64_t at, uint64_t one,
                                   const std::vector<std::optional<uint64_t>>& integers) const {
    switch (entry.flags & nvtx::kArrayMask) {
      case 0: return nvtx::is_string(entry.type) ? std::optional(entry.detail) : std::nullopt;
      case nvtx::kArrayFixed: return entry.detail;
      case nvtx::kArrayLengthIndex:
        return entry.detail < integers.size() && integers[entry.detail] ? *integers[entry.detail] : UINT64_MAX;
      case nvtx::kArrayZeroEnded: {
        uint64_t count = 0;
        if (one == 0) return UINT64_MAX;
        for (;; ++count) {
          const std::string_view element = piece(at + count * one, one);
          if (element.empty()) return UINT64_MAX;  // no end within the recorded bytes
          if (std::all_of(element.begin(), element.end(), [](char c) { return c == 0; })) return count;
        }
      }
      default: return UINT64_MAX;
    }
  }

  std::string array_json(const format::NvtxSchemaEntry& entry, uint64_t at, uint64_t one, uint64_t count, int depth) {
    if (nvtx::is_string(entry.type))
      return json_string(payload_text(piece(at, count * one), static_cast<uint32_t>(one)));
    if (entry.type == nvtx::kByte) return hex(piece(at, count * one));
    if (is_payload_character(entry.type))
      return json_string(payload_text(piece(at, count * one), static_cast<uint32_t>(one)));
    const DefinedSchema* const nested = nested_of(entry);
    std::string json = "[";
    for (uint64_t i = 0; i < count && work_ <= kMaxWork; ++i) {
      json += i == 0 ? "" : ",";
      if (nested == nullptr) {
        json += payload_number(piece(at + i * one, one), entry.type).json();
      } else if (nested->def.type == format::kSchemaEnum) {
        json += enum_json(*nested, at + i * one);
      } else {
        json += object_json(*nested, at + i * one, depth);
      }
    }
    json += ']';
    return json;
  }

  // One element of an array of nested schemas.
  std::string object_json(const DefinedSchema& schema, uint64_t at, int depth) {
    const size_t before = to_.values.size();
    entries(schema, at, "", depth + 1, std::nullopt);
    std::string json = "{";
    for (size_t i = before; i < to_.values.size(); ++i) {
      json += i == before ? "" : ",";
      json += json_string(to_.values[i].name) + ":" + to_.values[i].json;
    }
    to_.values.resize(before);
    json += '}';
    return json;
  }

  // The payload of the event that holds this address, and where in it.
  std::optional<std::pair<const RecordedPayload*, uint64_t>> place_of(uint64_t address) const {
    for (const RecordedPayload* each : payloads_) {
      if (each->address != 0 && address >= each->address && address - each->address < each->data.size())
        return std::pair(each, address - each->address);
    }
    return std::nullopt;
  }
  std::string text_behind(uint64_t at, uint64_t type) const {
    if (!have(at, 8)) return {};
    uint64_t address = 0;
    std::memcpy(&address, bytes_.data() + at, 8);
    const auto place = place_of(address);
    if (!place) return {};
    return json_string(
        payload_text(std::string_view(place->first->data).substr(place->second), nvtx::char_bytes(type)));
  }
  // A value in another payload of the same event.
  void pointed(const format::NvtxSchemaEntry& entry, uint64_t at, uint64_t one, std::string name, int depth,
               std::vector<std::optional<uint64_t>>& integers) {
    uint64_t address = 0;
    if (have(at, 8)) std::memcpy(&address, bytes_.data() + at, 8);
    const auto place = place_of(address);
    if (!place || depth >= kMaxPayloadDepth) {
      if ((entry.flags & nvtx::kFlagHide) == 0) add(std::move(name), fmt::format("\"0x{:x}\"", address));
      return;
    }
    const std::string_view bytes = bytes_;
    const RecordedPayload* const payload = payload_;
    bytes_ = place->first->data;
    payload_ = place->first;
    format::NvtxSchemaEntry direct = entry;
    direct.flags &= ~nvtx::kFlagPointer;
    value(direct, place->second, one == 8 ? shapes_.of(direct, depth).size : one, std::move(name), depth + 1, integers,
          integers.size() - 1);
    bytes_ = bytes;
    payload_ = payload;
  }

  const PayloadSchemas& schemas_;
  const std::vector<const RecordedPayload*>& payloads_;
  DecodedPayload& to_;
  PayloadShapes shapes_;
  uint64_t work_ = 0;                         // values read: schemas within schemas can ask for more than anyone can do
  const RecordedPayload* payload_ = nullptr;  // that is being read
  std::string_view bytes_;                    // of it
};

std::optional<double> number_of(const std::string& json) {
  double value = 0;
  const auto [end, error] = std::from_chars(json.data(), json.data() + json.size(), value);
  if (error != std::errc() || end != json.data() + json.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

}  // namespace

DecodedPayload decode_payloads(const PayloadSchemas& schemas, const std::vector<const RecordedPayload*>& payloads) {
  DecodedPayload decoded;
  Decoder(schemas, payloads, decoded).run();
  return decoded;
}

std::vector<NamedNumber> decode_numbers(const PayloadSchemas& schemas, format::SchemaId schema, uint64_t type,
                                        const std::string& data) {
  RecordedPayload payload;
  payload.schema = schema;
  payload.type = type;
  payload.data = data;
  std::vector<NamedNumber> numbers;
  for (NamedValue& each : decode_payloads(schemas, {&payload}).values) {
    const std::optional<double> value = number_of(each.json);
    if (value) numbers.push_back({schema == format::SchemaId{} ? std::string() : std::move(each.name), *value});
  }
  return numbers;
}

}  // namespace prof::analyzer
