// Offline. Which kinds of records does a log have, and how are their fields stored? Read from the text in the log's own
// header, so that logs of other versions of the recorder can be read. A record with the same signature is decoded at
// full speed, with another signature field by field by name; an unknown kind is skipped. Used by log_file and
// log_decode.
#pragma once

#include "preload/format/codec.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace prof::analyzer {

struct FieldSignature {
  std::string_view name;
  char encoding = 0;  // a letter of preload/format/codec.h
  bool optional = false;
  bool joined = false;  // '&': stored where the previous field is

  bool is_list() const { return std::string_view("pqwWU").find(encoding) != std::string_view::npos; }
  bool is_run_id() const { return encoding == 'k' || encoding == 'K'; }
  bool is_run_stream() const { return encoding == 'r' || encoding == 'R'; }
};

// How the records of one kind number of a log are read.
enum class KindPlan : uint8_t {
  Absent,   // the log's table has no such kind: a record of it is damage
  Same,     // exactly as this prof was built: decoded by compiled code
  ByName,   // known name, other fields or number: decoded field by field
  Unknown,  // a name that this prof does not know: skipped
};

struct KindSignature {
  uint32_t kind = 0;
  std::string_view name;
  std::string_view line;  // as in the header, without the line end
  KindPlan plan = KindPlan::Absent;
  std::vector<FieldSignature> fields;
};

inline constexpr uint32_t kMaxKind = 1023;  // larger numbers in a header are damage
inline constexpr size_t kMaxFields = 64;

// One line of `prof`'s own kind table, as put_signature() writes it, without the line end.
std::string compiled_signature(uint32_t kind);
// The kind number that this prof uses for a name; 0: no such kind.
uint32_t compiled_kind(std::string_view name);

class KindTable {
 public:
  // `text` must outlive the table. False: a line is not a signature; `bad_at` is its offset in `text`.
  bool parse(std::string_view text, size_t& bad_at);

  const KindSignature* find(uint32_t kind) const {
    return kind < by_kind_.size() && by_kind_[kind].plan != KindPlan::Absent ? &by_kind_[kind] : nullptr;
  }
  KindPlan plan(uint64_t kind) const { return kind < by_kind_.size() ? by_kind_[kind].plan : KindPlan::Absent; }
  const std::vector<KindSignature>& by_number() const { return by_kind_; }

 private:
  std::vector<KindSignature> by_kind_;  // index: kind number
};

// The value of one field of a record decoded by its signature alone.
struct FieldValue {
  uint64_t number = 0;
  std::string_view text;
  format::CallPairs pairs;
  format::Numbers numbers;
  bool present = true;  // false: an optional field that takes no byte and is 0 or empty
};

// Decodes the fields of one record by its signature. `values` must have room for kMaxFields, `scratch` for
// kMaxCallPairs. False: the bytes are no such record.
bool decode_by_signature(const KindSignature& kind, format::Cursor& from, format::CodecState& state, uint32_t mask,
                         FieldValue* values, format::CallPair* scratch);

// Sets the fields of a compiled record from the values with the same names; the others keep their defaults.
struct AssignByName {
  const KindSignature& kind;
  const FieldValue* values;

  const FieldValue* find(const char* name) const {
    for (size_t i = 0; i < kind.fields.size(); ++i) {
      if (kind.fields[i].name == name) return &values[i];
    }
    return nullptr;
  }
  template <class T> void value(const char* name, T& x) const {
    if (const FieldValue* v = find(name)) x = static_cast<T>(v->number);
  }
  template <class T> void optional(const char* name, T& x) const { value(name, x); }
  template <class T> void optional_node(const char* name, T& x) const { value(name, x); }
  void signed_value(const char* name, int64_t& x) const { value(name, x); }
  void time(const char* name, uint64_t& x) const { value(name, x); }
  void quick_time(const char* name, uint64_t& x) const { value(name, x); }
  void quick_value(const char* name, uint64_t& x) const { value(name, x); }
  void gpu_time(const char* name, uint64_t& x) const { value(name, x); }
  void correlation(const char* name, uint32_t& x) const { value(name, x); }
  void depth(const char* name, uint64_t& x) const { value(name, x); }
  void text(const char* name, std::string_view& x) const {
    if (const FieldValue* v = find(name)) x = v->text;
  }
  void optional_text(const char* name, std::string_view& x) const { text(name, x); }
  void pairs(const char* name, format::CallPairs& x) const {
    if (const FieldValue* v = find(name)) x = v->pairs;
  }
  void numbers(const char* name, format::Numbers& x) const {
    if (const FieldValue* v = find(name)) x = v->numbers;
  }
  void moments(const char* name, format::CallPairs& x) const { pairs(name, x); }
  void spans(const char* name, format::CallPairs& x) const { pairs(name, x); }
  void launch_of(const char* name, uint32_t& x, const char* stream_name, format::GpuStreamId& stream) const {
    value(name, x);
    value(stream_name, stream);
  }
};

}  // namespace prof::analyzer
