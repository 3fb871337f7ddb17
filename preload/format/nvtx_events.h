// Events that the program itself announced through NVTX (see events.h).
#pragma once

#include "preload/format/ids.h"

#include <cstdint>
#include <string_view>

namespace prof::format {

// NVTX. `payload` holds the 64 bits of the value; its type is NVTX's payloadType. `text` is used where interning failed.
struct NvtxPush {
  static constexpr uint32_t kKind = 6;
  static constexpr std::string_view kName = "nvtx_push";
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

struct NvtxPop {
  static constexpr uint32_t kKind = 7;
  static constexpr std::string_view kName = "nvtx_pop";
  uint64_t time = 0;
  DomainId domain{};
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.time("time", s.time);
    v.optional("domain", s.domain);
  }
};

struct NvtxStart {
  static constexpr uint32_t kKind = 13;
  static constexpr std::string_view kName = "nvtx_start";
  uint64_t time = 0;
  uint64_t range = 0;  // id the program got; the end may come from another thread
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

// Bytes that the program attached to an NVTX event (its "extended payload"), right before that event of the same thread and with
// its time; one record a payload. `texts`: what the bytes point to and was copied then: (varint offset of the pointer, varint
// length, text) each.
struct NvtxPayload {
  static constexpr uint32_t kKind = 22;
  static constexpr std::string_view kName = "nvtx_payload";
  uint64_t time = 0;
  SchemaId schema{};     // 0: `type` says how to read them
  uint64_t type = 0;     // NVTX's number: a predefined type, or a schema that nobody registered
  uint64_t bytes = 0;    // of the payload, where the log has not all of them
  uint64_t address = 0;  // where it lay, where pointers of another payload of the event may lead
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
inline constexpr uint32_t kNvtxPayloadExtended = 9;  // payload_type of an event that such records stand before

// What a program said about a synchronisation object of its own.
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
  uint64_t object = 0;  // a number of ours: handles may come again
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

// The name that the program gave to something, from now on. Names of categories are definitions.
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
  uint32_t gone = 0;  // 1: the name was taken back
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

// Which clock a time stamp of the program's own is of.
enum class StampClock : uint32_t {
  None = 0,       // no stamp: `time` is when it happened
  Tick = 1,       // this log's ticks
  Realtime = 2,   // ns of CLOCK_REALTIME
  Monotonic = 3,  // ns of CLOCK_MONOTONIC
  Unknown = 4,    // a clock that nobody can convert: `time`, when it was submitted, is the best there is
  // Any number from here on is the id of an NvtxClockDef.
  kFirstProgramClock = 8
};

// Two clocks showed these numbers at one moment. Among the definitions of a ring: what remains needs it.
struct NvtxSyncPoint {
  static constexpr uint32_t kKind = 69;
  static constexpr std::string_view kName = "nvtx_sync_point";
  uint64_t time = 0;  // when it was told
  StampClock clock{}, other{};
  uint64_t source = 0, destination = 0;  // their 64 bits
  uint64_t slope = 0;  // bits of a double, units of `other` in one of `clock`, from then on; 0: not told
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.time("time", s.time);
    v.value("clock", s.clock);
    v.value("other", s.other);
    v.value("source", s.source);
    v.value("destination", s.destination);
    v.optional("slope", s.slope);
  }
};

// A sample of a counter of the program's.
enum class SampleForm : uint32_t { Int64 = 0, Double = 1, Bytes = 2, Zero = 3, Unchanged = 4, Unavailable = 5 };
struct NvtxSample {
  static constexpr uint32_t kKind = 25;
  static constexpr std::string_view kName = "nvtx_sample";
  uint64_t time = 0;
  NvtxCounterId counter{};
  SampleForm form{};
  uint64_t value = 0;     // the 64 bits of the number
  std::string_view data;  // Bytes: laid out as the counter's schema says
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

// A range or mark that the program submitted after the fact, with its own time stamps; its payload stands before it.
struct NvtxDeferred {
  static constexpr uint32_t kKind = 26;
  static constexpr std::string_view kName = "nvtx_deferred";
  uint64_t time = 0;   // when it was submitted
  uint32_t style = 0;  // 0 push/pop range, 1 start/end range, 2 mark
  LabelId label{};
  StampClock clock{};
  uint64_t begin = 0, end = 0;
  std::string_view text;
  uint64_t scope = 0;  // number of the scope of the batch that it came in
  DomainId domain{};   //   of this domain
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
