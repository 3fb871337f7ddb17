// See log_kinds.h: the kind table of a log's header, and records decoded by it.
#include "analyzer/input/log/log_kinds.h"

#include <charconv>

namespace prof::analyzer {

using format::Cursor;

std::string compiled_signature(uint32_t kind) {
  std::string line;
  format::AllKinds::for_each([&]<class T>() {
    if (T::kKind != kind) return;
    char text[1024];
    const char* const end = format::put_signature<T>(text, text + sizeof text);
    line.assign(text, static_cast<size_t>(end - text) - 1);
  });
  return line;
}

uint32_t compiled_kind(std::string_view name) {
  uint32_t kind = 0;
  format::AllKinds::for_each([&]<class T>() {
    if (T::kName == name) kind = T::kKind;
  });
  return kind;
}

namespace {

std::string_view next_word(std::string_view& text) {
  const size_t space = text.find(' ');
  const std::string_view word = text.substr(0, space);
  text.remove_prefix(space == std::string_view::npos ? text.size() : space + 1);
  return word;
}

bool parse_field(std::string_view word, FieldSignature& field) {
  const size_t colon = word.find(':');
  if (colon == 0 || colon == std::string_view::npos) return false;
  field.name = word.substr(0, colon);
  std::string_view encoding = word.substr(colon + 1);
  field.optional = !encoding.empty() && encoding.front() == '?';
  field.joined = !encoding.empty() && encoding.front() == '&';
  if (field.optional || field.joined) encoding.remove_prefix(1);
  if (encoding.size() != 1 || std::string_view("vstgcndxpqawkrTVKRWU").find(encoding[0]) == std::string_view::npos)
    return false;
  field.encoding = encoding[0];
  return (!field.is_run_id() || field.optional) && field.is_run_stream() == field.joined;
}

bool parse_line(std::string_view line, KindSignature& kind) {
  kind.line = line;
  const std::string_view number = next_word(line);
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), kind.kind);
  if (error != std::errc() || end != number.data() + number.size() || kind.kind == 0 || kind.kind > kMaxKind)
    return false;
  kind.name = next_word(line);
  if (kind.name.empty()) return false;
  size_t optional = 0;
  size_t lists = 0;
  while (!line.empty()) {
    FieldSignature field;
    if (!parse_field(next_word(line), field)) return false;
    const char before = field.encoding == 'r' ? 'k' : 'K';
    if (field.joined && (kind.fields.empty() || kind.fields.back().encoding != before)) return false;
    optional += field.optional ? 1 : 0;
    lists += field.is_list() ? 1 : 0;
    kind.fields.push_back(field);
  }
  for (size_t i = 0; i < kind.fields.size(); ++i) {
    if (kind.fields[i].is_run_id() && (i + 1 == kind.fields.size() || !kind.fields[i + 1].joined)) return false;
  }
  // Three mask bits; one scratch list.
  return optional <= 3 && lists <= 1 && kind.fields.size() <= kMaxFields;
}

}  // namespace

bool KindTable::parse(std::string_view text, size_t& bad_at) {
  by_kind_.clear();
  const std::string_view whole = text;
  while (!text.empty()) {
    bad_at = static_cast<size_t>(text.data() - whole.data());
    const size_t newline = text.find('\n');
    if (newline == std::string_view::npos) return false;
    KindSignature kind;
    if (!parse_line(text.substr(0, newline), kind)) return false;
    const uint32_t ours = compiled_kind(kind.name);
    if (ours == 0) {
      kind.plan = KindPlan::Unknown;
    } else {
      kind.plan = ours == kind.kind && compiled_signature(ours) == kind.line ? KindPlan::Same : KindPlan::ByName;
    }
    if (by_kind_.size() <= kind.kind) by_kind_.resize(kind.kind + 1);
    if (by_kind_[kind.kind].plan != KindPlan::Absent) return false;  // a duplicate number
    by_kind_[kind.kind] = std::move(kind);
    text.remove_prefix(newline + 1);
  }
  return true;
}

namespace {

void decode_list(char encoding, Cursor& from, format::CodecState& state, FieldValue& value, format::CallPair* scratch) {
  format::detail::DecodeVisitor visitor{from, state, scratch, 0};
  switch (encoding) {
    case 'p': visitor.pairs("", value.pairs); break;
    case 'q': visitor.gpu_pairs("", value.pairs); break;
    case 'w': visitor.older_moments("", value.pairs); break;
    case 'W': visitor.moments("", value.pairs); break;
    default: visitor.spans("", value.pairs); break;
  }
}

}  // namespace

bool decode_by_signature(const KindSignature& kind, Cursor& from, format::CodecState& state, uint32_t mask,
                         FieldValue* values, format::CallPair* scratch) {
  bool present = true;
  uint32_t next_correlation = 0;  // the value that a k represents
  for (size_t i = 0; i < kind.fields.size(); ++i) {
    const FieldSignature& field = kind.fields[i];
    FieldValue& value = values[i] = {};
    if (field.optional) {
      present = (mask & 1) != 0;
      mask >>= 1;
    }
    if ((field.optional || field.joined) && !present) {
      switch (field.encoding) {
        case 'k': value.number = ++state.ids.last; break;
        case 'K': state.ids.take(static_cast<uint32_t>(value.number = state.ids.next())); break;
        case 'r':
        case 'R': value.number = state.gpu_stream; break;
        default: value.present = false; break;
      }
      continue;
    }
    switch (field.encoding) {
      case 'v': value.number = from.varint(); break;
      case 's': value.number = static_cast<uint64_t>(format::unzigzag(from.varint())); break;
      case 't': value.number = state.tick += from.varint(); break;
      case 'T': value.number = state.tick += from.quick(); break;
      case 'V': value.number = from.quick(); break;
      case 'g': value.number = state.gpu_ns += static_cast<uint64_t>(format::unzigzag(from.varint())); break;
      case 'c': value.number = state.ids.last += static_cast<uint32_t>(format::unzigzag(from.varint())); break;
      case 'n': value.number = state.graph_node += static_cast<uint64_t>(format::unzigzag(from.varint())); break;
      case 'd': value.number = state.depth += static_cast<uint64_t>(format::unzigzag(from.varint())); break;
      case 'x': value.text = from.text(); break;
      case 'a': value.numbers = format::read_numbers(from); break;
      case 'k':
        next_correlation = state.ids.last + 1;
        value.number = state.ids.last += static_cast<uint32_t>(format::unzigzag(from.varint()));
        break;
      case 'K': {
        format::GpuStreamId stream{};
        uint32_t id = state.ids.next();
        format::detail::DecodeVisitor{from, state, scratch, 0}.run_id(id, stream);
        state.ids.take(id);
        value.number = id;
        break;
      }
      case 'R': value.number = state.gpu_stream; break;  // read with the K before it
      case 'r':
        value.number = static_cast<uint32_t>(from.varint());
        if (state.ids.last == next_correlation && value.number == state.gpu_stream) from.fail();
        state.gpu_stream = static_cast<uint32_t>(value.number);
        break;
      default: decode_list(field.encoding, from, state, value, scratch); break;
    }
    if (!from.ok) return false;
  }
  return from.ok;
}

}  // namespace prof::analyzer
