// How are the labels of library calls written? Each file of a family of functions (library_record.h) hashes the words
// that decide the label and defines its text. The text is made and interned only if the hash is new. It runs in the
// program.
#pragma once

#include "preload/base/decimal.h"
#include "preload/intercept/libraries/library.h"
#include "preload/record/append.h"
#include "preload/record/intern.h"
#include "preload/record/thread_local.h"

#include <cstring>
#include <string_view>

namespace prof::preload {

// "name(key=value, key=value)"
class CallText {
 public:
  explicit CallText(std::string_view name) {
    add(name);
    add("(");
  }
  void value(std::string_view key, std::string_view text) {
    if (!first_) add(", ");
    first_ = false;
    add(key);
    add("=");
    add(text);
  }
  void value(std::string_view key, uint64_t number) { value(key, Decimal(number).text()); }
  void size(std::string_view key, uint64_t word) {
    if (static_cast<int64_t>(word) < 0) return value(key, "?");  // a size that the library refuses
    value(key, word);
  }
  // "8x16x32x32". "?": there are no sizes.
  template <class Size> void sizes(std::string_view key, const Size* sizes, int rank) {
    value(key, rank == 0 ? "?" : std::string_view());
    for (int i = 0; i < rank; ++i) {
      if (i != 0) add("x");
      add(Decimal(static_cast<uint64_t>(sizes[i] < 0 ? 0 : sizes[i])).text());
    }
  }
  std::string_view done() {
    add(")");
    return {text_, used_};
  }

 private:
  void add(std::string_view text) {
    const size_t room = sizeof text_ - used_, bytes = text.size() < room ? text.size() : room;
    std::memcpy(text_ + used_, text.data(), bytes);
    used_ += bytes;
  }
  char text_[768];  // room for five products of four dimensions each
  size_t used_ = 0;
  bool first_ = true;
};

// The name of an enumerator. One without a name is written as its number.
struct Named {
  uint32_t number;
  std::string_view name;
};
template <size_t n> void add_named(CallText& text, std::string_view key, uint64_t word, const Named (&names)[n]) {
  const auto number = static_cast<uint32_t>(word);
  for (const Named& each : names) {
    if (each.number == number) return text.value(key, each.name);
  }
  text.value(key, uint64_t{number});
}

inline constexpr Named kCudaTypes[] = {
    {0, "fp32"},      {1, "fp64"},      {2, "fp16"},     {3, "int8"},          {4, "complex64"}, {5, "complex128"},
    {6, "complex32"}, {8, "uint8"},     {10, "int32"},   {12, "uint32"},       {14, "bf16"},     {16, "int4"},
    {18, "uint4"},    {20, "int16"},    {24, "int64"},   {15, "complex_bf16"}, {28, "fp8_e4m3"}, {29, "fp8_e5m2"},
    {31, "fp6_e2m3"}, {32, "fp6_e3m2"}, {33, "fp4_e2m1"}};
inline constexpr Named kTransposes[] = {{0, "N"}, {1, "T"}, {2, "C"}};
inline uint64_t mix(uint64_t a, uint64_t b) { return Hash::fold(a ^ 0xa0761d6478bd642f, b ^ 0xe7037ed1a0b428db); }

// The factor of the addend. It is known only if it is in host memory.
enum class Beta : uint64_t { Unknown, Zero, Other };
// The value at `at`, which has `parts` floating-point numbers.
template <int bytes> Beta beta_of(const void* at, int parts) {
  if (at == nullptr) return Beta::Unknown;
  for (int i = 0; i < parts; ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, static_cast<const char*>(at) + i * bytes, bytes);
    if (bits << (65 - 8 * bytes) != 0) return Beta::Other;  // without the sign bit
  }
  return Beta::Zero;
}
// The value at `at`, of a cudaDataType_t in which a call scales. Other types are Unknown.
inline Beta beta_of(const void* at, uint32_t type) {
  switch (type) {
    case 0:
    case 10: return beta_of<4>(at, 1);
    case 1: return beta_of<8>(at, 1);
    case 2: return beta_of<2>(at, 1);
    case 4: return beta_of<4>(at, 2);
    case 5: return beta_of<8>(at, 2);
    default: return Beta::Unknown;
  }
}
inline void add_beta(CallText& text, Beta beta) {
  if (beta != Beta::Unknown) text.value("beta", beta == Beta::Zero ? "0" : "other");
}
inline bool is_complex(uint64_t cuda_type) { return (cuda_type >= 4 && cuda_type <= 6) || cuda_type == 15; }

// Entries of [40-bit tag | 24-bit label]. An entry may be overwritten at any time: a miss costs a text and a search in
// the interned tables.
extern std::atomic<uint64_t> g_library_labels[1024];

// Interns the text of a label and remembers it by its key. 0: there is no room.
format::LabelId new_library_label(uint64_t key, std::string_view text);

// Writes an event with its label. `key`: a hash of everything that `fill` writes into a CallText.
template <class Event, class Fill>
void emit_with_label(const LibraryRow& row, uint64_t key, Event& event, Fill&& fill) {
  key = mix(key, reinterpret_cast<uint64_t>(&row) ^ t_local.epoch << 48);
  const uint64_t known = g_library_labels[key & 1023].load(std::memory_order_relaxed);
  if ((known ^ key) >> 24 == 0 && known != 0) [[likely]] {
    event.label = static_cast<format::LabelId>(known & 0xffffff);
    emit(event);
    return;
  }
  CallText text(row.name);
  fill(text);
  const std::string_view whole = text.done();
  event.label = new_library_label(key, whole);
  if (event.label == format::LabelId{}) event.text = whole;
  emit(event);
}

// A library call that returned.
struct Recorded {
  const LibraryRow& row;
  LibraryTimes times;
  uint32_t status;

  // `key`: a hash of everything that `fill` writes into a CallText.
  format::LibraryCall event() const {
    format::LibraryCall event;
    event.end = times.end;
    event.duration = times.end - times.begin;
    event.status = status;
    return event;
  }
  template <class Fill> void as(uint64_t key, Fill&& fill) const {
    format::LibraryCall written = event();
    emit_with_label(row, key, written, fill);
  }
};

}  // namespace prof::preload
