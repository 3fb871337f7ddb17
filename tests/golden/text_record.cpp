// See text_record.h.
#include "tests/golden/text_record.h"

#include <bit>
#include <string>
#include <string_view>

namespace prof::tests {

using analyzer::FieldSignature;
using analyzer::KindSignature;

namespace {

struct Value {
  uint64_t number = 0;
  std::string text;
  std::vector<format::CallPair> pairs;
  std::vector<uint64_t> numbers;
  uint32_t unit = 0, length = 0;
  bool present = false;
};

uint32_t read_unit(TextLine& line) {
  for (const char c : std::string_view("nit=")) line.expect(c);
  const auto unit = line.number<uint64_t>();
  line.take(' ');
  if (!std::has_single_bit(unit) || unit > uint64_t{1} << format::kMaxMomentUnit)
    throw Wrong("a unit is a power of two");
  return static_cast<uint32_t>(std::countr_zero(unit));
}

uint32_t read_length(TextLine& line) {
  for (const char c : std::string_view("ength=")) line.expect(c);
  const auto length = line.number<uint32_t>();
  line.take(' ');
  return length;
}

// Whether a U can hold these spans: pairs in order, each with one id, at multiples of the unit since the first start.
bool are_spans(const Value& value) {
  const uint64_t below = (uint64_t{1} << value.unit) - 1;
  const size_t count = value.pairs.size();
  if (count % 2 != 0) return false;
  for (size_t i = 0; i < count; i += 2) {
    const format::CallPair &start = value.pairs[i], &end = value.pairs[i + 1];
    if (start.correlation != end.correlation || end.time < start.time || end.time > format::kMaxMoment) return false;
    if (i != 0 && start.time < value.pairs[i - 2].time) return false;
    const uint64_t since = start.time - value.pairs[0].time;
    if ((since & below) != 0 || (i + 2 < count && ((end.time - start.time) & below) != 0)) return false;
  }
  return true;
}

Value read_value(const FieldSignature& field, TextLine& line) {
  Value value;
  value.present = true;
  line.expect('=');
  if (field.encoding == 'x') {
    value.text = line.quoted();
  } else if (field.encoding == 's') {
    value.number = static_cast<uint64_t>(line.number<int64_t>());
  } else if (field.encoding == 'a') {
    line.expect('[');
    while (!line.take(']')) {
      value.numbers.push_back(line.number<uint64_t>());
      line.take(' ');
    }
  } else if (field.is_list()) {
    line.expect('[');
    const bool has_unit = field.encoding == 'w' || field.encoding == 'W' || field.encoding == 'U';
    if (has_unit && line.take('u')) value.unit = read_unit(line);
    if (field.encoding == 'U' && line.take('l')) value.length = read_length(line);
    while (!line.take(']')) {
      format::CallPair pair;
      pair.time = line.number<uint64_t>();
      line.expect(':');
      pair.correlation = line.number<uint32_t>();
      value.pairs.push_back(pair);
      line.take(' ');
    }
    if (field.encoding == 'U' && !are_spans(value)) throw Wrong("these are no spans of calls in order");
  } else {
    value.number = line.number<uint64_t>();
  }
  return value;
}

// Whether an optional field takes bytes. The value of an omitted k depends on the records before it.
bool is_stored(const KindSignature& kind, const std::vector<Value>& values, size_t field,
               const format::CodecState& state) {
  if (!kind.fields[field].is_run_id()) return values[field].present;
  const auto id = static_cast<uint32_t>(values[field].number);
  const auto stream = static_cast<uint32_t>(values[field + 1].number);
  return kind.fields[field].encoding == 'k' ? !state.follows(id, stream) : !state.expects(id, stream);
}

void encode_pairs(char encoding, const Value& value, format::detail::EncodeVisitor& out) {
  const format::CallPairs pairs{value.pairs.data(), static_cast<uint32_t>(value.pairs.size()), value.unit,
                                value.length};
  if (pairs.count > format::kMaxCallPairs) throw Wrong("more pairs than a record may have");
  switch (encoding) {
    case 'p': out.pairs("", pairs); break;
    case 'q': out.gpu_pairs("", pairs); break;
    case 'w': out.older_moments("", pairs); break;
    case 'W': out.moments("", pairs); break;
    default: out.spans("", pairs); break;
  }
}

uint8_t* encode(const KindSignature& kind, const std::vector<Value>& values, format::CodecState& state, uint8_t* to) {
  uint32_t mask = 0;
  uint32_t bit = 1;
  for (size_t i = 0; i < values.size(); ++i) {
    if (!kind.fields[i].optional) continue;
    if (is_stored(kind, values, i, state)) mask |= bit;
    bit <<= 1;
  }
  format::detail::EncodeVisitor out{format::put_varint(to, static_cast<uint64_t>(kind.kind) << 3 | mask), state};
  for (size_t i = 0; i < values.size(); ++i) {
    const Value& value = values[i];
    if (kind.fields[i].optional && !kind.fields[i].is_run_id() && !value.present) continue;
    switch (kind.fields[i].encoding) {
      case 'v': out.value("", value.number); break;
      case 's': out.signed_value("", static_cast<int64_t>(value.number)); break;
      case 't': out.time("", value.number); break;
      case 'T': out.quick_time("", value.number); break;
      case 'V': out.quick_value("", value.number); break;
      case 'g': out.gpu_time("", value.number); break;
      case 'c': out.correlation("", static_cast<uint32_t>(value.number)); break;
      case 'n':
        if (value.number == 0) throw Wrong("a graph node that is 0 is left out");
        out.optional_node("", value.number);
        break;
      case 'd': out.depth("", value.number); break;
      case 'x': out.text("", value.text); break;
      case 'a': out.numbers("", {value.numbers.data(), nullptr, static_cast<uint32_t>(value.numbers.size())}); break;
      case 'k':
        out.older_launch_of("", static_cast<uint32_t>(value.number), "",
                            static_cast<format::GpuStreamId>(values[i + 1].number));
        break;
      case 'K':
        out.launch_of("", static_cast<uint32_t>(value.number), "",
                      static_cast<format::GpuStreamId>(values[i + 1].number));
        break;
      case 'r':
      case 'R': break;  // with the id before it
      default: encode_pairs(kind.fields[i].encoding, value, out);
    }
  }
  return out.to;
}

}  // namespace

std::vector<uint8_t> encode_record(const KindSignature& kind, TextLine& line, format::CodecState& state) {
  std::vector<Value> values(kind.fields.size());
  size_t bytes = 16;
  while (!line.at_end()) {
    const std::string_view name = line.word();
    size_t i = 0;
    while (i < kind.fields.size() && kind.fields[i].name != name) ++i;
    if (i == kind.fields.size()) throw Wrong(std::string(kind.name) + " has no field '" + std::string(name) + "'");
    values[i] = read_value(kind.fields[i], line);
    bytes += 20 + values[i].text.size() + values[i].pairs.size() * 20 + values[i].numbers.size() * 10;
  }
  std::vector<uint8_t> encoded(bytes + kind.fields.size() * 20);
  const uint8_t* const end = encode(kind, values, state, encoded.data());
  encoded.resize(static_cast<size_t>(end - encoded.data()));
  return encoded;
}

}  // namespace prof::tests
