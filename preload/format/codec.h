// How does a struct of an *events.h or *definitions.h become bytes, and how is it read back? The recorder encodes with
// this file and the reader decodes with it. No other code encodes or decodes records.
//
//   record := varint(kind << 3 | mask) field…
//
// All stored fields follow in visit() order. `mask` has one bit for each optional field, in order. If a bit is clear,
// the field is 0 or empty and takes no byte. Times, GPU times, correlation ids, graph nodes and queue depths are
// differences to the previous value of the same kind in the same block (CodecState). Each block starts with a new
// state.
//
// The kind table of the file header contains the letter of each field's encoding. With these letters a reader can skip
// kinds and fields that it does not know. An optional field has '?' before its letter.
//   v  unsigned varint                       s  zigzag varint
//   t  tick: varint of (tick − previous tick) mod 2^64; the ticks of a block mostly grow
//   T  the same as a quick number (wire.h), in the most frequent kinds
//   V  unsigned quick number
//   g  GPU ns: zigzag of the difference      c  correlation id: zigzag of the difference
//   n  graph node id: zigzag of the difference
//   d  queue depth: zigzag of the difference (mostly 1, so a long queue takes one byte instead of two)
//   x  text: varint length, bytes
//   p  pairs: varint count, then (t, c) for each
//   a  numbers (addresses, ids): varint count, then for each the zigzag of its difference to the previous number
//   K  correlation id of an operation, always optional and before an R. If it is not stored, it is the expected one
//      (IdSteps), and the stream is that of the last R. If it is stored: varint of (zigzag of the difference to the
//      expected one) × 2 + r. r = 1: R follows. r = 0: the stream is that of the last R.
//   R  GPU stream: varint. It is always '&R', without a bit of its own.
//   W  moments of calls, GPU ns that are multiples of 2^unit: varint count, varint unit, then the zigzag of the first
//      time's difference to the g before it and of the first id's difference to the id before it, then for each other
//      call: varint of growth × 2 + i, with the growth in units. i = 0: the id is the expected one of this list.
//      i = 1: the zigzag of the difference to it follows.
//   U  spans of calls, GPU ns: varint count, varint unit, varint length, then zigzag of the first start's difference
//      to the g before it, then for each call: varint of growth × 2 + m, with the growth of the start in units of
//      2^unit ns. m = 0: the call has the expected id and takes `length` units. m = 1: varint of (zigzag of the
//      difference to the expected id) × 2 + l follows, and if l = 1, varint of the units that it takes. The expected
//      id of the first call is the id before the list + 1. At the end of the list: varint of the ns by which
//      its last call is shorter. So the first start and the last end of a list are exact.
// W and U change no value that later differences refer to. The letters of older logs:
//   q  pairs of GPU ns: varint count, then (g, c), then (varint of the growth mod 2^64, c) for each
//   w  as W, but the first pair is (g, c), the expected id is always the previous one + 1, and i = 1 means that c
//      follows
//   k  correlation id as c; always optional. If it is not stored, it is the previous one + 1.
//   r  GPU stream: varint. If it is not stored, it is the stream of the last record of the block that has an r. It is
//      always '&r': stored if the optional field before it is stored, without a bit of its own.
// What need not be stored is not stored. The decoder refuses records that store it.
#pragma once

#include "preload/format/block.h"
#include "preload/format/definitions.h"
#include "preload/format/events.h"
#include "preload/format/gpu_definitions.h"
#include "preload/format/host_events.h"
#include "preload/format/nvtx_definitions.h"
#include "preload/format/stack_definitions.h"
#include "preload/format/wire.h"

#include <type_traits>

namespace prof::format {

// Which correlation id is expected next? Between two launches, a program mostly makes the same calls, and each of them
// takes an id. So the ids of launches grow by the same step. The step is the last difference that occurred twice in a
// row: one launch with other calls before it changes nothing for the launches after it.
struct IdSteps {
  uint32_t last = 0;
  uint32_t step = 1, candidate = 1;

  constexpr uint32_t next() const { return last + step; }
  constexpr void take(uint32_t id) {
    const uint32_t difference = id - last;
    if (difference == candidate) step = difference;
    candidate = difference;
    last = id;
  }
};

// The previous values in a block, to which its differences refer.
struct CodecState {
  uint64_t tick = 0;  // starts as the block's base_tick
  uint64_t gpu_ns = 0;
  uint64_t graph_node = 0;
  uint64_t depth = 0;
  IdSteps ids{};
  uint32_t gpu_stream = 0;

