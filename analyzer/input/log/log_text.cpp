// See log_text.h.
#include "analyzer/input/log/log_text.h"
#include "analyzer/base/json/json_text.h"

#include "preload/format/codec.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <vector>

namespace prof::analyzer {

using format::BlockHeader;
using format::kBlockBytes;
using format::kBlockHeaderBytes;
using format::kBlocksOffset;

namespace {

class Writer {
 public:
  Writer(const LogFile& log, Sink& sink, const Progress& progress) : log_(log), sink_(sink), progress_(progress) {}

  void write() {
    write_header();
    write_page();
    std::vector<const BlockRef*> refs;
    for (const BlockRef& block : log_.blocks()) refs.push_back(&block);
    std::sort(refs.begin(), refs.end(), [](const BlockRef* a, const BlockRef* b) { return a->offset < b->offset; });
    std::vector<Damage>::const_iterator damage = log_.damage().begin();
    auto ref = refs.begin();
    uint64_t free = 0;
    for (uint64_t offset = kBlocksOffset; offset < log_.log_bytes(); offset += kBlockBytes) {
      const bool known = ref != refs.end() && (*ref)->offset == offset;
      // Bytes of a growing log are read only where a header has promised them.
      if (!known && (log_.changes() || log_.block_is_zero(offset))) {
        ++free;
        continue;
      }
      flush_free(free);
      for (; damage != log_.damage().end() && damage->offset < offset + kBlockBytes; ++damage) comment(*damage);
      if (known) {
        write_block(**ref++);
      } else {
        write_bytes(offset);
      }
      flush_lines(false);
      if (progress_) progress_(static_cast<double>(offset) / static_cast<double>(log_.log_bytes()));
    }
    flush_free(free);
    for (; damage != log_.damage().end(); ++damage) comment(*damage);
    add("end {}\n", log_.log_bytes());
    flush_lines(true);
  }

 private:
  template <class... A> void add(fmt::format_string<A...> format, A&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<A>(args)...);
  }
  void flush_lines(bool all) {
    if (text_.size() < 60000 && !all) return;
    sink_.write(text_);
    text_.clear();
  }
  void flush_free(uint64_t& free) {
    if (free != 0) add("free {}\n", free);
    free = 0;
  }
  void comment(const Damage& damage) {
    add("# damage at offset {}, {} bytes of records lost: {}\n", damage.offset, damage.bytes_lost, damage.what);
  }

  void write_header() {
    const format::FileHeader& h = log_.header();
    text_ += "prof-log-text 1\n";
    add("header version={} header_bytes={} block_bytes={} pid={} clock={} backing={} start_tick={} "
        "start_monotonic_ns={} "
        "start_realtime_ns={} ticks_per_second={}\n",
        h.version, h.header_bytes, h.block_bytes, h.pid, format::as_u64(h.clock), format::as_u64(h.backing),
        h.start_tick, h.start_monotonic_ns, h.start_realtime_ns, h.ticks_per_second);
    for (const KindSignature& kind : log_.kinds().by_number()) {
      if (kind.plan != KindPlan::Absent) add("kind {}\n", kind.line);
    }
    if (log_.still_written()) text_ += "# still being written: this is what was there when it was read\n";
  }

  void write_page() {
    const format::CounterPage& page = log_.counter_page();
    add("page finished={} blocks_reserved={} gpu_pending={}\n", page.finished, page.blocks_reserved, page.gpu_pending);
    const format::RingWords& ring = page.ring;
    if (log_.is_ring() || ring.copied_ns != 0) {
      add("ring bytes={} horizon_tick={} blocks={} records={} copied_ns={}\n", ring.bytes, ring.horizon_tick,
          ring.blocks, ring.records, ring.copied_ns);
    }
    for (size_t i = 0; i < std::size(page.reserved); ++i) {
      if (page.reserved[i] != 0) add("reserved {} {}\n", i, page.reserved[i]);
    }
    for (const LogCounter& counter : log_.counters()) add("counter {} {}\n", counter.name, counter.value);
    for (size_t i = log_.counters().size(); i < format::kMaxCounters; ++i) {
      if (page.counter[i] != 0) add("counter_number {} {}\n", i, page.counter[i]);
    }
  }

  // How far the writer was with sealing the block: it sets the flag, then stores the checksums.
  enum class Seal { Open, Sealing, Sealed, Other };
  static Seal seal_of(const BlockRef& block, const BlockHeader& header) {
    static constexpr uint32_t kNone[4] = {};
    const bool flag = header.flags == format::kBlockSealed;
    if (block.sealed) return flag ? Seal::Sealed : Seal::Other;
    if (std::memcmp(header.crc, kNone, sizeof kNone) != 0) return Seal::Other;
    return flag ? Seal::Sealing : header.flags == 0 ? Seal::Open : Seal::Other;
  }

  // Whether the block can be recreated from its header's fields and its records.
  bool canonical(const BlockRef& block, const BlockHeader& header) const {
    return seal_of(block, header) != Seal::Other && block.readable == header.committed &&
           block.offset + kBlockBytes <= log_.log_bytes();
  }

