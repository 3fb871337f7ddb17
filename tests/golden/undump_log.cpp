// See undump_log.h.
#include "tests/golden/undump_log.h"

#include "analyzer/input/log_kinds.h"
#include "preload/format/counters.h"
#include "preload/format/crc.h"

#include <bit>
#include <charconv>
#include <cstring>
#include <deque>
#include <map>
#include <stdexcept>
#include <utility>

namespace prof::tests {

using analyzer::FieldSignature;
using analyzer::KindSignature;
using format::Block;
using format::kBlockBytes;
using format::kBlocksOffset;
using format::kPayloadBytes;

namespace {

struct Wrong : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// name=value pairs and bare words of one line.
class Line {
 public:
  explicit Line(std::string_view text) : rest_(text) {}

  std::string_view word() {
    skip_blanks();
    size_t end = 0;
    while (end < rest_.size() && rest_[end] != ' ' && rest_[end] != '=') ++end;
    const std::string_view out = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return out;
  }
  bool at_end() {
    skip_blanks();
    return rest_.empty();
  }
  bool take(char c) {
    if (rest_.empty() || rest_[0] != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!take(c)) throw Wrong(std::string("'") + c + "' expected before '" + std::string(rest_) + "'");
  }
  template <class T> T number() {
    T value{};
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc()) throw Wrong("a number expected before '" + std::string(rest_) + "'");
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    return value;
  }
  std::string quoted() {
    expect('"');
    std::string out;
    while (!take('"')) {
      if (rest_.empty()) throw Wrong("a text without its closing quote");
      char c = rest_[0];
      rest_.remove_prefix(1);
      if (c == '\\') c = escape();
      out += c;
    }
    return out;
  }
  std::vector<uint8_t> hex() {
    skip_blanks();
    std::vector<uint8_t> out;
    while (!rest_.empty()) out.push_back(static_cast<uint8_t>(hex_byte()));
    return out;
  }
  std::string_view rest() {
    skip_blanks();
    return std::exchange(rest_, {});
  }

 private:
  void skip_blanks() {
    while (!rest_.empty() && rest_[0] == ' ') rest_.remove_prefix(1);
  }
  char hex_byte() {
    unsigned value = 0;
    if (rest_.size() < 2 || std::from_chars(rest_.data(), rest_.data() + 2, value, 16).ptr != rest_.data() + 2) {
      throw Wrong("two hex digits expected before '" + std::string(rest_) + "'");
    }
    rest_.remove_prefix(2);
    return static_cast<char>(value);
  }
  char escape() {
    const char c = rest_.empty() ? '\0' : rest_[0];
    if (c != '\0') rest_.remove_prefix(1);
    switch (c) {
      case 'n': return '\n';
      case 't': return '\t';
      case 'r': return '\r';
      case '"':
      case '\\': return c;
      case 'x': return hex_byte();
      default: throw Wrong("an escape that does not exist");
    }
  }
  std::string_view rest_;
};

class Undump {
 public:
  void line(std::string_view text) {
    Line line(text);
    const std::string_view word = line.word();
    if (word.empty() || word[0] == '#') return;
    if (word == "prof-log-text") {
      if (line.rest() != "1") throw Wrong("text form 1 expected");
    } else if (word == "header") {
      read_header(line);
    } else if (word == "kind") {
      kind_text_ += std::string(line.rest()) + "\n";
    } else if (word == "page") {
      read_page(line);
    } else if (word == "ring") {
      read_ring(line);
    } else if (word == "reserved") {
      uint64_t& slot = at(page_.reserved, std::size(page_.reserved), line);
      slot = value_after_blank(line);
    } else if (word == "counter") {
      const std::string name(line.word());
      counters_.emplace_back(name, value_after_blank(line));
    } else if (word == "counter_number") {
      uint64_t& slot = at(page_.counter, format::kMaxCounters, line);
      slot = value_after_blank(line);
    } else {
      prepare();
      body_line(word, line);
    }
    if (!line.at_end()) throw Wrong("nothing expected before '" + std::string(line.rest()) + "'");
  }