  // Whether these are the values of a K and an R that are not stored.
  constexpr bool expects(uint32_t correlation, uint32_t stream) const {
    return correlation == ids.next() && stream == gpu_stream;
  }
  // The same for a k and an r.
  constexpr bool follows(uint32_t correlation, uint32_t stream) const {
    return correlation == ids.last + 1 && stream == gpu_stream;
  }
};

template <class... T> struct Kinds {
  template <class F> static constexpr void for_each(F&& f) { (f.template operator()<T>(), ...); }
};

// All kinds, in order of their numbers. Dumps list them in this order. The second list has events too: CallArguments,
// HardwareSamples, NvtxSyncPoint, HostSample, HostStateSpan, PcBatch, PcSamples, Collective. All numbers below 32 were
// in use.
using EventKinds = Kinds<KernelLaunch, MemoryLaunch, GraphLaunch, ApiCall, AllocCall, NvtxPush, NvtxPop, KernelRun,
                         CopyRun, FillRun, DriverCalls, NvtxStart, NvtxEnd, NvtxMark, ClockAnchor, ThreadEnd, GraphNode,
                         GraphMade, GraphRun, StackedCall, NvtxPayload, NvtxSync, ResourceName, NvtxSample,
                         NvtxDeferred, UnifiedMemory, RuntimeCalls, StreamMemory, LibraryCall, CounterValues>;
using DefinitionKinds =
    Kinds<StringPart, ThreadDef, MetaDef, ApiDef, ModuleDef, FunctionDef, ConfigDef, DeviceDef, DeviceProperty,
          ContextDef, StreamDef, GraphDef, GpuStreamDef, GpuKernelDef, NvtxDomainDef, NvtxLabelDef, GpuClock,
          UnhookedApi, StackDef, PythonFrameDef, ImageDef, ImageGone, NvtxSchemaDef, NvtxSchemaEntry, NvtxCounterDef,
          NvtxCategoryDef, SymbolDef, MemoryPoolDef, CounterSetDef, CallArguments, HardwareSamples, SampledSetDef,
          NvtxScopeDef, NvtxSemanticsDef, NvtxClockDef, NvtxSyncPoint, HostSample, HostStateSpan, HostSampling,
          CubinDef, StallReasonsDef, PcBatch, PcSamples, Collective, PipeHolder>;
template <class... A, class... B> Kinds<A..., B...> operator+(Kinds<A...>, Kinds<B...>);
using AllKinds = decltype(EventKinds{} + DefinitionKinds{});

template <class T, class... D> constexpr bool is_one_of(Kinds<D...>) { return (std::is_same_v<T, D> || ...); }

// Definitions whose id may be for one use (ids.h: kFirstOnceId).
using IdsForOneUse =
    Kinds<StringPart, ModuleDef, FunctionDef, ConfigDef, GpuStreamDef, GpuKernelDef, NvtxLabelDef, StackDef>;
template <class T>
concept TakesIdsForOneUse = is_one_of<T>(IdsForOneUse{});

template <class T> constexpr uint64_t as_u64(const T& value) {
  if constexpr (std::is_enum_v<T>) {
    return static_cast<uint64_t>(static_cast<std::underlying_type_t<T>>(value));
  } else {
    return static_cast<uint64_t>(value);
  }
}

// The shortest number of units of 2^unit ns that is not shorter than `ns`.
constexpr uint64_t units_of(uint64_t ns, uint32_t unit) {
  const uint64_t below = (uint64_t{1} << unit) - 1;
  return (ns >> unit) + ((ns & below) != 0 ? 1 : 0);
}

namespace detail {

struct MaskVisitor {
  const CodecState& state;
  uint32_t mask = 0;
  uint32_t bit = 1;
  template <class T> constexpr void optional(const char*, const T& x) { add(as_u64(x) != 0); }
  template <class T> constexpr void optional_node(const char*, const T& x) { add(as_u64(x) != 0); }
  constexpr void optional_text(const char*, std::string_view x) { add(!x.empty()); }
  constexpr void add(bool set) {
    if (set) mask |= bit;
    bit <<= 1;
  }
  template <class T> constexpr void value(const char*, const T&) {}
  constexpr void signed_value(const char*, int64_t) {}
  constexpr void time(const char*, uint64_t) {}
  constexpr void quick_time(const char*, uint64_t) {}
  constexpr void quick_value(const char*, uint64_t) {}
  constexpr void gpu_time(const char*, uint64_t) {}
  constexpr void correlation(const char*, uint32_t) {}
  constexpr void depth(const char*, uint64_t) {}
  constexpr void text(const char*, std::string_view) {}
  constexpr void launch_of(const char*, uint32_t correlation, const char*, GpuStreamId stream) {
    add(!state.expects(correlation, static_cast<uint32_t>(stream)));
  }
  constexpr void numbers(const char*, const Numbers&) {}
  constexpr void moments(const char*, const CallPairs&) {}
  constexpr void spans(const char*, const CallPairs&) {}
};

struct EncodeVisitor {
  uint8_t* to;
  CodecState& state;

