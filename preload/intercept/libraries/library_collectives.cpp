#include "preload/intercept/libraries/library_collectives.h"

#include "preload/base/clock.h"
#include "preload/intercept/libraries/nccl_numbers.h"
#include "preload/intercept/libraries/noted.h"

#include <unistd.h>

#include <atomic>
#include <cstring>

namespace prof::preload {

namespace {

constexpr Named kNcclTypes[] = {{0, "int8"},  {1, "uint8"},  {2, "int32"},     {3, "uint32"},
                                {4, "int64"}, {5, "uint64"}, {6, "fp16"},      {7, "fp32"},
                                {8, "fp64"},  {9, "bf16"},   {10, "fp8_e4m3"}, {11, "fp8_e5m2"}};
constexpr Named kNcclOperations[] = {{0, "sum"}, {1, "prod"}, {2, "max"}, {3, "min"}, {4, "avg"}};

struct Communicator {
  uint64_t id = 0;
  uint32_t flags = 0;            // format::kCollective…
  int32_t ranks = 0, rank = -1;  // 0, -1: not known
  uint64_t calls = 0, pairs = 0, splits = 0;
};
constinit Noted<Communicator, 1024> g_communicators;

// The number of a communicator; never 0, which means "not known".
uint64_t number_of(const void* unique_id, const LibraryGetters& getters) {
  int version = 0;
  const auto get = getters.nccl_version.load(std::memory_order_relaxed);
  if (get != nullptr && get(&version) != 0) version = 0;
  const uint64_t number = nccl_number(unique_id, version);
  return number != 0 ? number : 1;
}

uint64_t next(uint64_t& counter) { return std::atomic_ref(counter).fetch_add(1, std::memory_order_relaxed) + 1; }

void take_size(Communicator& communicator, void* handle, const LibraryGetters& getters) {
  int ranks = 0, rank = -1;
  const auto count = getters.nccl_ranks.load(std::memory_order_relaxed);
  if (count != nullptr && count(handle, &ranks) == 0) communicator.ranks = ranks;
  const auto own = getters.nccl_rank.load(std::memory_order_relaxed);
  if (own != nullptr && own(handle, &rank) == 0) communicator.rank = rank;
}

// One that was made by a function that is not recorded has a number of this process only.
Communicator* noted(void* handle, const LibraryGetters& getters) {
  if (handle == nullptr) return nullptr;
  if (Communicator* const known = g_communicators.find(handle); known != nullptr) return known;
  Communicator* const made = g_communicators.find_or_make(handle);
  if (made == nullptr) return nullptr;
  made->id = mix(reinterpret_cast<uint64_t>(handle), static_cast<uint64_t>(getpid()));
  made->flags = format::kCollectiveLocal;
  take_size(*made, handle, getters);
  return made;
}

int32_t low_word(uint64_t argument) { return static_cast<int32_t>(argument); }

// The unique id and the rank of ncclCommInitRank(comm, ranks, id, rank). The id is 128 bytes, passed by value: x86-64
// has it on the stack, aarch64 passes its address.
struct MadeByRank {
  const void* unique_id;
  int32_t ranks, rank;
};
MadeByRank made_by_rank(Family family, const LibraryArguments& a) {
  if (family == Family::CommunicatorByIds) return {a.pointer(4), low_word(a[1]), low_word(a[2])};
#if defined(__aarch64__)
  return {a.pointer(2), low_word(a[1]), low_word(a[3])};
#else
  return {a.stack, low_word(a[1]), low_word(a[2])};
#endif
}

void write_start(uint32_t row, const Communicator& communicator, uint64_t sequence, uint64_t time) {
  format::Collective event;
  event.time = time;
  event.communicator = communicator.id;
  event.sequence = sequence;
  event.flags = communicator.flags;
  const uint64_t key = mix(static_cast<uint32_t>(communicator.ranks), static_cast<uint32_t>(communicator.rank));
  emit_with_label(kLibraryRows[row], key, event, [&](CallText& text) {
    if (communicator.ranks > 0) text.value("ranks", static_cast<uint64_t>(communicator.ranks));
    if (communicator.rank >= 0) text.value("rank", static_cast<uint64_t>(communicator.rank));
  });
}

// `ranks`, `rank`: 0, -1 if not known.
template <class Event>
void write_collective(const LibraryRow& row, const LibraryArguments& a, int ranks, int rank, Event& event) {
  const LibraryForm& form = row.form;
  const uint64_t type = a[form.type] & 0xffffffff;
  const uint64_t operation = form.operation >= 0 ? a[form.operation] & 0xffffffff : 0;
  const uint64_t peer = form.peer >= 0 ? a[form.peer] & 0xffffffff : 0;
  const uint64_t key = mix(mix(a[form.count], type | operation << 32),
                           mix(peer, uint64_t{static_cast<uint32_t>(ranks)} << 32 | static_cast<uint32_t>(rank)));
  emit_with_label(row, key, event, [&](CallText& text) {
    text.value("count", a[form.count]);
    add_named(text, "type", type, kNcclTypes);
    if (form.operation >= 0) add_named(text, "op", operation, kNcclOperations);
    if (form.peer >= 0)
      text.size(form.operation >= 0 ? "root" : "peer", static_cast<uint64_t>(int64_t{static_cast<int32_t>(peer)}));
    if (ranks > 0) text.value("ranks", static_cast<uint64_t>(ranks));
    if (rank >= 0) text.value("rank", static_cast<uint64_t>(rank));
  });
}

// The communicators of all ranks are in this process.
void made_in_this_process(uint32_t row, const LibraryArguments& a, bool records) {
  const int32_t ranks = low_word(a[1]);
  auto** const handles = static_cast<void**>(a.pointer(0));
  if (handles == nullptr) return;
  const uint64_t now = now_ticks();
  const uint64_t id = mix(now, static_cast<uint64_t>(getpid()));
  for (int32_t rank = 0; rank < ranks; ++rank) {
    Communicator* const made = g_communicators.find_or_make(handles[rank]);
    if (made == nullptr) return;
    *made = {};
    made->id = id;
    made->ranks = ranks;
    made->rank = rank;
    if (records) write_start(row, *made, 0, now);
  }
}

}  // namespace

void collective_starts(uint32_t row, const LibraryArguments& a, const LibraryGetters& getters, uint64_t begin,
                       bool records) {
  const LibraryForm& form = kLibraryRows[row].form;
  switch (form.family) {
    case Family::NameOnly:
      if (records) write_start(row, {}, 0, begin);
      return;
    case Family::CommunicatorByRank:
    case Family::CommunicatorByIds: {
      const MadeByRank made = made_by_rank(form.family, a);
      if (!records || made.unique_id == nullptr) return;
      Communicator communicator;
      communicator.id = number_of(made.unique_id, getters);
      communicator.ranks = made.ranks;
      communicator.rank = made.rank;
      return write_start(row, communicator, 0, begin);
    }
    case Family::CommunicatorSplit: {
      Communicator* const parent = noted(a.pointer(0), getters);
      if (parent == nullptr) return;
      next(parent->splits);
      const uint64_t sequence = next(parent->calls);
      if (records) write_start(row, *parent, sequence, begin);
      return;
    }
    case Family::Collective: break;
    default: return;
  }
  Communicator* const communicator = noted(a.pointer(form.communicator), getters);
  if (communicator == nullptr) return;
  const bool pair = form.pair;
  const uint64_t sequence = next(pair ? communicator->pairs : communicator->calls);
  if (!records) return;
  format::Collective event;
  event.time = begin;
  event.communicator = communicator->id;
  event.sequence = sequence;
  event.flags = communicator->flags | (pair ? format::kCollectivePair : 0);
  write_collective(kLibraryRows[row], a, communicator->ranks, communicator->rank, event);
}

void communicator_changes(uint32_t row, const LibraryArguments& a, const LibraryGetters& getters, bool records,
                          uint32_t status) {
  const LibraryForm& form = kLibraryRows[row].form;
  constexpr uint32_t kInProgress = 7;  // ncclInProgress: a non-blocking communicator, whose handle is valid
  const bool made = status == 0 || status == kInProgress;
  switch (form.family) {
    case Family::CommunicatorByRank:
    case Family::CommunicatorByIds: {
      const MadeByRank by = made_by_rank(form.family, a);
      const auto* const handle = static_cast<void**>(a.pointer(0));
      if (!made || by.unique_id == nullptr || handle == nullptr) return;
      Communicator* const communicator = g_communicators.find_or_make(*handle);
      if (communicator == nullptr) return;
      *communicator = {};
      communicator->id = number_of(by.unique_id, getters);
      communicator->ranks = by.ranks;
      communicator->rank = by.rank;
      return;
    }
    case Family::CommunicatorSplit: {
      const Communicator* const parent = g_communicators.find(a.pointer(0));
      const auto* const handle = static_cast<void**>(a.pointer(3));
      if (!made || parent == nullptr || handle == nullptr || *handle == nullptr) return;  // a rank without a color
      const Communicator of = *parent;
      Communicator* const communicator = g_communicators.find_or_make(*handle);
      if (communicator == nullptr) return;
      *communicator = {};
      communicator->id = nccl_number_of_split(of.id, of.splits, low_word(a[1]));
      communicator->flags = of.flags;
      take_size(*communicator, *handle, getters);
      if (records) write_start(row, *communicator, 0, now_ticks());
      return;
    }
    case Family::CommunicatorsHere:
      if (made) made_in_this_process(row, a, records);
      return;
    case Family::CommunicatorEnded: g_communicators.erase(a.pointer(0)); return;
    default: return;
  }
}

void record_collective(const Recorded& call, const LibraryArguments& a, const LibraryGetters& getters) {
  int ranks = 0, rank = -1;
  if (void* const handle = a.pointer(call.row.form.communicator); call.status == 0 && handle != nullptr) {
    Communicator communicator;
    take_size(communicator, handle, getters);
    ranks = communicator.ranks, rank = communicator.rank;
  }
  format::LibraryCall event = call.event();
  write_collective(call.row, a, ranks, rank, event);
}

}  // namespace prof::preload