  std::vector<uint8_t> finish() {
    prepare();
    end_block();
    std::vector<uint8_t> file(kBlocksOffset);
    if (!reserved_given_) page_.blocks_reserved = (body_.size() + kBlockBytes - 1) / kBlockBytes;
    std::string names;
    for (size_t i = 0; i < counters_.size(); ++i) {
      names += counters_[i].first + "\n";
      page_.counter[i] = counters_[i].second;
    }
    header_.magic = page_.magic = format::kFileMagic;
    header_.kind_table_bytes = static_cast<uint32_t>(kind_text_.size());
    header_.counter_names_bytes = static_cast<uint32_t>(names.size());
    const std::string texts = kind_text_ + names;
    if (sizeof header_ + texts.size() > format::kHeaderBytes)
      throw Wrong("the kind table and counter names are too long");
    std::memcpy(file.data(), &header_, sizeof header_);
    std::memcpy(file.data() + sizeof header_, texts.data(), texts.size());
    std::memcpy(file.data() + format::kCounterPageOffset, &page_, sizeof page_);
    file.insert(file.end(), body_.begin(), body_.end());
    if (end_given_) file.resize(end_);
    return file;
  }

 private:
  uint64_t& at(uint64_t* array, size_t size, Line& line) {
    line.at_end();
    const auto index = line.number<size_t>();
    if (index >= size) throw Wrong("there is no such number");
    return array[index];
  }
  static uint64_t value_after_blank(Line& line) {
    line.at_end();
    return line.number<uint64_t>();
  }
  template <class T> static bool assign(std::string_view name, std::string_view wanted, Line& line, T& to) {
    if (name != wanted) return false;
    line.expect('=');
    if constexpr (std::is_enum_v<T>) {
      to = static_cast<T>(line.number<std::underlying_type_t<T>>());
    } else {
      to = line.number<T>();
    }
    return true;
  }

  void read_header(Line& line) {
    while (!line.at_end()) {
      const std::string_view name = line.word();
      format::FileHeader& h = header_;
      if (!(assign(name, "version", line, h.version) || assign(name, "header_bytes", line, h.header_bytes) ||
            assign(name, "block_bytes", line, h.block_bytes) || assign(name, "pid", line, h.pid) ||
            assign(name, "clock", line, h.clock) || assign(name, "backing", line, h.backing) ||
            assign(name, "start_tick", line, h.start_tick) ||
            assign(name, "start_monotonic_ns", line, h.start_monotonic_ns) ||
            assign(name, "start_realtime_ns", line, h.start_realtime_ns) ||
            assign(name, "ticks_per_second", line, h.ticks_per_second))) {
        throw Wrong("no header field '" + std::string(name) + "'");
      }
    }
  }
  void read_page(Line& line) {
    while (!line.at_end()) {
      const std::string_view name = line.word();
      reserved_given_ |= name == "blocks_reserved";
      if (!(assign(name, "finished", line, page_.finished) ||
            assign(name, "blocks_reserved", line, page_.blocks_reserved) ||
            assign(name, "gpu_pending", line, page_.gpu_pending))) {
        throw Wrong("no page field '" + std::string(name) + "'");
      }
    }
  }

  void read_ring(Line& line) {
    while (!line.at_end()) {
      const std::string_view name = line.word();
      format::RingWords& ring = page_.ring;
      if (!(assign(name, "bytes", line, ring.bytes) || assign(name, "horizon_tick", line, ring.horizon_tick) ||
            assign(name, "blocks", line, ring.blocks) || assign(name, "records", line, ring.records) ||
            assign(name, "copied_ns", line, ring.copied_ns))) {
        throw Wrong("no ring field '" + std::string(name) + "'");
      }
    }
  }

  // Fills in what the text left out, before the first line that needs it.
  void prepare() {
    if (std::exchange(prepared_, true)) return;
    const bool by_hand = kind_text_.empty();  // a dump names all there was in its log
    if (by_hand) {
      format::AllKinds::for_each([&]<class T>() { kind_text_ += analyzer::compiled_signature(T::kKind) + "\n"; });
    }
    std::map<std::string, uint64_t, std::less<>> given(counters_.begin(), counters_.end());
    bool all_known = by_hand;
    for (const auto& [name, value] : counters_) all_known &= known_counter(name);
    if (all_known) {  // the others are 0
      counters_.clear();
      for (const format::CounterInfo& info : format::kCounters)
        counters_.emplace_back(info.name, given[std::string(info.name)]);
    }
    size_t bad_at = 0;
    if (!kinds_.parse(kind_text_, bad_at)) throw Wrong("a kind line is no signature");
    for (const KindSignature& kind : kinds_.by_number()) {
      if (kind.plan != analyzer::KindPlan::Absent) by_name_[kind.name] = &kind;
    }
  }
  static bool known_counter(std::string_view name) {
    for (const format::CounterInfo& info : format::kCounters) {
      if (info.name == name) return true;
    }
    return false;
  }