  template <class T> void value(const char*, const T& x) { to = put_varint(to, as_u64(x)); }
  void signed_value(const char*, int64_t x) { to = put_varint(to, zigzag(x)); }
  void time(const char*, uint64_t x) {
    to = put_uneven_varint(to, x - state.tick);
    state.tick = x;
  }
  void quick_time(const char*, uint64_t x) {
    to = put_quick(to, x - state.tick);
    state.tick = x;
  }
  void quick_value(const char*, uint64_t x) { to = put_quick(to, x); }
  void gpu_time(const char*, uint64_t x) {
    to = put_varint(to, zigzag(static_cast<int64_t>(x - state.gpu_ns)));
    state.gpu_ns = x;
  }
  void correlation(const char*, uint32_t x) {
    to = put_varint(to, zigzag(static_cast<int32_t>(x - state.ids.last)));
    state.ids.last = x;
  }
  void depth(const char*, uint64_t x) {
    to = put_varint(to, zigzag(static_cast<int64_t>(x - state.depth)));
    state.depth = x;
  }
  void text(const char*, std::string_view x) { to = put_text(to, x); }
  void numbers(const char*, const Numbers& x) { to = put_numbers(to, x); }
  template <class T> void optional(const char*, const T& x) {
    if (as_u64(x) != 0) [[unlikely]]
      to = put_varint(to, as_u64(x));
  }
  void optional_node(const char*, uint64_t x) {
    if (x == 0) return;
    to = put_varint(to, zigzag(static_cast<int64_t>(x - state.graph_node)));
    state.graph_node = x;
  }
  void optional_text(const char*, std::string_view x) {
    if (!x.empty()) to = put_text(to, x);
  }
  void launch_of(const char*, uint32_t x, const char*, GpuStreamId stream) {
    const auto number = static_cast<uint32_t>(stream);
    const bool expected = state.expects(x, number);
    const uint64_t difference = zigzag(static_cast<int32_t>(x - state.ids.next()));
    state.ids.take(x);
    if (expected) return;
    const bool other_stream = number != state.gpu_stream;
    to = put_varint(to, difference << 1 | (other_stream ? 1 : 0));
    if (other_stream) to = put_varint(to, number);
    state.gpu_stream = number;
  }
  void moments(const char*, const CallPairs& x) {
    to = put_varint(put_varint(to, x.count), x.unit);
    if (x.count == 0) return;
    to = put_varint(to, zigzag(static_cast<int64_t>(x.data[0].time - state.gpu_ns)));
    to = put_varint(to, zigzag(static_cast<int32_t>(x.data[0].correlation - state.ids.last)));
    IdSteps ids{x.data[0].correlation};
    for (uint32_t i = 1; i < x.count; ++i) {
      const uint64_t growth = (x.data[i].time >> x.unit) - (x.data[i - 1].time >> x.unit);
      const auto difference = static_cast<int32_t>(x.data[i].correlation - ids.next());
      to = put_varint(to, growth << 1 | (difference != 0 ? 1 : 0));
      if (difference != 0) to = put_varint(to, zigzag(difference));
      ids.take(x.data[i].correlation);
    }
  }
  void spans(const char*, const CallPairs& x) {
    const uint32_t calls = x.count / 2;
    to = put_varint(put_varint(put_varint(to, calls), x.unit), x.length);
    if (calls == 0) return;
    to = put_varint(to, zigzag(static_cast<int64_t>(x.data[0].time - state.gpu_ns)));
    IdSteps ids{state.ids.last};
    uint64_t shorter = 0;
    for (uint32_t i = 0; i < calls; ++i) {
      const CallPair& start = x.data[2 * i];
      const uint64_t time = x.data[2 * i + 1].time - start.time;
      uint64_t units = units_of(time, x.unit);
      if (i + 1 == calls) {
        if (units < x.length) units = x.length;
        shorter = (units << x.unit) - time;
      }
      const uint64_t growth = i == 0 ? 0 : (start.time - x.data[2 * i - 2].time) >> x.unit;
      const uint64_t difference = zigzag(static_cast<int32_t>(start.correlation - ids.next()));
      const bool other_length = units != x.length;
      const bool more = difference != 0 || other_length;
      to = put_varint(to, growth << 1 | (more ? 1 : 0));
      if (more) to = put_varint(to, difference << 1 | (other_length ? 1 : 0));
      if (other_length) to = put_varint(to, units);
      ids.take(start.correlation);
    }
    to = put_varint(to, shorter);
  }

