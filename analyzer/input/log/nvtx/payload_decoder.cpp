// The values of payloads: see payload_decoder.h.
#include "analyzer/input/log/nvtx/payload_decoder.h"

#include "analyzer/base/json/json_text.h"
#include "preload/format/nvtx_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace prof::analyzer {

namespace nvtx = format::nvtx;

namespace {

constexpr uint64_t kIndirect = nvtx::kFlagPointer | nvtx::kFlagFromBase | nvtx::kFlagFromHere;

}  // namespace

std::optional<uint64_t> PayloadDecoder::natural_of(const PayloadNumber& number) {
  if (number.natural) return number.natural;
  return number.integer && *number.integer >= 0 ? std::optional(static_cast<uint64_t>(*number.integer)) : std::nullopt;
}

void PayloadDecoder::run() {
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

void PayloadDecoder::add(std::string name, std::string json) {
  if (json.empty() || to_.values.size() >= kMaxPayloadValues) {
    ++to_.unread;
  } else {
    to_.values.push_back({std::move(name), std::move(json), entry_, scope_});
  }
}

void PayloadDecoder::predefined(const RecordedPayload& payload) {
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

std::string PayloadDecoder::hex(std::string_view bytes) {
  std::string text = "\"";
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  text += '"';
  return text;
}

std::string PayloadDecoder::copied_text(uint64_t offset) const {
  const std::optional<std::string_view> text = PayloadPlaces::copied(*payload_, offset);
  return text ? json_string(*text) : std::string();
}

std::string PayloadDecoder::enum_json(const DefinedSchema& schema, uint64_t at) const {
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

std::optional<uint64_t> PayloadDecoder::entries(const DefinedSchema& schema, uint64_t base, const std::string& prefix,
                                                int depth, std::optional<uint64_t> selected) {
  if (depth > kMaxPayloadDepth) {
    ++to_.unread;
    return std::nullopt;
  }
  const bool is_union = is_payload_union(schema);
  if (schema.def.type == format::kSchemaUnionInside) {
    selected = selected_inside(schema, base);
    if (!selected) {
      ++to_.unread;
      return std::nullopt;
    }
  }
  std::vector<Integers> integers(schema.entries.size());
  std::optional<uint64_t> at = base;
  for (size_t i = 0; i < schema.entries.size() && to_.values.size() < kMaxPayloadValues; ++i) {
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
    const uint64_t scope_around = scope_;
    const format::NvtxSchemaEntry* const entry_around = entry_;
    if (entry.scope != 0) scope_ = entry.scope;
    entry_ = &entry;
    at = value(entry, *at, one.size, std::move(name), depth, integers, i);
    scope_ = scope_around;
    entry_ = entry_around;
  }
  return at;
}

std::optional<uint64_t> PayloadDecoder::selected_inside(const DefinedSchema& schema, uint64_t base) const {
  for (const format::NvtxSchemaEntry& entry : schema.entries) {
    if (entry.type != nvtx::kUnionSelector) continue;
    if (entry.offset > UINT32_MAX || !have(base + entry.offset, 1)) return std::nullopt;
    const uint64_t member = static_cast<unsigned char>(bytes_[base + entry.offset]);
    const bool known = member < schema.entries.size() && schema.entries[member].type != nvtx::kUnionSelector;
    return known ? std::optional(member) : std::nullopt;
  }
  return std::nullopt;
}

std::optional<uint64_t> PayloadDecoder::value(const format::NvtxSchemaEntry& entry, uint64_t at, uint64_t one,
                                              std::string name, int depth, std::vector<Integers>& integers,
                                              size_t index) {
  if (++work_ > kMaxPayloadWork) {
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
    uint64_t handle = 0;
    if (have(at, 8)) std::memcpy(&handle, bytes_.data() + at, 8);
    if (handle != 0 || !have(at, 8)) shown(copied_text(at));  // a null handle is no text
    return at + 8;
  }
  if (one == 0 && schemas_.find(entry.nested) == nullptr) {
    ++to_.unread;
    return std::nullopt;
  }
  if ((entry.flags & kIndirect) != 0) {
    elsewhere(entry, at, std::move(name), depth, integers, index);
    return at + 8;
  }
  // Consecutive texts of one length, up to an empty one.
  if (nvtx::is_string(entry.type) && (entry.flags & nvtx::kArrayMask) == nvtx::kArrayZeroEnded && entry.detail != 0)
    one = entry.detail <= bytes_.size() ? one * entry.detail : 0;
  const std::optional<Integers> dimensions = elements(entry, at, one, integers);
  if (!dimensions) {  // a single value
    if (const DefinedSchema* const nested = nested_of(entry); nested != nullptr) {
      if (nested->def.type == format::kSchemaEnum) {
        shown(enum_json(*nested, at));
        return at + one;
      }
      std::optional<uint64_t> member;
      if (nested->def.type == format::kSchemaUnion && entry.detail < integers.size() && !integers[entry.detail].empty())
        member = integers[entry.detail][0];
      const std::optional<uint64_t> end = entries(*nested, at, name + ".", depth + 1, member);
      return one != 0 ? at + one : end;
    }
    if (!have(at, one)) {
      ++to_.unread;
      return std::nullopt;
    }
    const PayloadNumber number = payload_number(piece(at, one), entry.type);
    if (const auto natural = natural_of(number); natural) integers[index] = {*natural};
    shown(number.json());
    return at + one;
  }
  const uint64_t count = product(*dimensions);
  if (count > kMaxPayloadElements || (one != 0 && !have(at, count * one))) {
    ++to_.unread;
    return std::nullopt;
  }
  work_ += count;
  if (entry.type != 0 && one <= 8) {
    for (uint64_t i = 0; i < std::min(count, kMaxPayloadDimensions); ++i) {
      const auto natural = natural_of(payload_number(piece(at + i * one, one), entry.type));
      if (natural) integers[index].push_back(*natural);
    }
  }
  shown(array_json(entry, at, one, *dimensions, depth));
  const bool ended = (entry.flags & nvtx::kArrayMask) == nvtx::kArrayZeroEnded;
  if (one == 0) return std::nullopt;
  return at + count * one + (ended ? one : 0);
}

std::string PayloadDecoder::text_behind(uint64_t at, uint64_t type) const {
  if (!have(at, 8)) return {};
  uint64_t address = 0;
  std::memcpy(&address, bytes_.data() + at, 8);
  const auto place = places_.at(address);
  if (!place) return {};
  return json_string(
      payload_text(std::string_view(place->payload->data).substr(place->offset), nvtx::char_bytes(type)));
}

void PayloadDecoder::elsewhere(const format::NvtxSchemaEntry& entry, uint64_t at, std::string name, int depth,
                               std::vector<Integers>& integers, size_t index) {
  uint64_t word = 0;
  if (have(at, 8)) std::memcpy(&word, bytes_.data() + at, 8);
  format::NvtxSchemaEntry direct = entry;
  direct.flags &= ~kIndirect;
  if (nvtx::is_text_pointer(direct.type, direct.flags, direct.detail)) direct.flags |= nvtx::kArrayZeroEnded;
  const std::string_view bytes = bytes_;
  const RecordedPayload* const payload = payload_;
  std::optional<uint64_t> offset;
  if ((entry.flags & nvtx::kFlagPointer) == 0) {
    if (have(at, 8)) offset = (entry.flags & nvtx::kFlagFromBase) != 0 ? word : at + 8 + word;
  } else if (const auto copied = PayloadPlaces::copied(*payload_, at); copied) {
    bytes_ = *copied;
    offset = 0;
  } else if (const auto place = places_.at(word); place) {
    bytes_ = place->payload->data;
    payload_ = place->payload;
    offset = place->offset;
  }
  if (offset && depth < kMaxPayloadDepth) {
    value(direct, *offset, shapes_.of(direct, depth).size, std::move(name), depth + 1, integers, index);
  } else if ((entry.flags & nvtx::kFlagPointer) == 0) {
    ++to_.unread;
  } else if ((entry.flags & nvtx::kFlagHide) == 0) {
    add(std::move(name), fmt::format("\"0x{:x}\"", word));
  }
  bytes_ = bytes;
  payload_ = payload;
}

}  // namespace prof::analyzer
