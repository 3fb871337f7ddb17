// Values of hardware counters in a trace.
#pragma once

#include "analyzer/input/import.h"
#include "analyzer/input/kineto/kineto_rows.h"
#include "analyzer/input/kineto/kineto_translation.h"
#include "analyzer/model/trace.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

namespace prof::analyzer {

// Values of one set of metrics, and what they were measured of.
struct KinetoCounted {
  enum Of : uint8_t { Operation, Range, Launch, Unplaced } of = Unplaced;
  bool own_event = false;   // they are an event of their own; else in the event of the operation or range
  bool of_kernel = true;    // else of all that ran
  uint32_t row = kNone;     // of Trace::operations or Trace::host, until finish_import() sorts these
  uint32_t device = kNone;  // ordinal; kNone: not known
  StringId metrics{};       // names, one a line
  StringId pid{};           // events of their own
  StringId name{};          // likewise: of the kernel
  StringId why{};           // no launch: the reason
  uint64_t first = 0;       // index of the first value
  int64_t event_ns = 0;     // events of their own: only the order of these times has a meaning

  // By these a row is found again after finish_import() has sorted the tables.
  struct RowKey {
    int64_t begin_ns = 0, end_ns = 0;
    uint32_t group = 0;  // launches, ranges: ThreadId; operations: StreamId. kNone: the thread was removed
    uint32_t tie = 0;    // launches, operations: correlation; ranges: LabelId
  } key;
};

// KinetoCounters holds the values of hardware counters from the event in which they stand until the model is sorted,
// and then puts them into Trace::counters, at their launch or range, or as unplaced work with the reason. Values in the
// "args" of a kernel or range belong to it; join_counters() finds the kernel or launch of the others.
class KinetoCounters {
 public:
  KinetoCounters(Trace& trace, const ImportMark& mark) : trace_(trace), mark_(mark) {}

  // The values of one stretch, whose operations and ranges were added from these rows on.
  void add(const KinetoRows& rows, const KinetoTranslation& to, size_t first_operation, size_t first_range);
  std::vector<KinetoCounted>& counted() { return counted_; }
  // Empty: that metric was not measured.
  std::optional<double> value(const KinetoCounted& counted, std::string_view metric) const;

  // `to`: the new row of each thread, kNone for a removed one; empty: no thread has moved.
  void move_threads(const std::vector<uint32_t>& to);
  // Before finish_import(), with all rows in place.
  void remember_rows();
  // After finish_import(), which has added `moved_ns` to all times. Frees the values.
  void place(int64_t moved_ns);

 private:
  struct Placing;
  uint32_t set_of(uint32_t process, const KinetoCounted& counted);
  void add_row(Column<CounterRow>& rows, uint32_t of, uint32_t process, const KinetoCounted& counted);
  void place_range(const KinetoCounted& counted, const KinetoCounted::RowKey& key);
  void place_work(const KinetoCounted& counted, const KinetoCounted::RowKey& key, const Placing& placing);

  Trace& trace_;
  const ImportMark& mark_;
  std::vector<KinetoCounted> counted_;
  std::vector<double> values_;
  std::map<std::tuple<uint32_t, uint32_t, StringId>, uint32_t> sets_;  // (process, device, metrics)
};

}  // namespace prof::analyzer
