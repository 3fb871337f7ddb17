// See log_health.h.
#include "analyzer/input/log/log_health.h"

#include "analyzer/input/log/log_decode.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <thread>

namespace prof::analyzer {

namespace {

// Counts of one worker over its share of the blocks.
struct Tally {
  std::vector<uint64_t> by_kind = std::vector<uint64_t>(kMaxKind + 1);          // by this prof's numbers
  std::vector<uint64_t> unknown_by_kind = std::vector<uint64_t>(kMaxKind + 1);  // by the log's numbers
  std::map<uint32_t, uint64_t> by_thread;
  std::set<uint32_t> ended;
  std::vector<Damage> damage;
  uint64_t launches = 0;
  uint64_t last_tick = 0;
  uint32_t thread = 0;  // of the block being decoded

  template <class T> void operator()(const T& record, RecordPlace) {
    ++by_kind[T::kKind];
    if constexpr (requires { record.depth; }) ++launches;
    if constexpr (requires { record.end; }) {
      last_tick = std::max(last_tick, record.end);
    } else if constexpr (requires { record.time; }) {
      last_tick = std::max(last_tick, record.time);
    } else if constexpr (std::is_same_v<T, format::ClockAnchor>) {
      last_tick = std::max(last_tick, record.tick);
    }
    if constexpr (std::is_same_v<T, format::ThreadEnd>) ended.insert(thread);
  }
  void unknown_kind(const KindSignature& kind) { ++unknown_by_kind[kind.kind]; }

  void count(const LogFile& log, const BlockRef& block);
};

// The handler of decode_block: accepts every kind, and unknown kinds by their number.
struct Counting {
  Tally& tally;
  template <class T> void operator()(const T& record, RecordPlace place) { tally(record, place); }
  void unknown(const KindSignature& kind, RecordPlace) { tally.unknown_kind(kind); }
};

void Tally::count(const LogFile& log, const BlockRef& block) {
  thread = block.thread;
  const DecodeResult result = decode_block(log, block, Counting{*this});
  by_thread[block.thread] += result.records;
  if (result.bad_record) damage.push_back(record_damage(block, result));
  if (block.sealed && block.readable == block.committed && !result.bad_record && result.records != block.records) {
    damage.push_back(
        {DamageKind::BadBlockHeader, block.offset, 0,
         fmt::format("a sealed block says it holds {} records and holds {}", block.records, result.records)});
  }
}

void count_all(const LogFile& log, Tally& total) {
  const std::vector<BlockRef>& blocks = log.blocks();
  const size_t workers = blocks.size() < 4096 ? 1 : std::max(1u, std::thread::hardware_concurrency());
  std::vector<Tally> tallies(workers);
  const auto work = [&](size_t w) {
    for (size_t i = blocks.size() * w / workers; i < blocks.size() * (w + 1) / workers; ++i)
      tallies[w].count(log, blocks[i]);
  };
  std::vector<std::thread> threads;
  for (size_t w = 1; w < workers; ++w) threads.emplace_back(work, w);
  work(0);
  for (std::thread& thread : threads) thread.join();
  for (const Tally& tally : tallies) {
    for (size_t kind = 0; kind <= kMaxKind; ++kind) {
      total.by_kind[kind] += tally.by_kind[kind];
      total.unknown_by_kind[kind] += tally.unknown_by_kind[kind];
    }
    for (const auto& [thread, records] : tally.by_thread) total.by_thread[thread] += records;
    total.ended.insert(tally.ended.begin(), tally.ended.end());
    total.damage.insert(total.damage.end(), tally.damage.begin(), tally.damage.end());
    total.launches += tally.launches;
    total.last_tick = std::max(total.last_tick, tally.last_tick);
  }
}

void list_threads(const LogFile& log, const Tally& tally, const LogClock& clock, LogHealth& health) {
  std::map<uint32_t, const BlockRef*> newest;  // event blocks are sorted by sequence
  for (const BlockRef& block : log.blocks()) {
    if (block.kind == format::BlockKind::Events) newest[block.thread] = &block;
  }
  for (const auto& [ordinal, records] : tally.by_thread) {
    ThreadHealth thread;
    const format::ThreadDef& def = health.definitions.threads[static_cast<format::ThreadOrdinal>(ordinal)];
    thread.ordinal = ordinal;
    thread.tid = def.tid;
    thread.name = def.name;
    thread.records = records;
    thread.ended = tally.ended.contains(ordinal);
    const auto block = newest.find(ordinal);
    if (!thread.ended && block != newest.end() && block->second->in_call_api != 0) {
      const std::string_view api = health.definitions.apis[static_cast<format::ApiId>(block->second->in_call_api)].name;
      thread.in_call = api.empty() ? "a function whose definition is lost" : api;
      thread.in_call_since_ns = clock.ns(block->second->in_call_tick);
    }
    health.threads.push_back(thread);
  }
}

void list_counters(const LogFile& log, LogHealth& health) {
  for (const LogCounter& counter : log.counters()) {
    if (counter.value == 0) continue;
    const format::CounterInfo* const known = format::find_counter(counter.name);
    health.counters.push_back({counter.name, counter.value, known == nullptr ? format::Severity::Info : known->severity,
                               known == nullptr ? std::string_view{} : known->help});
  }
}

}  // namespace

bool LogHealth::whole() const {
  bool lossless = state == LogState::Closed && damage.empty();
  for (const CounterHealth& counter : counters) lossless &= counter.severity != format::Severity::Loss;
  return lossless;
}

LogHealth examine_log(const LogFile& log) {
  LogHealth health;
  health.state = log.finished() ? LogState::Closed : log.still_written() ? LogState::StillWritten : LogState::Killed;
  health.definitions = load_definitions(log);
  const LogClock clock = make_clock(log, health.definitions);
  Tally tally;
  count_all(log, tally);
  for (const KindSignature& kind : log.kinds().by_number()) {
    if (kind.plan == KindPlan::Absent) continue;
    const bool known = kind.plan != KindPlan::Unknown;
    const uint64_t records = known ? tally.by_kind[compiled_kind(kind.name)] : tally.unknown_by_kind[kind.kind];
    if (records != 0) health.records_by_kind[kind.kind] = records;
    health.records += records;
    if (!known) health.unknown_records += records;
  }
  health.launches = tally.launches;
  health.begin_ns = clock.ns(log.header().start_tick);
  health.end_ns = std::max(health.begin_ns, tally.last_tick == 0 ? 0 : clock.ns(tally.last_tick));
  if (log.horizon_tick() != 0) health.horizon_ns = clock.ns(log.horizon_tick());
  health.realtime_offset_ns = clock.realtime_offset_ns();
  list_threads(log, tally, clock, health);
  list_counters(log, health);
  health.damage = log.damage();
  health.damage.insert(health.damage.end(), tally.damage.begin(), tally.damage.end());
  for (const Damage& damage : health.definitions.damage) {
    if (damage.bytes_lost == 0) health.damage.push_back(damage);  // the others were found again while counting
  }
  std::stable_sort(health.damage.begin(), health.damage.end(),
                   [](const Damage& a, const Damage& b) { return a.offset < b.offset; });
  for (const Damage& damage : health.damage) health.bytes_lost += damage.bytes_lost;
  return health;
}

std::string_view severity_name(format::Severity severity) {
  switch (severity) {
    case format::Severity::Info: return "info";
    case format::Severity::Partial: return "partial";
    case format::Severity::Loss: return "loss";
  }
  return "";
}

}  // namespace prof::analyzer
