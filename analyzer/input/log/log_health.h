// Offline. Is a log complete, and if not, what is missing? Decodes every block once. Used by `prof check`.
#pragma once

#include "analyzer/input/log/log_definitions.h"
#include "preload/format/loss_counters.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace prof::analyzer {

enum class LogState { Closed, Killed, StillWritten };

struct ThreadHealth {
  uint32_t ordinal = 0;
  uint32_t tid = 0;  // 0: its definition is lost
  std::string_view name;
  uint64_t records = 0;
  bool ended = false;             // it has a record of its end
  std::string_view in_call;       // the call that it was in at the end of the log; empty: no recorded call
  uint64_t in_call_since_ns = 0;  // monotonic
};

struct CounterHealth {
  std::string_view name;
  uint64_t value = 0;
  format::Severity severity = format::Severity::Info;
  std::string_view help;  // empty: a loss counter that this prof does not know
};

struct LogHealth {
  LogState state = LogState::Closed;
  LogDefinitions definitions;
  std::map<uint32_t, uint64_t> records_by_kind;  // kind number of the log -> records
  uint64_t records = 0;
  uint64_t unknown_records = 0;       // of kinds that this prof does not know
  uint64_t launches = 0;              // kernel, memory and graph launches
  uint64_t begin_ns = 0, end_ns = 0;  // monotonic: creation of the log; its last host record
  int64_t realtime_offset_ns = 0;
  std::optional<uint64_t> horizon_ns;   // of a ring that was overwritten, monotonic: all later events are in the log
  std::vector<ThreadHealth> threads;    // by ordinal
  std::vector<CounterHealth> counters;  // only counters that are not 0
  std::vector<Damage> damage;           // by offset
  uint64_t bytes_lost = 0;

  // Whether everything is there that should have been recorded. Less exactness (Severity::Partial) does not count.
  bool whole() const;
};

LogHealth examine_log(const LogFile& log);

std::string_view severity_name(format::Severity severity);

}  // namespace prof::analyzer
