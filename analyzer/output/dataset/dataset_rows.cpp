#include "analyzer/output/dataset/dataset_rows.h"

#include "analyzer/analysis/collectives/process_ranks.h"
#include "analyzer/analysis/collectives/rank_blame.h"
#include "analyzer/output/dataset/process_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace prof::analyzer::dataset {

namespace {

constexpr std::array kLaunchReasons = std::to_array<std::string_view>({
#define PROF_LAUNCH_REASON(name, text) text,
#include "analyzer/model/coverage.def"
#undef PROF_LAUNCH_REASON
});
constexpr std::array kOperationReasons = std::to_array<std::string_view>({
#define PROF_OPERATION_REASON(name, text) text,
#include "analyzer/model/coverage.def"
#undef PROF_OPERATION_REASON
});
constexpr std::array kUnusableTimes = std::to_array<std::string_view>({
#define PROF_UNUSABLE_TIME(name, text) text,
#include "analyzer/model/coverage.def"
#undef PROF_UNUSABLE_TIME
});
constexpr std::array kStackGaps = std::to_array<std::string_view>({
#define PROF_STACK_GAP(name, flags, text) text,
#include "analyzer/model/coverage.def"
#undef PROF_STACK_GAP
});

}  // namespace

int64_t id_of_text(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : text) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  hash = (hash ^ hash >> 32) * 0x9e3779b97f4a7c15;
  return static_cast<int64_t>((hash ^ hash >> 29) >> 1);
}

Identity identity_of(const Trace& trace, ProcessId id) {
  const Process& process = trace.processes[index(id)];
  Identity identity;
  if (process.rank) identity.rank = *process.rank;
  identity.host = process.host;
  identity.process_id = id_of_text(fmt::format("{}\n{}\n{}\n{}\n{}", process.host, process.fact("rank"), process.pid,
                                               trace.start_realtime_ns, process.format));
  return identity;
}

ProcessRows::ProcessRows(Shared& shared, ProcessId process, Identity identity)
    : shared_(shared),
      trace_(shared.trace),
      process_(process),
      identity_(std::move(identity)),
      zero_ns_(static_cast<int64_t>(shared.trace.start_realtime_ns)) {
  for (uint32_t t = 0; t < trace_.threads.size(); ++t) {
    if (trace_.threads[t].process == process_) threads_.push_back(t);
  }
}

void ProcessRows::all() {
  if (wants(TableId::processes)) processes();
  if (wants(TableId::anchors)) anchors();
  if (wants(TableId::operations) || wants(TableId::names)) operations();
  if (wants(TableId::calls) || wants(TableId::names)) calls();
  if (wants(TableId::ranges)) ranges();
  if (wants(TableId::collectives)) collectives();
  if (wants(TableId::gaps)) gaps();
  if (wants(TableId::samples) || wants(TableId::names)) samples();
  if (wants(TableId::coverage)) coverage();
  if (wants(TableId::names)) names();
  if (wants(TableId::collective_calls)) collective_calls();
  if (wants(TableId::pair_calls)) pair_calls();
  if (wants(TableId::ranks) || wants(TableId::rank_items)) ranks();
  if (wants(TableId::clock_evidence)) clock_evidence();
}

void ProcessRows::end_row(TableBatch& batch) {
  batch.end_row();
  if (batch.rows() < kRowsOfBatch) return;
  end_table(batch);
  if (wants(batch.id())) {
    shared_.target.full(batch);
  } else {
    batch.clear();
  }
}