  // Letters of older logs. Only the tests that make such logs use them.
  void pairs(const char* name, const CallPairs& x) {
    to = put_varint(to, x.count);
    for (uint32_t i = 0; i < x.count; ++i) {
      time(name, x.data[i].time);
      correlation(name, x.data[i].correlation);
    }
  }
  void gpu_pairs(const char* name, const CallPairs& x) {
    to = put_varint(to, x.count);
    for (uint32_t i = 0; i < x.count; ++i) {
      if (i == 0) {
        gpu_time(name, x.data[i].time);
      } else {
        to = put_varint(to, x.data[i].time - state.gpu_ns);
        state.gpu_ns = x.data[i].time;
      }
      correlation(name, x.data[i].correlation);
    }
  }
  void older_moments(const char* name, const CallPairs& x) {
    to = put_varint(put_varint(to, x.count), x.unit);
    for (uint32_t i = 0; i < x.count; ++i) {
      const CallPair& call = x.data[i];
      if (i == 0) {
        gpu_time(name, call.time);
        correlation(name, call.correlation);
        continue;
      }
      const uint64_t growth = (call.time >> x.unit) - (state.gpu_ns >> x.unit);
      const bool other = call.correlation != state.ids.last + 1;
      to = put_varint(to, growth << 1 | (other ? 1 : 0));
      state.gpu_ns = call.time;
      if (other) correlation(name, call.correlation);
      state.ids.last = call.correlation;
    }
  }
  void older_launch_of(const char* name, uint32_t x, const char*, GpuStreamId stream) {
    const auto number = static_cast<uint32_t>(stream);
    if (state.follows(x, number)) {
      state.ids.last = x;
      return;
    }
    correlation(name, x);
    value(name, stream);
    state.gpu_stream = number;
  }
};

// Reads what EncodeVisitor wrote. Pairs are stored in `scratch`, which has room for kMaxCallPairs.
struct DecodeVisitor {
  Cursor& from;
  CodecState& state;
  CallPair* scratch;
  uint32_t mask;

