#include "analyzer/input/kineto/kineto_counters.h"

#include "analyzer/model/hardware_counters.h"

#include <algorithm>
#include <string>

namespace prof::analyzer {

namespace {

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (size_t end = 0; end != std::string_view::npos; text.remove_prefix(std::min(end + 1, text.size()))) {
    end = text.find('\n');
    lines.push_back(text.substr(0, end));
  }
  return lines;
}

int64_t moved(int64_t time_ns, int64_t by_ns) {
  return static_cast<int64_t>(static_cast<uint64_t>(time_ns) + static_cast<uint64_t>(by_ns));
}

int64_t begin_of(const Range& row) { return row.begin_ns; }
int64_t begin_of(const HostEvent& row) { return row.begin_ns; }
int64_t begin_of(const GpuOperation& row) { return row.start_ns; }
uint32_t tie_of(const Range& row) { return index(row.label); }
uint32_t tie_of(const HostEvent& row) { return row.correlation; }
uint32_t tie_of(const GpuOperation& row) { return row.correlation; }

// Of rows that are equal in the whole key the first: any of them is as good. kNone: there is none.
template <class Row> uint32_t find_row(const Column<Row>& rows, Rows of, const KinetoCounted::RowKey& key) {
  const auto first = rows.begin() + of.first, last = rows.begin() + of.last;
  auto at = std::lower_bound(first, last, key.begin_ns, [](const Row& row, int64_t t) { return begin_of(row) < t; });
  for (; at != last && begin_of(*at) == key.begin_ns; ++at) {
    if (at->end_ns == key.end_ns && tie_of(*at) == key.tie) return static_cast<uint32_t>(at - rows.begin());
  }
  return kNone;
}

template <class Row> KinetoCounted::RowKey key_of(const Row& row, uint32_t group) {
  return {begin_of(row), row.end_ns, group, tie_of(row)};
}

}  // namespace

struct KinetoCounters::Placing {
  uint32_t only_process = kNone;        // kNone: the file has several
  std::vector<uint32_t> operations_of;  // by launch: how many operations it has
};

void KinetoCounters::add(const KinetoRows& rows, const KinetoTranslation& to, size_t first_operation,
                         size_t first_range) {
  const uint64_t first_value = values_.size();
  for (const KinetoCounterValues& each : rows.counted) {
    KinetoCounted& counted = counted_.emplace_back();
    counted.metrics = to.text(each.metrics);
    counted.device = each.device;
    counted.first = first_value + each.first;
    switch (each.of) {
      case KinetoCounterValues::Own:
        counted.own_event = true;
        counted.name = to.text(each.name);
        counted.pid = to.text(each.pid);
        counted.event_ns = each.begin_ns;
        break;
      case KinetoCounterValues::Operation:
        counted.of = KinetoCounted::Operation;
        counted.row = static_cast<uint32_t>(first_operation) + each.row;
        break;
      case KinetoCounterValues::Range: {
        // Ranges may become something else before the tables are sorted, so the row's number is of no use.
        const Range& range = trace_.ranges[first_range + each.row];
        counted.of = KinetoCounted::Range;
        counted.key = key_of(range, index(range.thread));
        break;
      }
    }
  }
  values_.insert(values_.end(), rows.counter_values.begin(), rows.counter_values.end());
}

std::optional<double> KinetoCounters::value(const KinetoCounted& counted, std::string_view metric) const {
  const std::vector<std::string_view> metrics = lines_of(trace_.strings[counted.metrics]);
  const auto at = std::find(metrics.begin(), metrics.end(), metric);
  if (at == metrics.end()) return std::nullopt;
  return values_[counted.first + static_cast<uint64_t>(at - metrics.begin())];
}

void KinetoCounters::move_threads(const std::vector<uint32_t>& to) {
  if (to.empty()) return;
  for (KinetoCounted& counted : counted_) {
    if (counted.of == KinetoCounted::Range) counted.key.group = to[counted.key.group];
  }
}

void KinetoCounters::remember_rows() {
  for (KinetoCounted& counted : counted_) {
    switch (counted.of) {
      case KinetoCounted::Operation:
        counted.key = key_of(trace_.operations[counted.row], trace_.operations[counted.row].stream_index);
        break;
      case KinetoCounted::Launch:
        counted.key = key_of(trace_.host[counted.row], index(trace_.host[counted.row].thread));
        break;
      case KinetoCounted::Range:
      case KinetoCounted::Unplaced: break;
    }
  }
}

