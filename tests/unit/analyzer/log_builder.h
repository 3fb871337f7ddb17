// A log made in memory, block by block, with the recorder's own codec. Used by tests of everything that reads logs.
#pragma once

#include "analyzer/input/log/log_file.h"
#include "analyzer/input/log/log_kinds.h"
#include "preload/format/codec.h"
#include "preload/format/crc.h"
#include "preload/format/loss_counters.h"

#include <cstring>
#include <deque>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace prof::tests {

class LogBuilder {
 public:
  explicit LogBuilder(format::ClockSource clock = format::ClockSource::Monotonic) {
    header.magic = format::kFileMagic;
    header.version = format::kFormatVersion;
    header.header_bytes = format::kHeaderBytes;
    header.block_bytes = format::kBlockBytes;
    header.clock = clock;
    header.ticks_per_second = 1'000'000'000;
    format::AllKinds::for_each([&]<class T>() { kinds += analyzer::compiled_signature(T::kKind) + "\n"; });
    for (const format::CounterInfo& info : format::kCounters) counters += std::string(info.name) + "\n";
    page.magic = format::kFileMagic;
    page.finished = 1;
  }

  // Appends a record to the thread's newest block of that kind, or seals it and starts another.
  template <class T> void add(uint32_t thread, const T& record, format::BlockKind kind = format::BlockKind::Events) {
    Stream& stream = streams_[{thread, kind}];
    if (!stream.open) open(stream, thread, kind);
    format::CodecState state = stream.state;
    uint8_t bytes[2 * format::kMaxRecordBytes];
    const auto size = static_cast<uint32_t>(format::encode(bytes, record, state) - bytes);
    if (size > format::kPayloadBytes - block(stream).header.committed) {
      seal(thread, kind);
      open(stream, thread, kind);
      return add(thread, record, kind);
    }
    format::Block& to = block(stream);
    std::memcpy(to.payload + to.header.committed, bytes, size);
    to.header.committed += size;
    ++stream.records;
    stream.state = state;
  }
  template <class T> void define(const T& record, uint32_t thread = 1) {
    add(thread, record, format::BlockKind::Definitions);
  }

  void seal(uint32_t thread, format::BlockKind kind = format::BlockKind::Events) {
    Stream& stream = streams_[{thread, kind}];
    if (!std::exchange(stream.open, false)) return;
    format::BlockHeader& h = block(stream).header;
    h.flags = format::kBlockSealed;
    h.records = stream.records;
    format::block_crc(block(stream), h.crc);
  }
  void seal_all() {
    for (auto& [key, stream] : streams_) seal(key.first, key.second);
  }

  std::vector<uint8_t> bytes() {
    std::vector<uint8_t> out(format::kBlocksOffset + blocks.size() * format::kBlockBytes);
    header.kind_table_bytes = static_cast<uint32_t>(kinds.size());
    header.counter_names_bytes = static_cast<uint32_t>(counters.size());
    page.blocks_reserved = blocks.size();
    std::memcpy(out.data(), &header, sizeof header);
    std::memcpy(out.data() + sizeof header, kinds.data(), kinds.size());
    std::memcpy(out.data() + sizeof header + kinds.size(), counters.data(), counters.size());
    std::memcpy(out.data() + format::kCounterPageOffset, &page, sizeof page);
    if (!blocks.empty()) {
      std::memcpy(out.data() + format::kBlocksOffset, blocks.data(), blocks.size() * format::kBlockBytes);
    }
    return out;
  }
  std::unique_ptr<analyzer::LogFile> open_log() {
    return std::move(analyzer::LogFile::from_memory(bytes(), "test.plog").log);
  }

  format::FileHeader header{};
  format::CounterPage page{};
  std::string kinds, counters;
  std::vector<format::Block> blocks;