  void body_line(std::string_view word, Line& line) {
    if (word == "block") {
      end_block();
      begin_block(line);
    } else if (word == "free") {
      end_block();
      body_.resize(body_.size() + value_after_blank(line) * kBlockBytes);
    } else if (word == "bytes") {
      end_block();
      const std::vector<uint8_t> bytes = line.hex();
      body_.insert(body_.end(), bytes.begin(), bytes.end());
    } else if (word == "tail") {
      const std::vector<uint8_t> bytes = line.hex();
      if (!open_ || bytes.size() > room()) throw Wrong("a tail without room for it");
      std::memcpy(block_.payload + block_.header.committed, bytes.data(), bytes.size());
    } else if (word == "end") {
      end_block();
      end_ = value_after_blank(line);
      end_given_ = true;
    } else {
      const auto kind = by_name_.find(word);
      if (kind == by_name_.end()) throw Wrong("'" + std::string(word) + "' is neither a line nor a kind");
      read_record(*kind->second, line);
    }
  }

  size_t room() const { return kPayloadBytes - block_.header.committed; }

  void begin_block(Line& line) {
    block_ = {};
    open_ = true;
    records_given_ = sealed_ = false;
    count_ = 0;
    format::BlockHeader& h = block_.header;
    h.magic = format::kBlockMagic;
    const std::string_view kind = line.word();
    if (kind != "events" && kind != "definitions") throw Wrong("a block is of 'events' or of 'definitions'");
    h.kind = kind == "events" ? format::BlockKind::Events : format::BlockKind::Definitions;
    h.base_tick = header_.start_tick;
    bool sequence_given = false;
    while (!line.at_end()) {
      const std::string_view name = line.word();
      sequence_given |= name == "sequence";
      records_given_ |= name == "records";
      if (name == "sealed") {
        sealed_ = true;
      } else if (!(assign(name, "thread", line, h.thread) || assign(name, "sequence", line, h.sequence) ||
                   assign(name, "base_tick", line, h.base_tick) || assign(name, "in_call_api", line, h.in_call_api) ||
                   assign(name, "in_call_tick", line, h.in_call_tick) || assign(name, "records", line, h.records))) {
        throw Wrong("no block field '" + std::string(name) + "'");
      }
    }
    uint64_t& next = next_sequence_[{h.thread, h.kind}];
    if (!sequence_given) h.sequence = next;
    next = h.sequence + 1;
    state_ = {h.base_tick};
  }
  void end_block() {
    if (!std::exchange(open_, false)) return;
    if (sealed_) {
      block_.header.flags = format::kBlockSealed;
      if (!records_given_) block_.header.records = count_;
      format::block_crc(block_, block_.header.crc);
    }
    const auto* const bytes = reinterpret_cast<const uint8_t*>(&block_);
    body_.insert(body_.end(), bytes, bytes + kBlockBytes);
  }

  struct Value {
    uint64_t number = 0;
    std::string text;
    std::vector<format::CallPair> pairs;
    std::vector<uint64_t> numbers;
    uint32_t unit = 0;
    bool present = false;
  };

  Value read_value(const FieldSignature& field, Line& line) {
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
    } else if (field.encoding == 'p' || field.encoding == 'q' || field.encoding == 'w') {
      line.expect('[');
      if (field.encoding == 'w' && line.take('u')) value.unit = read_unit(line);
      while (!line.take(']')) {
        format::CallPair pair;
        pair.time = line.number<uint64_t>();
        line.expect(':');
        pair.correlation = line.number<uint32_t>();
        value.pairs.push_back(pair);
        line.take(' ');
      }
    } else {
      value.number = line.number<uint64_t>();
    }
    return value;
  }

  static uint32_t read_unit(Line& line) {
    for (const char c : std::string_view("nit=")) line.expect(c);
    const auto unit = line.number<uint64_t>();
    line.take(' ');
    if (!std::has_single_bit(unit) || unit > uint64_t{1} << format::kMaxMomentUnit)
      throw Wrong("a unit is a power of two");
    return static_cast<uint32_t>(std::countr_zero(unit));
  }

