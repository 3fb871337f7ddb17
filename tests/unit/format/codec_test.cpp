// Records survive encoding and decoding, and bytes that are not a record are refused.
#include "preload/format/codec.h"
#include "preload/format/crc.h"

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <random>
#include <string>
#include <vector>

namespace prof::format {
namespace {

// Fills every field with a random value of random size; texts have up to 20 bytes.
struct Fill {
  std::mt19937_64& random;
  std::vector<std::string>& texts;
  std::vector<CallPair>& pairs_store;
  std::deque<std::vector<uint64_t>>& lists;
  uint64_t any() { return random() >> (random() % 64); }
  template <class T> void value(const char*, T& x) { x = static_cast<T>(any()); }
  template <class T> void optional(const char*, T& x) { x = random() % 2 == 0 ? T{} : static_cast<T>(any()); }
  void optional_node(const char* name, uint64_t& x) { optional(name, x); }
  void signed_value(const char*, int64_t& x) { x = static_cast<int64_t>(random()); }
  void time(const char*, uint64_t& x) { x = any(); }
  void quick_time(const char*, uint64_t& x) { x = any(); }
  void quick_value(const char*, uint64_t& x) { x = any(); }
  void gpu_time(const char*, uint64_t& x) { x = any(); }
  void depth(const char*, uint64_t& x) { x = any(); }
  void correlation(const char*, uint32_t& x) { x = static_cast<uint32_t>(any()); }
  void text(const char*, std::string_view& x) {
    texts.push_back(std::string(random() % 20, static_cast<char>(random())));
    x = texts.back();
  }
  void optional_text(const char* name, std::string_view& x) { text(name, x); }
  void pairs(const char*, CallPairs& x) {
    pairs_store.resize(random() % (kMaxCallPairs + 1));
    for (CallPair& pair : pairs_store) pair = {any(), static_cast<uint32_t>(any())};
    x = {pairs_store.data(), static_cast<uint32_t>(pairs_store.size())};
  }
  void spans(const char*, CallPairs& x) {
    pairs_store.resize(random() % (kMaxCallPairs / 2 + 1) * 2);
    x = {pairs_store.data(), static_cast<uint32_t>(pairs_store.size()), static_cast<uint32_t>(random() % 20),
         static_cast<uint32_t>(random() % 4)};
    uint64_t time = any() >> 2;
    uint32_t id = static_cast<uint32_t>(any());
    for (size_t i = 0; i < pairs_store.size(); i += 2) {
      id += random() % 4 != 0 ? 3 : static_cast<uint32_t>(any());
      pairs_store[i] = {time += (i == 0 ? 0 : any() >> 30) << x.unit, id};
      pairs_store[i + 1] = {time + ((random() % 6) << x.unit), id};
    }
    if (!pairs_store.empty()) pairs_store.back().time = pairs_store[pairs_store.size() - 2].time + (any() >> 30);
  }
  void numbers(const char*, Numbers& x) {
    std::vector<uint64_t>& list = lists.emplace_back(random() % 90);
    for (uint64_t& number : list) number = any();
    x = {list.data(), nullptr, static_cast<uint32_t>(list.size())};
  }
  void moments(const char* name, CallPairs& x) {
    pairs(name, x);
    x.unit = static_cast<uint32_t>(random() % 20);
    uint64_t units = 0;
    for (CallPair& pair : pairs_store) pair.time = (units += random() >> (random() % 32 + 32)) << x.unit;
    for (size_t i = 1; i < pairs_store.size(); ++i) {
      if (random() % 4 != 0) pairs_store[i].correlation = pairs_store[i - 1].correlation + 1;
    }
  }
  void launch_of(const char* name, uint32_t& x, const char*, GpuStreamId& stream) {
    correlation(name, x = ++last_correlation);
    if (random() % 2 == 0) x = ++last_correlation;
    if (random() % 2 == 0) stream = static_cast<GpuStreamId>(random() % 3);
  }
  uint32_t last_correlation = 0;
};

// A record as comparable text.
struct Print {
  std::string out;
  template <class T> void value(const char*, const T& x) { out += std::to_string(as_u64(x)) + " "; }
  template <class T> void optional(const char* name, const T& x) { value(name, x); }
  void optional_node(const char* name, uint64_t x) { value(name, x); }
  void signed_value(const char*, int64_t x) { out += std::to_string(x) + " "; }
  void time(const char* name, uint64_t x) { value(name, x); }
  void quick_time(const char* name, uint64_t x) { value(name, x); }
  void quick_value(const char* name, uint64_t x) { value(name, x); }
  void gpu_time(const char* name, uint64_t x) { value(name, x); }
  void depth(const char* name, uint64_t x) { value(name, x); }
  void correlation(const char* name, uint32_t x) { value(name, x); }
  void text(const char*, std::string_view x) { out += std::string(x) + " "; }
  void optional_text(const char* name, std::string_view x) { text(name, x); }
  void pairs(const char*, const CallPairs& x) {
    for (uint32_t i = 0; i < x.count; ++i) {
      out += std::to_string(x.data[i].time) + ":" + std::to_string(x.data[i].correlation) + " ";
    }
  }
  void spans(const char* name, const CallPairs& x) { value(name, x.unit), value(name, x.length), pairs(name, x); }
  void numbers(const char*, const Numbers& x) {
    x.for_each([&](uint64_t number) { out += std::to_string(number) + ","; });
    out += "/" + std::to_string(x.count) + " ";
  }
  void moments(const char* name, const CallPairs& x) { value(name, x.unit), pairs(name, x); }
  void launch_of(const char* name, uint32_t x, const char*, GpuStreamId stream) { value(name, x), value(name, stream); }
};

template <class T> std::string printed(const T& record) {
  Print print;
  T::visit(record, print);
  return print.out;
}

TEST(Codec, EveryKindSurvivesRandomContentsInSequence) {
  std::mt19937_64 random(20261121);
  CodecState writing;
  CodecState reading;
  for (int round = 0; round < 300; ++round) {
    AllKinds::for_each([&]<class T>() {
      std::vector<std::string> texts;
      texts.reserve(8);
      std::vector<CallPair> pairs;
      std::deque<std::vector<uint64_t>> lists;
      T record;
      T::visit(record, Fill{random, texts, pairs, lists});
      uint8_t bytes[kMaxRecordBytes];
      uint8_t* const end = encode(bytes, record, writing);
      ASSERT_LE(end - bytes, static_cast<std::ptrdiff_t>(kMaxRecordBytes)) << T::kName;
      Cursor from{bytes, end};
      const uint64_t tag = from.varint();
      ASSERT_EQ(tag >> 3, T::kKind);
      T copy;
      CallPair scratch[kMaxCallPairs];
      ASSERT_TRUE(decode_fields(from, reading, scratch, tag & 7, copy)) << T::kName;
      EXPECT_TRUE(from.at_end()) << T::kName;
      EXPECT_EQ(printed(copy), printed(record)) << T::kName;
    });
  }
}

TEST(Codec, KindNumbersAndNamesAreUnique) {
  std::vector<uint32_t> kinds;
  std::vector<std::string_view> names;
  AllKinds::for_each([&]<class T>() { kinds.push_back(T::kKind), names.push_back(T::kName); });
  for (size_t i = 0; i < kinds.size(); ++i) {
    for (size_t j = i + 1; j < kinds.size(); ++j) {
      EXPECT_NE(kinds[i], kinds[j]);
      EXPECT_NE(names[i], names[j]);
    }
  }
}

TEST(Codec, ATypicalLaunchTakesEightBytesAndItsKernelSix) {
  CodecState state;
  uint8_t bytes[kMaxRecordBytes];
  KernelLaunch launch{1'000'000, 6'000, ConfigId{3}, StreamId{1}, 100, {}, 0, 0};
  encode(bytes, launch, state);
  launch.end += 6'500;  // 2.5 µs later at 2.6 GHz
  EXPECT_EQ(encode(bytes, launch, state) - bytes, 8);
  KernelRun run{5'000'000, 1'500, 77, GpuStreamId{1}, GpuKernelId{2}, 0, 0};
  encode(bytes, run, state);
  run.start += 2'500;
  run.correlation += 1;
  EXPECT_EQ(encode(bytes, run, state) - bytes, 6);
}

TEST(Codec, ADriverCallTakesOneByteInItsBatch) {
  std::vector<CallPair> calls;
  for (uint32_t i = 0; i < kMaxCallPairs; ++i) calls.push_back({(5'000 + i * 20) << 10, 70 + i});  // every 20 µs
  CodecState state;
  uint8_t bytes[kMaxRecordBytes];
  EXPECT_LE(encode(bytes, DriverCalls{1234, {calls.data(), kMaxCallPairs, 10}}, state) - bytes, kMaxCallPairs + 12);
}

TEST(Codec, StoringWhatFollowsByItselfIsNoRecord) {
  CodecState state;
  uint8_t bytes[kMaxRecordBytes];
  const auto refused = [&](std::initializer_list<uint8_t> fields, uint32_t mask, auto record) {
    CodecState fresh;
    Cursor from{fields.begin(), fields.end()};
    CallPair scratch[kMaxCallPairs];
    return !decode_fields(from, fresh, scratch, mask, record);
  };
  EXPECT_FALSE(refused({0, 0, 4, 0}, 1, KernelRun{}));  // correlation 2 is not the next one
  EXPECT_TRUE(refused({0, 0, 0, 0}, 1, KernelRun{}));   // 1 on stream 0 is
  EXPECT_FALSE(refused({0, 0, 1, 1, 0}, 1, KernelRun{}));
  EXPECT_TRUE(refused({0, 0, 1, 0, 0}, 1, KernelRun{})) << "stream 0 is the last one";
  EXPECT_FALSE(refused({0, 2, 5, 0, 0, 3, 4}, 0, DriverCalls{}));
  EXPECT_TRUE(refused({0, 2, 5, 0, 0, 3, 0}, 0, DriverCalls{})) << "the id that is expected";
  EXPECT_TRUE(refused({0, 2, 33, 0, 0, 2}, 0, DriverCalls{})) << "a unit of 2^33";
  EXPECT_EQ(encode(bytes, KernelRun{}, state) - bytes, 5) << "correlation 0 does not follow 0";
}

TEST(Codec, SpansThatAreStoredInAnotherWayAreNoRecord) {
  const auto refused = [&](std::initializer_list<uint8_t> fields) {
    CodecState fresh;
    Cursor from{fields.begin(), fields.end()};
    CallPair scratch[kMaxCallPairs];
    RuntimeCalls record;
    return !decode_fields(from, fresh, scratch, 0, record);
  };
  EXPECT_FALSE(refused({0, 0, 3, 5}));  // no span
  EXPECT_FALSE(refused({0, 1, 0, 5, 0, 0, 0}));
  EXPECT_TRUE(refused({0, 1, 0, 5, 0, 2, 0})) << "the first one starts at the first start";
  EXPECT_TRUE(refused({0, 1, 0, 5, 0, 1, 0, 0})) << "nothing is different";
  EXPECT_TRUE(refused({0, 1, 0, 5, 0, 1, 1, 5, 0})) << "the usual length";
  EXPECT_FALSE(refused({0, 1, 0, 5, 0, 1, 1, 6, 0}));
  EXPECT_TRUE(refused({0, 1, 0, 5, 0, 1, 1, 4, 0})) << "the last span has the usual length if that is enough";
  EXPECT_FALSE(refused({0, 1, 2, 5, 0, 1, 1, 6, 3}));
  EXPECT_TRUE(refused({0, 1, 2, 5, 0, 1, 1, 6, 4})) << "5 units are enough";
  EXPECT_FALSE(refused({0, 1, 0, 5, 0, 0, 5}));
  EXPECT_TRUE(refused({0, 1, 0, 5, 0, 0, 6})) << "it ends before its start";
  EXPECT_TRUE(refused({0, 65, 0, 5, 0}));
  EXPECT_TRUE(refused({0, 1, 33, 5, 0, 0, 0}));
}

// Other calls between the launches take ids too.
TEST(Codec, IdsThatGrowByOneStepTakeNoByteAndOneThatDoesNotTakesOne) {
  CodecState state;
  uint8_t bytes[kMaxRecordBytes];
  KernelRun run{5'000'000, 1'500, 77, GpuStreamId{1}, GpuKernelId{2}, 0, 0};
  encode(bytes, run, state);
  std::vector<std::ptrdiff_t> sizes;
  for (const uint32_t step : {3, 3, 3, 7, 3, 3, 8, 8, 8}) {
    run.start += 2'500;
    run.correlation += step;
    sizes.push_back(encode(bytes, run, state) - bytes);
  }
  EXPECT_EQ(sizes, (std::vector<std::ptrdiff_t>{7, 7, 6, 7, 6, 6, 7, 7, 6}));
}

TEST(Codec, TheLargestStackFitsTheLimitOfARecord) {
  std::vector<uint64_t> native, python;
  for (uint64_t i = 0; i < kMaxStackFrames; ++i) {
    native.push_back(i % 2 == 0 ? (uint64_t{1} << 57) - 1 - i : i);  // addresses as far from each other as possible
    python.push_back(i % 2 == 0 ? (uint64_t{1} << 32) - 1 : 0);
  }
  StackDef stack;
  stack.id = StackId{UINT32_MAX}, stack.generation = UINT32_MAX, stack.flags = 63;
  stack.native = {native.data(), nullptr, kMaxStackFrames};
  stack.python = {python.data(), nullptr, kMaxStackFrames};
  uint8_t bytes[4 * kMaxRecordBytes];
  CodecState state;
  const uint8_t* const end = encode(bytes, stack, state);
  EXPECT_LE(end - bytes, static_cast<std::ptrdiff_t>(kMaxRecordBytes));
  Cursor from{bytes, end};
  from.varint();
  StackDef copy;
  ASSERT_TRUE(decode_fields(from, state, nullptr, 1, copy));
  std::vector<uint64_t> read;
  copy.native.for_each([&](uint64_t address) { read.push_back(address); });
  EXPECT_EQ(read, native);
}

TEST(Codec, AListThatClaimsMoreNumbersThanBytesIsRefused) {
  const uint8_t bytes[] = {200, 1, 2, 4, 6};  // 200 numbers, 3 bytes
  Cursor from{bytes, bytes + sizeof bytes};
  EXPECT_EQ(read_numbers(from).count, 0u);
  EXPECT_FALSE(from.ok);
  const uint8_t open[] = {2, 2, 0x80};  // the second number has no end
  Cursor other{open, open + sizeof open};
  EXPECT_EQ(read_numbers(other).count, 0u);
  EXPECT_FALSE(other.ok);
}

TEST(Codec, RecordsCutShortAreRefused) {
  CodecState state;
  uint8_t bytes[kMaxRecordBytes];
  const MetaDef meta{"key", "value"};
  uint8_t* const end = encode(bytes, meta, state);
  for (uint8_t* cut = bytes + 1; cut < end; ++cut) {
    Cursor from{bytes, cut};
    const uint64_t tag = from.varint();
    MetaDef copy;
    EXPECT_FALSE(from.ok && decode_fields(from, state, nullptr, tag & 7, copy)) << cut - bytes;
  }
}

TEST(Codec, AVarintHasTheSameBytesWithAndWithoutBranches) {
  std::vector<uint64_t> values = {0, ~uint64_t{0}};
  for (uint32_t bit = 0; bit < 64; ++bit) {
    for (const uint64_t near : {uint64_t{0}, uint64_t{1}}) values.push_back((uint64_t{1} << bit) - near);
  }
  for (const uint64_t value : values) {
    uint8_t plain[kMaxVarintBytes];
    uint8_t* end = plain;
    uint64_t left = value;
    for (; left >= 0x80; left >>= 7) *end++ = static_cast<uint8_t>(left | 0x80);
    *end++ = static_cast<uint8_t>(left);
    const std::string expected(plain, end);
    for (uint8_t* (*put)(uint8_t*, uint64_t) : {put_varint, put_uneven_varint}) {
      uint8_t bytes[kMaxVarintBytes];
      uint8_t* const behind = put(bytes, value);
      EXPECT_EQ(std::string(bytes, behind), expected) << value;
      Cursor from{bytes, end};
      EXPECT_EQ(from.varint(), value);
    }
  }
}

TEST(Codec, AQuickNumberIsReadAsItWasWritten) {
  std::vector<uint64_t> values = {0, ~uint64_t{0}};
  for (uint32_t bit = 0; bit < 64; ++bit) {
    for (const uint64_t near : {uint64_t{0}, uint64_t{1}}) values.push_back((uint64_t{1} << bit) - near);
  }
  for (const uint64_t value : values) {
    uint8_t bytes[kMaxQuickBytes];
    const uint8_t* const end = put_quick(bytes, value);
    const auto size = static_cast<size_t>(end - bytes);
    EXPECT_EQ(size, value >> 14 == 0 ? 2u : value >> 22 == 0 ? 3u : value >> 30 == 0 ? 4u : 9u) << value;
    Cursor from{bytes, end};
    EXPECT_EQ(from.quick(), value);
    EXPECT_TRUE(from.ok && from.at_end());
    for (size_t cut = 0; cut < size; ++cut) {
      Cursor less{bytes, bytes + cut};
      less.quick();
      EXPECT_FALSE(less.ok) << value << " " << cut;
    }
  }
  const uint8_t other_size[9] = {7};
  Cursor from{other_size, other_size + 9};
  from.quick();
  EXPECT_FALSE(from.ok) << "of nine bytes, the first is 3";
}

TEST(Codec, ATagIsTheVarintOfKindAndMask) {
  AllKinds::for_each([]<class T>() {
    for (uint32_t mask = 0; mask < 8; ++mask) {
      uint8_t tag[2], varint[kMaxVarintBytes];
      const std::string bytes(tag, put_tag<T::kKind>(tag, mask));
      EXPECT_EQ(bytes, std::string(varint, put_varint(varint, T::kKind << 3 | mask))) << T::kName;
    }
  });
}

TEST(Codec, AVarintOfMoreThanSixtyFourBitsIsRefused) {
  const uint8_t bytes[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02};
  Cursor from{bytes, bytes + sizeof bytes};
  from.varint();
  EXPECT_FALSE(from.ok);
}

TEST(Crc, TheTableAndTheProcessorAgreeWithABitwiseComputation) {
  Block block;
  std::mt19937_64 random(7);
  auto* const bytes = reinterpret_cast<uint8_t*>(&block);
  for (size_t i = 0; i < sizeof block; ++i) bytes[i] = static_cast<uint8_t>(random());
  uint32_t table[4];
  uint32_t chosen[4];
  detail::block_crc_table(block, table);
  block_crc(block, chosen);
  EXPECT_EQ(std::memcmp(table, chosen, sizeof table), 0);
  uint32_t crc = ~0u;
  for (int i = 0; i < 1024 * 8; ++i) crc = (crc >> 1) ^ (0x82f63b78u & (0u - (crc & 1)));
  std::memset(bytes, 0, sizeof block);
  block_crc(block, chosen);
  for (const uint32_t lane : chosen) EXPECT_EQ(lane, ~crc);
}

TEST(Crc, EveryFlippedBitIsSeenInItsOwnLane) {
  Block block{};
  uint32_t clean[4];
  block_crc(block, clean);
  for (size_t bit = 0; bit < sizeof block * 8; bit += 37) {
    const size_t byte = bit / 8;
    if (byte >= offsetof(BlockHeader, crc) && byte < kBlockHeaderBytes) continue;
    reinterpret_cast<uint8_t*>(&block)[byte] ^= static_cast<uint8_t>(1u << (bit % 8));
    uint32_t damaged[4];
    block_crc(block, damaged);
    for (size_t lane = 0; lane < 4; ++lane) EXPECT_EQ(damaged[lane] != clean[lane], lane == byte / 1024) << bit;
    reinterpret_cast<uint8_t*>(&block)[byte] ^= static_cast<uint8_t>(1u << (bit % 8));
  }
}

}  // namespace
}  // namespace prof::format
