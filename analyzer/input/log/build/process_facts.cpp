// What does a log contain about its process as a whole: identity, what was recorded, and what is missing?
#include "analyzer/input/log/build/staging.h"
#include "analyzer/input/log/log_definitions.h"
#include "preload/format/loss_counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>

namespace prof::analyzer {

namespace {

std::string base_name(std::string_view path) {
  const size_t slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

}  // namespace

std::string damage_text(const LogFile& log, const Damage& damage) {
  return fmt::format("{}: {} (at offset {}, up to {} bytes lost)", log.path(), damage.what, damage.offset,
                     damage.bytes_lost);
}

void describe_process(const LogInput& input, const LogDefinitions& definitions, Process& process) {
  const LogFile& log = *input.file;
  process.pid = log.header().pid;
  process.source = log.path();
  uint32_t requested = 0;  // written again when it increases
  for (const format::MetaDef& fact : definitions.meta) {
    if (fact.key == "cuda_toolkit_at_least") {
      uint32_t version = 0;
      std::from_chars(fact.value.data(), fact.value.data() + fact.value.size(), version);
      requested = std::max(requested, version);
      continue;
    }
    if (process.fact(fact.key).empty())
      process.facts.emplace_back(std::string(fact.key), definitions.shown_value(fact));
  }
  if (requested != 0) process.facts.emplace_back("cuda_toolkit_at_least", std::to_string(requested));
  process.host = process.fact("host");
  process.command_line = process.fact("command_line");
  process.executable = base_name(process.fact("executable"));
  process.coverage.stacks = !process.fact("stacks").empty();
  process.finished = log.finished();
  process.still_written = log.still_written();
  process.buffered = log.header().backing == format::Backing::Written;
  process.copied = log.counter_page().ring.copied_ns != 0;
  if (log.is_ring()) {
    process.ring = log.horizon_tick() != 0;
    process.coverage.overwritten_blocks = log.counter_page().ring.blocks;
    process.coverage.overwritten_records = log.counter_page().ring.records;
  }
  process.gpu_pending = log.counter_page().gpu_pending;
  for (const LogCounter& counter : log.counters()) {
    if (counter.value == 0) continue;
    const format::CounterInfo* const known = format::find_counter(counter.name);
    const format::Severity severity = known == nullptr ? format::Severity::Partial : known->severity;
    process.counters.push_back({std::string(counter.name), counter.value, severity});
  }
  for (const Damage& damage : log.damage()) process.damage.push_back(damage_text(log, damage));
  for (const Damage& damage : definitions.damage) process.damage.push_back(damage_text(log, damage));
}

}  // namespace prof::analyzer