  // Whether an optional field takes bytes. What a k stands for depends on the records before it.
  bool is_stored(const KindSignature& kind, const std::vector<Value>& values, size_t field) const {
    if (kind.fields[field].encoding != 'k') return values[field].present;
    return !state_.follows(static_cast<uint32_t>(values[field].number),
                           static_cast<uint32_t>(values[field + 1].number));
  }

  void read_record(const KindSignature& kind, Line& line) {
    if (!open_) throw Wrong("a record outside a block");
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
    const uint8_t* const end = encode(kind, values, encoded.data());
    const auto size = static_cast<size_t>(end - encoded.data());
    if (size > room()) throw Wrong("the block is full: start another one");
    std::memcpy(block_.payload + block_.header.committed, encoded.data(), size);
    block_.header.committed += static_cast<uint32_t>(size);
    ++count_;
  }

  uint8_t* encode(const KindSignature& kind, const std::vector<Value>& values, uint8_t* to) {
    uint32_t mask = 0;
    uint32_t bit = 1;
    for (size_t i = 0; i < values.size(); ++i) {
      if (!kind.fields[i].optional) continue;
      if (is_stored(kind, values, i)) mask |= bit;
      bit <<= 1;
    }
    format::detail::EncodeVisitor out{format::put_varint(to, static_cast<uint64_t>(kind.kind) << 3 | mask), state_};
    for (size_t i = 0; i < values.size(); ++i) {
      const Value& value = values[i];
      if (kind.fields[i].optional && kind.fields[i].encoding != 'k' && !value.present) continue;
      switch (kind.fields[i].encoding) {
        case 'v': out.value("", value.number); break;
        case 's': out.signed_value("", static_cast<int64_t>(value.number)); break;
        case 't': out.time("", value.number); break;
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
          out.launch_of("", static_cast<uint32_t>(value.number), "",
                        static_cast<format::GpuStreamId>(values[i + 1].number));
          break;
        case 'r': break;  // with the k before it
        default: encode_pairs(kind.fields[i].encoding, value, out);
      }
    }
    return out.to;
  }

  static void encode_pairs(char encoding, const Value& value, format::detail::EncodeVisitor& out) {
    const format::CallPairs pairs{value.pairs.data(), static_cast<uint32_t>(value.pairs.size()), value.unit};
    if (pairs.count > format::kMaxCallPairs) throw Wrong("more pairs than a record may have");
    switch (encoding) {
      case 'p': out.pairs("", pairs); break;
      case 'q': out.gpu_pairs("", pairs); break;
      default: out.moments("", pairs); break;
    }
  }

  format::FileHeader header_{.magic = 0,
                             .version = format::kFormatVersion,
                             .header_bytes = format::kHeaderBytes,
                             .block_bytes = format::kBlockBytes,
                             .pid = 1,
                             .clock = format::ClockSource::Monotonic,
                             .backing = format::Backing::Mapped,
                             .start_tick = 0,
                             .start_monotonic_ns = 0,
                             .start_realtime_ns = 0,
                             .ticks_per_second = 1'000'000'000,
                             .kind_table_bytes = 0,
                             .counter_names_bytes = 0};
  format::CounterPage page_{};
  std::string kind_text_;
  std::vector<std::pair<std::string, uint64_t>> counters_;
  analyzer::KindTable kinds_;
  std::map<std::string_view, const KindSignature*> by_name_;
  std::map<std::pair<uint32_t, format::BlockKind>, uint64_t> next_sequence_;
  std::vector<uint8_t> body_;
  Block block_{};
  format::CodecState state_;
  uint32_t count_ = 0;
  uint64_t end_ = 0;
  bool open_ = false, sealed_ = false, records_given_ = false, prepared_ = false, reserved_given_ = false,
       end_given_ = false;
};

}  // namespace

std::string undump_log(std::string_view text, std::vector<uint8_t>& log) {
  Undump undump;
  size_t number = 0;
  try {
    while (!text.empty()) {
      ++number;
      const size_t newline = text.find('\n');
      undump.line(text.substr(0, newline));
      text.remove_prefix(newline == std::string_view::npos ? text.size() : newline + 1);
    }
    log = undump.finish();
  } catch (const Wrong& wrong) {
    return "line " + std::to_string(number) + ": " + wrong.what();
  }
  return {};
}

}  // namespace prof::tests
