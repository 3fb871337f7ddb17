// Offline. Decodes the records of a block and calls the handler once per record:
//
//   struct Handler {
//     // kinds without an overload are skipped
//     void operator()(const format::KernelLaunch& launch, RecordPlace place);
//     // optional: kinds that this prof does not know
//     void unknown(const KindSignature& kind, RecordPlace place);
//     // optional, for few blocks: compiles in a fraction of the time, some ns per record slower
//     static constexpr bool kSeldom = true;
//   };
//   DecodeResult result = decode_block(log, block, handler);
//
// Texts are views into the log and valid as long as it; CallPairs are valid only during the call. A handler that
// accepts kinds by template or conversion gets every kind with which it can be called.
#pragma once

#include "analyzer/input/log/log_file.h"

#include <concepts>
#include <type_traits>

namespace prof::analyzer {

// The position of a record, for messages and for the order inside a thread.
struct RecordPlace {
  const BlockRef* block = nullptr;
  uint32_t payload_offset = 0;
  uint64_t file_offset() const { return block->offset + format::kBlockHeaderBytes + payload_offset; }
};

struct DecodeResult {
  uint32_t records = 0;     // passed to the handler or skipped
  uint32_t unknown = 0;     // of these, records of kinds that this prof does not know
  uint32_t stopped_at = 0;  // payload offset of the first byte that was not decoded
  bool bad_record = false;  // the bytes there are no record; the rest of the block is lost
};

namespace detail {

template <class T, class Handler> inline void give(Handler& handler, const T& record, RecordPlace place) {
  if constexpr (std::is_invocable_v<Handler&, const T&, RecordPlace>) handler(record, place);
}

// Decodes kinds whose signature differs from this prof's, and unknown kinds. Out of line, because it must not slow down
// the usual path.
template <class Handler>
__attribute__((noinline)) bool decode_other(const KindSignature& kind, format::Cursor& from, format::CodecState& state,
                                            uint32_t mask, format::CallPair* scratch, Handler& handler,
                                            RecordPlace place) {
  FieldValue values[kMaxFields];
  if (!decode_by_signature(kind, from, state, mask, values, scratch)) return false;
  if (kind.plan == KindPlan::Unknown) {
    if constexpr (requires { handler.unknown(kind, place); }) handler.unknown(kind, place);
    return true;
  }
  format::AllKinds::for_each([&]<class T>() {
    if (T::kName != kind.name) return;
    T record{};
    T::visit(record, AssignByName{kind, values});
    give(handler, record, place);
  });
  return true;
}

// One branch of the dispatch. The compiler makes a jump table of the chain.
template <class T, class Handler>
__attribute__((always_inline)) inline bool decode_same(format::Cursor& from, format::CodecState& state, uint32_t mask,
                                                       format::CallPair* scratch, Handler& handler, RecordPlace place) {
  T record;
  if (!format::decode_fields(from, state, scratch, mask, record)) return false;
  give(handler, record, place);
  return true;
}

// Whether the kind is one of T. If so, `ok` is whether the bytes are such a record.
template <class Handler, class... T>
__attribute__((always_inline)) inline bool dispatch(format::Kinds<T...>, uint64_t kind, format::Cursor& from,
                                                    format::CodecState& state, uint32_t mask, format::CallPair* scratch,
                                                    Handler& handler, RecordPlace place, bool& ok) {
  return ((kind == T::kKind ? (ok = decode_same<T>(from, state, mask, scratch, handler, place), true) : false) || ...);
}
template <class Handler>
constexpr bool dispatch(format::Kinds<>, uint64_t, format::Cursor&, format::CodecState&, uint32_t, format::CallPair*,
                        Handler&, RecordPlace, bool&) {
  return false;
}

// The same for kinds that are rare. Not flattened, because their handlers are long.
template <class Handler, class Kinds>
__attribute__((noinline)) bool decode_rare(Kinds kinds, uint64_t kind, format::Cursor& from, format::CodecState& state,
                                           uint32_t mask, format::CallPair* scratch, Handler& handler,
                                           RecordPlace place) {
  bool ok = false;
  dispatch(kinds, kind, from, state, mask, scratch, handler, place, ok);
  return ok;
}

template <class Handler> constexpr bool is_seldom() {
  if constexpr (requires { Handler::kSeldom; }) return Handler::kSeldom;
  return false;
}

}  // namespace detail

// Flattened: otherwise compilers call the fields' readers one by one, and a record takes 12 to 16 ns instead of 6.5
// (measured 2026-11-21).
// `Log`: LogFile, or another source of blocks with kinds() and payload().
template <class Log, class Handler>
__attribute__((flatten)) DecodeResult decode_block(const Log& log, const BlockRef& block, Handler&& handler) {
  using Plain = std::remove_reference_t<Handler>;
  using Frequent = std::conditional_t<detail::is_seldom<Plain>(), format::Kinds<>, format::EventKinds>;
  using Rare = std::conditional_t<detail::is_seldom<Plain>(), format::AllKinds, format::DefinitionKinds>;
  Plain& to = handler;
  const KindTable& kinds = log.kinds();
  const uint8_t* const begin = log.payload(block);
  format::Cursor cursor{begin, begin + block.readable};
  format::CodecState state{block.base_tick};
  format::CallPair scratch[format::kMaxCallPairs];
  DecodeResult result;
  while (!cursor.at_end()) {
    const RecordPlace place{&block, static_cast<uint32_t>(cursor.at - begin)};
    const uint64_t tag = cursor.varint();
    const uint64_t kind = tag >> 3;
    const uint32_t mask = static_cast<uint32_t>(tag & 7);
    const KindPlan plan = kinds.plan(kind);
    bool ok = false;
    const bool done =
        plan == KindPlan::Same && detail::dispatch(Frequent{}, kind, cursor, state, mask, scratch, to, place, ok);
    if (!done && cursor.ok && plan != KindPlan::Absent) [[unlikely]] {
      // Copies, so that the state of the usual path can stay in registers.
      format::Cursor from = cursor;
      format::CodecState deltas = state;
      ok = plan == KindPlan::Same
               ? detail::decode_rare(Rare{}, kind, from, deltas, mask, scratch, to, place)
               : detail::decode_other(*kinds.find(static_cast<uint32_t>(kind)), from, deltas, mask, scratch, to, place);
      cursor = from;
      state = deltas;
      result.unknown += ok && plan == KindPlan::Unknown ? 1 : 0;
    }
    if (!ok) {
      result.stopped_at = place.payload_offset;
      result.bad_record = block.readable == block.committed;  // else: the tail after it is known damage already
      return result;
    }
    ++result.records;
  }
  result.stopped_at = block.readable;
  return result;
}

// The error that decode_block found, as a row of the damage list.
inline Damage record_damage(const BlockRef& block, const DecodeResult& result) {
  return {DamageKind::BadRecord, block.offset + format::kBlockHeaderBytes + result.stopped_at,
          block.readable - result.stopped_at,
          "no record of any kind starts here (thread " + std::to_string(block.thread) + ", block " +
              std::to_string(block.sequence) + ", record " + std::to_string(result.records) + ")"};
}

}  // namespace prof::analyzer