 private:
  struct Stream {
    size_t block = 0;
    bool open = false;
    uint32_t records = 0;
    uint64_t sequence = 0;
    format::CodecState state;
  };
  format::Block& block(const Stream& stream) { return blocks[stream.block]; }
  void open(Stream& stream, uint32_t thread, format::BlockKind kind) {
    blocks.push_back({});
    format::BlockHeader& h = blocks.back().header;
    h.magic = format::kBlockMagic;
    h.kind = kind;
    h.thread = thread;
    h.sequence = stream.sequence++;
    h.base_tick = header.start_tick;
    stream.block = blocks.size() - 1;
    stream.open = true;
    stream.records = 0;
    stream.state = {h.base_tick};
  }
  std::map<std::pair<uint32_t, format::BlockKind>, Stream> streams_;
};

// Fills every field of a record with random values: small, large and 0.
struct RandomFields {
  std::mt19937_64& random;
  std::string& text_storage;
  std::vector<format::CallPair>& pair_storage;
  std::deque<std::vector<uint64_t>>& lists;

  uint64_t number() { return random() % 4 == 0 ? 0 : random() >> (random() % 64); }
  template <class T> void value(const char*, T& x) { x = static_cast<T>(number()); }
  template <class T> void optional(const char*, T& x) { x = static_cast<T>(number()); }
  void optional_node(const char*, uint64_t& x) { x = number(); }
  void signed_value(const char*, int64_t& x) {
    x = static_cast<int64_t>(random() >> (random() % 64)) * (random() % 2 ? 1 : -1);
  }
  void time(const char*, uint64_t& x) { x = number(); }
  void quick_time(const char*, uint64_t& x) { x = number(); }
  void quick_value(const char*, uint64_t& x) { x = number(); }
  void gpu_time(const char*, uint64_t& x) { x = number(); }
  void depth(const char*, uint64_t& x) { x = number(); }
  void correlation(const char*, uint32_t& x) { x = static_cast<uint32_t>(number()); }
  void text(const char*, std::string_view& x) {
    const size_t begin = text_storage.size();
    const size_t size = random() % 40;
    for (size_t i = 0; i < size; ++i) text_storage += static_cast<char>(random());
    x = std::string_view(text_storage.data() + begin, size);
  }
  void optional_text(const char* name, std::string_view& x) { text(name, x); }
  void pairs(const char*, format::CallPairs& x) {
    pair_storage.resize(random() % (format::kMaxCallPairs + 1));
    for (format::CallPair& pair : pair_storage) pair = {number(), static_cast<uint32_t>(number())};
    x = {pair_storage.data(), static_cast<uint32_t>(pair_storage.size())};
  }
  void spans(const char*, format::CallPairs& x) {
    pair_storage.resize(random() % (format::kMaxCallPairs / 2 + 1) * 2);
    x = {pair_storage.data(), static_cast<uint32_t>(pair_storage.size()), static_cast<uint32_t>(random() % 20),
         static_cast<uint32_t>(random() % 4)};
    uint64_t time = number() >> 2;
    for (size_t i = 0; i < pair_storage.size(); i += 2) {
      const auto id = static_cast<uint32_t>(number());
      pair_storage[i] = {time += (random() % 100) << x.unit, id};
      pair_storage[i + 1] = {time + ((random() % 5) << x.unit), id};
    }
  }
  void numbers(const char*, format::Numbers& x) {
    std::vector<uint64_t>& list = lists.emplace_back(random() % 80);
    for (uint64_t& each : list) each = number();
    x = {list.data(), nullptr, static_cast<uint32_t>(list.size())};
  }
  void moments(const char* name, format::CallPairs& x) {
    pairs(name, x);
    x.unit = static_cast<uint32_t>(random() % 20);
    uint64_t units = 0;
    for (format::CallPair& pair : pair_storage) pair.time = (units += random() >> (random() % 32 + 32)) << x.unit;
  }
  void launch_of(const char* name, uint32_t& x, const char*, format::GpuStreamId& stream) {
    correlation(name, x), value(name, stream);
  }
};

template <class T> void add_random(LogBuilder& log, uint32_t thread, std::mt19937_64& random) {
  std::string text;
  text.reserve(1000);
  std::vector<format::CallPair> pairs;
  std::deque<std::vector<uint64_t>> lists;
  T record{};
  T::visit(record, RandomFields{random, text, pairs, lists});
  log.add(thread, record, T::kKind >= 32 ? format::BlockKind::Definitions : format::BlockKind::Events);
}

}  // namespace prof::tests