  void write_block(const BlockRef& block) {
    BlockHeader header;
    std::memcpy(&header, log_.bytes_at(block.offset), sizeof header);
    if (log_.changes()) {  // as it was when it was checked; bytes after that may be half a record
      header.committed = block.committed;
      header.flags = block.sealed ? format::kBlockSealed : 0;
      std::memset(header.crc, 0, sizeof header.crc);
    }
    const size_t begin = text_.size();
    add("block {} thread={} sequence={} base_tick={} in_call_api={} in_call_tick={} records={}{}\n",
        block.kind == format::BlockKind::Events ? "events" : "definitions", header.thread, header.sequence,
        header.base_tick, header.in_call_api, header.in_call_tick, header.records,
        block.sealed                              ? " sealed"
        : seal_of(block, header) == Seal::Sealing ? " sealing"
                                                  : "");
    const bool whole = write_records(block) && canonical(block, header);
    if (!whole) {  // the records for the reader, the bytes for undump
      std::string commented;
      for (size_t at = begin; at < text_.size();) {
        const size_t end = text_.find('\n', at) + 1;
        commented.append("# ").append(text_, at, end - at);
        at = end;
      }
      text_.replace(begin, std::string::npos, commented);
      write_bytes(block.offset);
    } else if (!log_.changes()) {
      write_tail(block);
    }
  }

  // Bytes after the last record: zero, unless the program was killed while it packed a record.
  void write_tail(const BlockRef& block) {
    const uint8_t* const tail = log_.payload(block) + block.committed;
    const uint8_t* end = log_.payload(block) + format::kPayloadBytes;
    while (end != tail && end[-1] == 0) --end;
    if (end == tail) return;
    text_ += "tail ";
    append_hex(tail, static_cast<size_t>(end - tail));
    text_ += '\n';
  }

  void write_bytes(uint64_t offset) {
    const uint64_t end = std::min(offset + kBlockBytes, log_.log_bytes());
    for (; offset < end; offset += 64) {
      text_ += "bytes ";
      append_hex(log_.bytes_at(offset), static_cast<size_t>(std::min<uint64_t>(64, end - offset)));
      text_ += '\n';
    }
  }

  void append_hex(const uint8_t* bytes, size_t size) {
    static constexpr char kDigits[] = "0123456789abcdef";
    for (size_t i = 0; i < size; ++i) {
      text_ += kDigits[bytes[i] >> 4];
      text_ += kDigits[bytes[i] & 15];
    }
  }

  // True: every byte belongs to a record.
  bool write_records(const BlockRef& block) {
    const uint8_t* const payload = log_.payload(block);
    format::Cursor cursor{payload, payload + block.readable};
    format::CodecState state{block.base_tick};
    format::CallPair scratch[format::kMaxCallPairs];
    FieldValue values[kMaxFields];
    while (!cursor.at_end()) {
      const uint8_t* const at = cursor.at;
      const uint64_t tag = cursor.varint();
      const KindSignature* const kind =
          tag >> 3 <= kMaxKind ? log_.kinds().find(static_cast<uint32_t>(tag >> 3)) : nullptr;
      if (kind == nullptr ||
          !decode_by_signature(*kind, cursor, state, static_cast<uint32_t>(tag & 7), values, scratch)) {
        add("no record at offset {}: the rest of the block cannot be read\n",
            block.offset + kBlockHeaderBytes + (at - payload));
        return false;
      }
      write_record(*kind, values);
    }
    return true;
  }

  void write_record(const KindSignature& kind, const FieldValue* values) {
    text_ += kind.name;
    for (size_t i = 0; i < kind.fields.size(); ++i) {
      if (!values[i].present) continue;
      text_ += ' ';
      text_ += kind.fields[i].name;
      text_ += '=';
      switch (kind.fields[i].encoding) {
        case 'x': append_quoted(text_, values[i].text); break;
        case 's': add_number(static_cast<int64_t>(values[i].number)); break;
        case 'p':
        case 'q':
        case 'w':
        case 'W':
        case 'U': write_pairs(values[i].pairs); break;
        case 'a': write_numbers(values[i].numbers); break;
        default: add_number(values[i].number); break;
      }
    }
    text_ += '\n';
  }
  template <class T> void add_number(T number) {
    const fmt::format_int digits(number);
    text_.append(digits.data(), digits.size());
  }
  void write_pairs(const format::CallPairs& pairs) {
    text_ += '[';
    if (pairs.unit != 0) add("unit={} ", uint64_t{1} << pairs.unit);
    if (pairs.length != 0) add("length={} ", pairs.length);
    for (uint32_t i = 0; i < pairs.count; ++i) {
      if (i != 0) text_ += ' ';
      add_number(pairs.data[i].time);
      text_ += ':';
      add_number(pairs.data[i].correlation);
    }
    text_ += ']';
  }

  void write_numbers(const format::Numbers& numbers) {
    text_ += '[';
    bool first = true;
    numbers.for_each([&](uint64_t number) {
      if (!first) text_ += ' ';
      first = false;
      add_number(number);
    });
    text_ += ']';
  }

  const LogFile& log_;
  Sink& sink_;
  const Progress& progress_;
  std::string text_;
};

}  // namespace

void append_quoted(std::string& to, std::string_view text) {
  to += '"';
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    const char c = text[0];
    if (c == '"' || c == '\\') {
      to += '\\';
      to += c;
    } else if (c == '\n') {
      to += "\\n";
    } else if (c == '\t') {
      to += "\\t";
    } else if (c == '\r') {
      to += "\\r";
    } else if (length == 0 || static_cast<uint8_t>(c) < 0x20 || c == 0x7f) {
      fmt::format_to(std::back_inserter(to), "\\x{:02x}", static_cast<uint8_t>(c));
    } else {
      to.append(text, 0, length);
      text.remove_prefix(length);
      continue;
    }
    text.remove_prefix(1);
  }
  to += '"';
}

void write_log_text(const LogFile& log, Sink& sink, const Progress& progress) { Writer(log, sink, progress).write(); }

}  // namespace prof::analyzer
