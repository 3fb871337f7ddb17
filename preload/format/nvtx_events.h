// Which events did the program submit through NVTX? The recorder writes these events (see events.h) and the reader
// reads them.
#pragma once

#include "preload/format/ids.h"

#include <cstdint>
#include <string_view>

namespace prof::format {

// A push of an NVTX range. `payload` holds the 64 bits of the value; its type is NVTX's payloadType. `text` is used if
// interning failed. NvtxStart and NvtxMark have the same fields.
struct NvtxPush {
  static constexpr uint32_t kKind = 6;
  static constexpr std::string_view kName = "nvtx_push";
  uint64_t time = 0;
  LabelId label{};
  uint32_t payload_type = 0;
  uint64_t payload = 0;
  std::string_view text;
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.quick_time("time", s.time);
    v.value("label", s.label);
    v.optional("payload_type", s.payload_type);
    v.optional("payload", s.payload);
    v.optional_text("text", s.text);
  }
};

struct NvtxPop {
  static constexpr uint32_t kKind = 7;
  static constexpr std::string_view kName = "nvtx_pop";
  uint64_t time = 0;
  DomainId domain{};
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.quick_time("time", s.time);
    v.optional("domain", s.domain);
  }
};

struct NvtxStart {
  static constexpr uint32_t kKind = 13;
  static constexpr std::string_view kName = "nvtx_start";
  uint64_t time = 0;
  uint64_t range = 0;  // id that the program got; another thread may end the range
  LabelId label{};
  uint32_t payload_type = 0;
  uint64_t payload = 0;
  std::string_view text;
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.time("time", s.time);
    v.value("range", s.range);
    v.value("label", s.label);
    v.optional("payload_type", s.payload_type);
    v.optional("payload", s.payload);
    v.optional_text("text", s.text);
  }
};

struct NvtxEnd {
  static constexpr uint32_t kKind = 14;
  static constexpr std::string_view kName = "nvtx_end";
  uint64_t time = 0;
  uint64_t range = 0;
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.time("time", s.time);
    v.value("range", s.range);
  }
};

struct NvtxMark {
  static constexpr uint32_t kKind = 15;
  static constexpr std::string_view kName = "nvtx_mark";
  uint64_t time = 0;
  LabelId label{};
  uint32_t payload_type = 0;
  uint64_t payload = 0;
  std::string_view text;
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.time("time", s.time);
    v.value("label", s.label);
    v.optional("payload_type", s.payload_type);
    v.optional("payload", s.payload);
    v.optional_text("text", s.text);
  }
};

// Bytes that the program attached to an NVTX event (an "extended payload"). The record is directly before that event of
// the same thread and has its time; each payload has one record. `texts` holds the data to which the bytes point,
// copied at that time: (varint offset of the pointer, varint length, text) for each.
struct NvtxPayload {
  static constexpr uint32_t kKind = 22;
  static constexpr std::string_view kName = "nvtx_payload";
  uint64_t time = 0;
  SchemaId schema{};   // 0: `type` defines the layout
  uint64_t type = 0;   // NVTX's number: a predefined type, or a schema that was not registered
  uint64_t bytes = 0;  // size of the payload, if the log does not have all of its bytes
  // Address of the payload in the program. Pointers in another payload of the event may refer to it.
  uint64_t address = 0;
  std::string_view data;
  std::string_view texts;
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.time("time", s.time);
    v.value("schema", s.schema);
    v.text("data", s.data);
    v.optional("type", s.type);
    v.optional_text("texts", s.texts);
    v.optional("address", s.address);
    v.value("bytes", s.bytes);
  }
};
// In `texts`: added to an offset that is followed by the id of a string instead of a text.
inline constexpr uint64_t kNvtxTextReference = uint64_t{1} << 32;
inline constexpr uint32_t kNvtxPayloadExtended = 9;  // payload_type of an event with such records before it

// An action on a synchronisation object of the program.
enum class SyncAction : uint32_t {
  Create = 0,
  Destroy = 1,
  AcquireStart = 2,
  AcquireFailed = 3,
  AcquireSuccess = 4,
  Releasing = 5
};
struct NvtxSync {
  static constexpr uint32_t kKind = 23;
  static constexpr std::string_view kName = "nvtx_sync";
  uint64_t time = 0;
  SyncAction action{};
  uint64_t object = 0;  // a number that the recorder assigns, because handles may be reused
  LabelId label{};
  std::string_view text;
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.time("time", s.time);
    v.value("action", s.action);
    v.value("object", s.object);
    v.value("label", s.label);
    v.optional_text("text", s.text);
  }
};

