// Which rows does a model give in each table of a dataset (dataset_tables.def)? Knows no file format, so that values
// are tested without a writer. The columns are the only place where times become nanoseconds since 1970: CLOCK_REALTIME
// of the host that recorded, at the start of the input, plus the time of the model.
#pragma once

#include "analyzer/model/trace.h"
#include "analyzer/output/dataset/table_batch.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

namespace prof::analyzer::dataset {

// Rows of a batch when it is written: 40 MB of memory in the widest table.
inline constexpr size_t kRowsOfBatch = size_t{1} << 18;

// Where rows go. Tests keep them; a dataset writes them.
class Target {
 public:
  virtual ~Target() = default;
  virtual bool wants(TableId table) const = 0;
  virtual TableBatch& batch(TableId table) = 0;
  virtual void full(TableBatch& batch) = 0;  // it has kRowsOfBatch rows or more; it must be empty afterwards
};

// A number from 0 to 2^63 - 1. Equal texts have equal numbers in all processes and versions: FNV-1a of 64 bits, mixed.
int64_t id_of_text(std::string_view text);

// The identity of a process of a model that was read from one file. The id is a number from 0 to 2^63 - 1 that follows
// from host, rank, pid and the start of the recording. So it is the same for every export of the file.
Identity identity_of(const Trace& trace, ProcessId id);

// Adds all rows of a model: process by process, in order of rank and then as in the model; in each process by time. A
// process is left out if `take` returns false for its identity.
void add_rows(const Trace& trace, Target& target, const std::function<bool(const Identity&)>& take);

}  // namespace prof::analyzer::dataset
