// See undump_log.h. This file converts lines into header, page and blocks; text_record.cpp makes the bytes of a record.
#include "tests/golden/undump_log.h"

#include "analyzer/input/log/log_kinds.h"
#include "preload/format/crc.h"
#include "preload/format/loss_counters.h"
#include "tests/golden/text_line.h"
#include "tests/golden/text_record.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <type_traits>
#include <utility>

namespace prof::tests {

using analyzer::KindSignature;
using format::Block;
using format::kBlockBytes;
using format::kBlocksOffset;
using format::kPayloadBytes;

namespace {

constexpr size_t kLargest = 64u << 20;  // no text of this project makes a larger log, so a larger number is a mistake

class Undump {
 public:
  void line(std::string_view text) {
    TextLine line(text);
    const std::string_view word = line.word();
    if (word.empty() || word[0] == '#') return;
    if (word == "prof-log-text") {
      if (line.rest() != "1") throw Wrong("text form 1 expected");
    } else if (word == "header") {
      read_header(line);
    } else if (word == "kind") {
      if (prepared_) throw Wrong("a kind behind the first block, which was made without it");
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
    if (end_given_) {
      if (end_ > kLargest) throw Wrong("a log of more than 64 MiB");
      file.resize(end_);
    }
    return file;
  }

 private:
  uint64_t& at(uint64_t* array, size_t size, TextLine& line) {
    line.at_end();
    const auto index = line.number<size_t>();
    if (index >= size) throw Wrong("there is no such number");
    return array[index];
  }
  static uint64_t value_after_blank(TextLine& line) {
    line.at_end();
    return line.number<uint64_t>();
  }
  template <class T> static bool assign(std::string_view name, std::string_view wanted, TextLine& line, T& to) {
    if (name != wanted) return false;
    line.expect('=');
    if constexpr (std::is_enum_v<T>) {
      to = static_cast<T>(line.number<std::underlying_type_t<T>>());
    } else {
      to = line.number<T>();
    }
    return true;
  }

  void read_header(TextLine& line) {
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
  void read_page(TextLine& line) {
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

  void read_ring(TextLine& line) {
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

  // Fills in the values that the text omits, before the first line that needs them.
  void prepare() {
    if (std::exchange(prepared_, true)) return;
    const bool by_hand = kind_text_.empty();  // a dump contains all kinds of its log
    if (by_hand) {
      format::AllKinds::for_each([&]<class T>() { kind_text_ += analyzer::compiled_signature(T::kKind) + "\n"; });
    }
    std::map<std::string, uint64_t, std::less<>> given(counters_.begin(), counters_.end());
    bool all_known = by_hand;
    for (const auto& [name, value] : counters_) all_known &= format::find_counter(name) != nullptr;
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
  void body_line(std::string_view word, TextLine& line) {
    if (word == "block") {
      end_block();
      begin_block(line);
    } else if (word == "free") {
      end_block();
      const uint64_t blocks = value_after_blank(line);
      if (blocks > (kLargest - std::min(body_.size(), kLargest)) / kBlockBytes)
        throw Wrong("a log of more than 64 MiB");
      body_.resize(body_.size() + blocks * kBlockBytes);
    } else if (word == "bytes") {
      end_block();
      const std::vector<uint8_t> bytes = line.hex();
      body_.insert(body_.end(), bytes.begin(), bytes.end());
    } else if (word == "tail") {
      const std::vector<uint8_t> bytes = line.hex();
      if (!open_ || bytes.size() > room()) throw Wrong("a tail without room for it");
      std::copy(bytes.begin(), bytes.end(), block_.payload + block_.header.committed);
    } else if (word == "end") {
      end_block();
      end_ = value_after_blank(line);
      end_given_ = true;
    } else {
      const auto kind = by_name_.find(word);
      if (kind == by_name_.end()) throw Wrong("'" + std::string(word) + "' is neither a line nor a kind");
      add_record(*kind->second, line);
    }
  }

  size_t room() const { return kPayloadBytes - block_.header.committed; }

  void begin_block(TextLine& line) {
    block_ = {};
    open_ = true;
    records_given_ = sealed_ = sealing_ = false;
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
      } else if (name == "sealing") {
        sealing_ = true;
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
    if (sealing_) block_.header.flags = format::kBlockSealed;
    if (sealed_) {
      block_.header.flags = format::kBlockSealed;
      if (!records_given_) block_.header.records = count_;
      format::block_crc(block_, block_.header.crc);
    }
    const auto* const bytes = reinterpret_cast<const uint8_t*>(&block_);
    body_.insert(body_.end(), bytes, bytes + kBlockBytes);
  }

  void add_record(const KindSignature& kind, TextLine& line) {
    if (!open_) throw Wrong("a record outside a block");
    const std::vector<uint8_t> encoded = encode_record(kind, line, state_);
    if (encoded.size() > room()) throw Wrong("the block is full: start another one");
    std::memcpy(block_.payload + block_.header.committed, encoded.data(), encoded.size());
    block_.header.committed += static_cast<uint32_t>(encoded.size());
    ++count_;
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
  bool open_ = false, sealed_ = false, sealing_ = false, records_given_ = false, prepared_ = false,
       reserved_given_ = false, end_given_ = false;
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