uint32_t KinetoCounters::set_of(uint32_t process, const KinetoCounted& counted) {
  std::vector<CounterSet>& sets = trace_.counters.sets;
  const auto [found, added] = sets_.try_emplace({process, counted.device, counted.metrics}, row_count(sets));
  if (!added) return found->second;
  CounterSet& set = sets.emplace_back();
  set.process = process;
  set.device = counted.device;
  const std::string names(trace_.strings[counted.metrics]);
  for (const std::string_view name : lines_of(names)) set.metrics.push_back(trace_.strings.intern(name));
  return found->second;
}

void KinetoCounters::add_row(Column<CounterRow>& rows, uint32_t of, uint32_t process, const KinetoCounted& counted) {
  CounterTable& to = trace_.counters;
  const uint32_t set = set_of(process, counted);
  rows.push_back({of, set, to.values.size()});
  for (size_t i = 0; i < to.sets[set].metrics.size(); ++i) to.values.push_back(values_[counted.first + i]);
}

void KinetoCounters::place_range(const KinetoCounted& counted, const KinetoCounted::RowKey& key) {
  const uint32_t row = key.group == kNone ? kNone : find_row(trace_.ranges, trace_.threads[key.group].ranges, key);
  if (row == kNone) {
    ++trace_.processes[mark_.processes].coverage.counters_unmatched;
  } else {
    add_row(trace_.counters.ranges, row, index(trace_.threads[key.group].process), counted);
  }
}

// Values go to the launch if that has no other operation than the one they were measured of.
void KinetoCounters::place_work(const KinetoCounted& counted, const KinetoCounted::RowKey& key,
                                const Placing& placing) {
  uint32_t process = placing.only_process, launch = kNone;
  UnplacedWork work;
  work.name = counted.name;
  work.why = counted.why;
  work.kernel = counted.of_kernel;
  if (counted.of == KinetoCounted::Launch) {
    launch = find_row(trace_.host, trace_.threads[key.group].host, key);
  } else if (counted.of == KinetoCounted::Operation) {
    const uint32_t row = find_row(trace_.operations, trace_.streams[key.group].operations, key);
    process = index(trace_.process_of(StreamId{key.group}));
    if (row != kNone) {
      launch = trace_.operations[row].launch;
      work.name = trace_.kernels[trace_.operations[row].detail].name;
      const bool linked = launch != kNone;
      if (linked && placing.operations_of[launch] != 1) launch = kNone;
      work.why = trace_.strings.intern(linked ? "it launched more, as graphs do" : "its launch is not in the trace");
    }
  }
  CounterTable& to = trace_.counters;
  if (launch != kNone) {
    add_row(to.launches, launch, process, counted);
    return;
  }
  add_row(to.of_unplaced, row_count(to.unplaced), process, counted);
  to.unplaced.push_back(work);
  ++trace_.processes[process == kNone ? mark_.processes : process].coverage.counters_unplaced;
}

void KinetoCounters::place(int64_t moved_ns) {
  const CounterMark before{trace_.counters.launches.size(), trace_.counters.ranges.size()};
  if (!counted_.empty()) {
    Placing placing;
    if (trace_.processes.size() - mark_.processes == 1) placing.only_process = mark_.processes;
    placing.operations_of.resize(trace_.host.size());
    for (uint32_t row = mark_.operations; row < trace_.operations.size(); ++row) {
      if (trace_.operations[row].linked()) ++placing.operations_of[trace_.operations[row].launch];
    }
    for (const KinetoCounted& counted : counted_) {
      KinetoCounted::RowKey key = counted.key;
      key.begin_ns = moved(key.begin_ns, moved_ns);
      key.end_ns = moved(key.end_ns, moved_ns);
      if (counted.of == KinetoCounted::Range) {
        place_range(counted, key);
      } else {
        place_work(counted, key, placing);
      }
    }
  }
  order_counters(trace_, before);
  counted_ = {};
  values_ = {};
}

}  // namespace prof::analyzer