void ProcessRows::processes() {
  namespace column = dataset::processes;
  TableBatch& batch = shared_.target.batch(TableId::processes);
  const Process& process = trace_.processes[index(process_)];
  const auto row = [&](const Device* device) {
    batch[column::pid].add(process.pid);
    batch[column::executable].add_text(process.executable);
    batch[column::command_line].add_text(process.command_line);
    batch[column::source].add_text(process.source);
    batch[column::format].add_text(process.format);
    batch[column::zero_ns].add(zero_ns_);
    batch[column::zero_monotonic_ns].add_if(process.is_prof_log(), trace_.start_monotonic_ns);
    batch[column::last_ns].add(time(process.last_ns));
    batch[column::finished].add(process.finished);
    batch[column::device].add_if(device != nullptr, device == nullptr ? 0 : device->ordinal);
    batch[column::device_name].add_text(device == nullptr ? std::string_view() : device->name);
    batch[column::device_uuid].add_text(device == nullptr ? std::string_view() : device->uuid);
    batch[column::schema_version].add(kDatasetVersion);
    batch[column::end_ns].add(time(std::max(process.last_ns, process.alive_ns)));
    batch[column::calls_lost].add_text(why_calls_lost(process));
    batch[column::open_end].add_text(why_end_is_open(process));
    batch[column::open_start].add_text(why_start_is_open(process));
    batch[column::world_size].add(world_size(process));
    end_row(batch);
  };
  bool any = false;
  for (const Device& device : trace_.devices) {
    if (device.process != process_) continue;
    row(&device);
    any = true;
  }
  if (!any) row(nullptr);
  end_table(batch);
}

void ProcessRows::anchors() {
  namespace column = dataset::anchors;
  TableBatch& batch = shared_.target.batch(TableId::anchors);
  for (const ClockReading& reading : trace_.processes[index(process_)].clock_readings) {
    batch[column::monotonic_ns].add(reading.monotonic_ns);
    batch[column::realtime_ns].add(reading.realtime_ns);
    end_row(batch);
  }
  end_table(batch);
}

void ProcessRows::coverage() {
  namespace column = dataset::coverage;
  TableBatch& batch = shared_.target.batch(TableId::coverage);
  const Process& process = trace_.processes[index(process_)];
  const auto row = [&](std::string_view kind, std::string_view name, std::string_view reason,
                       std::optional<uint64_t> value, std::string_view text) {
    batch[column::kind].add_text(kind);
    batch[column::name].add_text(name);
    batch[column::reason].add_text(reason);
    batch[column::value].add(value);
    batch[column::text].add_text(text);
    end_row(batch);
  };
  const auto count = [&](std::string_view name, uint64_t value) { row("count", name, {}, value, {}); };
  const auto reasons = [&](std::string_view name, std::span<const uint64_t> counts,
                           std::span<const std::string_view> texts) {
    for (size_t i = 0; i < texts.size(); ++i) {
      if (counts[i] != 0) row("count", name, texts[i], counts[i], {});
    }
  };
  const Coverage& of = process.coverage;
  count("launches", of.launches);
  count("launches_with_gpu_time", of.launches_with_gpu_time);
  reasons("launches_without_gpu_time", of.launches_without, kLaunchReasons);
  count("operations", of.operations);
  count("operations_with_launch", of.operations_linked);
  reasons("operations_without_launch", of.operations_without, kOperationReasons);
  reasons("operations_left_out", of.operations_unusable, kUnusableTimes);
  count("events_left_out", of.events_not_timed);
  if (of.stacks) {
    count("launches_with_stack", of.launches_with_stack);
    reasons("launches_with_incomplete_stack", of.launches_stack_gap, kStackGaps);
  }
  count("overwritten_records", of.overwritten_records);
  count("host_samples", of.host_samples);
  count("hardware_samples", of.samples);
  for (const CounterValue& counter : process.counters) row("loss", counter.name, {}, counter.value, {});
  for (const std::string& damage : process.damage) row("damage", "damage", {}, {}, damage);
  for (const std::string& partial : process.partial) row("partial", "partial", {}, {}, partial);
  for (const auto& [name, text] : process.facts) row("fact", name, {}, {}, text);
  end_table(batch);
}

void add_rows(const Trace& trace, Target& target, const std::function<bool(const Identity&)>& take) {
  std::vector<uint32_t> order(trace.processes.size());
  std::iota(order.begin(), order.end(), 0U);
  constexpr uint32_t kLast = std::numeric_limits<uint32_t>::max();
  const auto rank = [&](uint32_t process) { return trace.processes[process].rank.value_or(kLast); };
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return rank(a) < rank(b); });
  Shared shared{trace, target};
  for (const uint32_t process : order) {
    Identity identity = identity_of(trace, ProcessId{process});
    if (take(identity)) ProcessRows(shared, ProcessId{process}, std::move(identity)).all();
  }
}

}  // namespace prof::analyzer::dataset