  template <class T> void value(const char*, T& x) { x = static_cast<T>(from.varint()); }
  void signed_value(const char*, int64_t& x) { x = unzigzag(from.varint()); }
  void time(const char*, uint64_t& x) { x = state.tick += from.varint(); }
  void quick_time(const char*, uint64_t& x) { x = state.tick += from.quick(); }
  void quick_value(const char*, uint64_t& x) { x = from.quick(); }
  void gpu_time(const char*, uint64_t& x) { x = state.gpu_ns += static_cast<uint64_t>(unzigzag(from.varint())); }
  void correlation(const char*, uint32_t& x) { x = state.ids.last += static_cast<uint32_t>(unzigzag(from.varint())); }
  void depth(const char*, uint64_t& x) { x = state.depth += static_cast<uint64_t>(unzigzag(from.varint())); }
  void text(const char*, std::string_view& x) { x = from.text(); }
  void numbers(const char*, Numbers& x) { x = read_numbers(from); }
  bool present() {
    const bool set = (mask & 1) != 0;
    mask >>= 1;
    return set;
  }
  template <class T> void optional(const char*, T& x) { x = present() ? static_cast<T>(from.varint()) : T{}; }
  void optional_node(const char*, uint64_t& x) {
    x = present() ? state.graph_node += static_cast<uint64_t>(unzigzag(from.varint())) : 0;
  }
  void optional_text(const char*, std::string_view& x) { x = present() ? from.text() : std::string_view{}; }
  void launch_of(const char*, uint32_t& x, const char*, GpuStreamId& stream) {
    x = state.ids.next();
    if (present()) run_id(x, stream);
    state.ids.take(x);
    stream = static_cast<GpuStreamId>(state.gpu_stream);
  }
  // The number of pairs and their unit. Damage: none.
  uint64_t head_of_moments(CallPairs& x, uint64_t& unit) {
    const uint64_t count = from.varint();
    unit = from.varint();
    x = {scratch, 0, static_cast<uint32_t>(unit), 0};
    if (count <= kMaxCallPairs && unit <= kMaxMomentUnit) return count;
    from.fail();
    return 0;
  }
  void moments(const char*, CallPairs& x) {
    uint64_t unit = 0;
    const uint64_t count = head_of_moments(x, unit);
    if (count == 0) return;
    CallPair call{state.gpu_ns + static_cast<uint64_t>(unzigzag(from.varint())),
                  state.ids.last + static_cast<uint32_t>(unzigzag(from.varint()))};
    IdSteps ids{call.correlation};
    scratch[0] = call;
    for (uint32_t i = 1; i < count && from.ok; ++i) {
      const uint64_t word = from.varint();
      const uint64_t units = (call.time >> unit) + (word >> 1);
      call = {units << unit, ids.next() + ((word & 1) != 0 ? difference() : 0)};
      if (units > kMaxMoment >> unit) from.fail();
      ids.take(call.correlation);
      scratch[i] = call;
    }
    if (from.ok) x.count = static_cast<uint32_t>(count);
  }
  void spans(const char*, CallPairs& x) {
    const uint64_t count = from.varint(), unit = from.varint(), length = from.varint();
    x = {scratch, 0, static_cast<uint32_t>(unit), static_cast<uint32_t>(length)};
    if (count > kMaxCallPairs / 2 || unit > kMaxMomentUnit || length > UINT32_MAX) {
      from.fail();
      return;
    }
    if (count == 0) return;
    const uint64_t most = kMaxMoment >> unit;
    uint64_t start = state.gpu_ns + static_cast<uint64_t>(unzigzag(from.varint()));
    uint64_t units = 0;
    IdSteps ids{state.ids.last};
    for (uint32_t i = 0; i < count && from.ok; ++i) {
      const uint64_t word = from.varint();
      const uint64_t growth = word >> 1;
      if (growth > (i == 0 ? 0 : most)) from.fail();
      start += growth << unit;
      uint32_t id = ids.next();
      units = length;
      if ((word & 1) != 0) {
        const uint64_t more = from.varint();
        id += static_cast<uint32_t>(unzigzag(more >> 1));
        if ((more & 1) != 0) units = from.varint();
        if (more == 0 || ((more & 1) != 0 && units == length) || units > most) from.fail();
      }
      ids.take(id);
      if (start > kMaxMoment) from.fail();
      scratch[2 * i] = {start, id};
      scratch[2 * i + 1] = {start + (units << unit), id};
    }
    const uint64_t shorter = from.varint();
    // Another length of the last call is the shortest one that holds it.
    if (units != length && (units < length || shorter >> unit != 0)) from.fail();
    if (shorter > units << unit) from.fail();
    if (!from.ok) return;
    scratch[2 * count - 1].time -= shorter;
    x.count = static_cast<uint32_t>(2 * count);
  }
  // A K that is stored, and its R if that is stored. `id` is the expected one.
  void run_id(uint32_t& id, GpuStreamId& stream) {
    const uint64_t word = from.varint();
    id += static_cast<uint32_t>(unzigzag(word >> 1));
    if ((word & 1) != 0) {
      const uint32_t last = state.gpu_stream;
      value("", stream);
      state.gpu_stream = static_cast<uint32_t>(stream);
      if (state.gpu_stream == last) from.fail();
    } else if (word == 0) {
      from.fail();
    }
  }
  // The difference of an id to the expected one, which it is not.
  uint32_t difference() {
    const auto found = static_cast<uint32_t>(unzigzag(from.varint()));
    if (found == 0) from.fail();
    return found;
  }