// A name that the program gave to an object. It is valid from `time` on. Names of categories are definitions.
enum class NamedKind : uint32_t {
  Thread = 1,   // object: system thread id
  Device = 2,   // ordinal
  Context = 3,  // ContextId
  Stream = 4,   // StreamId
  Event = 5,    // handle
  Other = 6     // handle or pointer; `type` is NVTX's identifierType
};
struct ResourceName {
  static constexpr uint32_t kKind = 24;
  static constexpr std::string_view kName = "resource_name";
  uint64_t time = 0;
  NamedKind what{};
  uint64_t object = 0;
  DomainId domain{};
  uint32_t type = 0;
  uint32_t gone = 0;  // 1: the name was removed
  std::string_view name;
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.time("time", s.time);
    v.value("what", s.what);
    v.value("object", s.object);
    v.text("name", s.name);
    v.optional("domain", s.domain);
    v.optional("type", s.type);
    v.optional("gone", s.gone);
  }
};

// The clock of a program's own time stamp.
enum class StampClock : uint32_t {
  None = 0,       // no stamp: the event happened at `time`
  Tick = 1,       // this log's ticks
  Realtime = 2,   // ns of CLOCK_REALTIME
  Monotonic = 3,  // ns of CLOCK_MONOTONIC
  Unknown = 4,    // a clock that cannot be converted: use `time`, the time of submission
  // Any number from here on is the id of an NvtxClockDef.
  kFirstProgramClock = 8
};

// Two clocks showed these numbers at the same moment. In a ring, these records are among the definitions, because the
// remaining records need them.
struct NvtxSyncPoint {
  static constexpr uint32_t kKind = 69;
  static constexpr std::string_view kName = "nvtx_sync_point";
  uint64_t time = 0;  // time at which the program reported it
  StampClock clock{}, other{};
  uint64_t source = 0, destination = 0;  // 64 bits of each clock
  // Bits of a double: units of `other` per unit of `clock`, from then on. 0: not reported.
  uint64_t slope = 0;
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.time("time", s.time);
    v.value("clock", s.clock);
    v.value("other", s.other);
    v.value("source", s.source);
    v.value("destination", s.destination);
    v.optional("slope", s.slope);
  }
};

// An NVTX sample: a value of an NVTX counter of the program.
enum class SampleForm : uint32_t { Int64 = 0, Double = 1, Bytes = 2, Zero = 3, Unchanged = 4, Unavailable = 5 };
struct NvtxSample {
  static constexpr uint32_t kKind = 25;
  static constexpr std::string_view kName = "nvtx_sample";
  uint64_t time = 0;
  NvtxCounterId counter{};
  SampleForm form{};
  uint64_t value = 0;     // the 64 bits of the number
  std::string_view data;  // form Bytes: in the layout of the counter's schema
  StampClock clock{};
  uint64_t stamp = 0;
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.time("time", s.time);
    v.value("counter", s.counter);
    v.value("form", s.form);
    v.value("value", s.value);
    v.optional_text("data", s.data);
    v.optional("clock", s.clock);
    v.optional("stamp", s.stamp);
  }
};

// A range or mark that the program submitted later, with its own time stamps. The record of its payload precedes it.
struct NvtxDeferred {
  static constexpr uint32_t kKind = 26;
  static constexpr std::string_view kName = "nvtx_deferred";
  uint64_t time = 0;   // time of submission
  uint32_t style = 0;  // 0 push/pop range, 1 start/end range, 2 mark
  LabelId label{};
  StampClock clock{};
  uint64_t begin = 0, end = 0;
  std::string_view text;
  uint64_t scope = 0;  // number of the scope of its batch
  DomainId domain{};   // domain of that scope
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.time("time", s.time);
    v.value("style", s.style);
    v.value("label", s.label);
    v.value("clock", s.clock);
    v.value("begin", s.begin);
    v.value("end", s.end);
    v.optional_text("text", s.text);
    v.optional("scope", s.scope);
    v.optional("domain", s.domain);
  }
};

}  // namespace prof::format