  // Letters of older logs.
  void pairs(const char* name, CallPairs& x) {
    list(name, x, [&](uint64_t& t) { time(name, t); });
  }
  void gpu_pairs(const char* name, CallPairs& x) {
    list(name, x, [&, first = true](uint64_t& t) mutable {
      if (first) {
        gpu_time(name, t);
      } else {
        t = state.gpu_ns += from.varint();
      }
      first = false;
    });
  }
  void older_moments(const char* name, CallPairs& x) {
    uint64_t unit = 0;
    const uint64_t count = head_of_moments(x, unit);
    for (uint32_t i = 0; i < count && from.ok; ++i) {
      CallPair& call = scratch[i];
      if (i == 0) {
        gpu_time(name, call.time);
        correlation(name, call.correlation);
        continue;
      }
      const uint64_t word = from.varint();
      const uint64_t units = (state.gpu_ns >> unit) + (word >> 1);
      const uint32_t next = state.ids.last + 1;
      call.time = state.gpu_ns = units << unit;
      call.correlation = next;
      if ((word & 1) != 0) {
        correlation(name, call.correlation);
        if (call.correlation == next) from.fail();
      }
      state.ids.last = call.correlation;
      if (units > kMaxMoment >> unit) from.fail();
    }
    if (from.ok) x.count = static_cast<uint32_t>(count);
  }
  template <class ReadTime> void list(const char* name, CallPairs& x, ReadTime&& read_time) {
    const uint64_t count = from.varint();
    x = {scratch, 0, 0, 0};
    if (count > kMaxCallPairs) {
      from.fail();
      return;
    }
    for (uint32_t i = 0; i < count && from.ok; ++i) {
      read_time(scratch[i].time);
      correlation(name, scratch[i].correlation);
    }
    if (from.ok) x.count = static_cast<uint32_t>(count);
  }
};

// Writes " end:t duration:v … result:?v" for the kind table.
struct SignatureVisitor {
  char* to;
  char* end;
  void put(char c) {
    if (to < end) *to++ = c;
  }
  void put(std::string_view s) {
    for (const char c : s) put(c);
  }
  void field(const char* name, std::string_view encoding) {
    put(' ');
    put(name);
    put(':');
    put(encoding);
  }
  template <class T> void value(const char* name, const T&) { field(name, "v"); }
  void signed_value(const char* name, int64_t) { field(name, "s"); }
  void time(const char* name, uint64_t) { field(name, "t"); }
  void quick_time(const char* name, uint64_t) { field(name, "T"); }
  void quick_value(const char* name, uint64_t) { field(name, "V"); }
  void gpu_time(const char* name, uint64_t) { field(name, "g"); }
  void correlation(const char* name, uint32_t) { field(name, "c"); }
  void depth(const char* name, uint64_t) { field(name, "d"); }
  void text(const char* name, std::string_view) { field(name, "x"); }
  template <class T> void optional(const char* name, const T&) { field(name, "?v"); }
  void optional_node(const char* name, uint64_t) { field(name, "?n"); }
  void optional_text(const char* name, std::string_view) { field(name, "?x"); }
  void numbers(const char* name, const Numbers&) { field(name, "a"); }
  void moments(const char* name, const CallPairs&) { field(name, "W"); }
  void spans(const char* name, const CallPairs&) { field(name, "U"); }
  void launch_of(const char* name, uint32_t, const char* stream_name, GpuStreamId) {
    field(name, "?K");
    field(stream_name, "&R");
  }
};

}  // namespace detail

// Encodes one record at `to`, where kMaxRecordBytes must be free. Returns the byte after it. The sum of its texts must
// not exceed kMaxTextBytes. `state` is updated. A caller that discards the bytes must restore it.
template <class T> uint8_t* encode(uint8_t* to, const T& record, CodecState& state) {
  detail::MaskVisitor mask{state};
  T::visit(record, mask);
  detail::EncodeVisitor v{put_tag<T::kKind>(to, mask.mask), state};
  T::visit(record, v);
  return v.to;
}

// Decodes the fields of a record of type T whose tag was read before. Returns false if the bytes are no such record.
template <class T> bool decode_fields(Cursor& from, CodecState& state, CallPair* scratch, uint32_t mask, T& record) {
  T::visit(record, detail::DecodeVisitor{from, state, scratch, mask});
  return from.ok;
}

// Writes a line of the kind table: "1 kernel_launch end:t duration:v …\n". Returns the byte after it, at most `end`.
template <class T> char* put_signature(char* to, char* end) {
  detail::SignatureVisitor v{to, end};
  if (T::kKind >= 10) v.put(static_cast<char>('0' + T::kKind / 10));
  v.put(static_cast<char>('0' + T::kKind % 10));
  v.put(' ');
  v.put(T::kName);
  const T record{};
  T::visit(record, v);
  v.put('\n');
  return v.to;
}

}  // namespace prof::format
