// What importers of other tools' traces share: they append rows as they find them, then finish_import() makes a model of
// them. Logs do not pass through here: their builder places rows without sorting.
#pragma once

#include "analyzer/model/call_class.h"
#include "analyzer/model/trace.h"

#include <string_view>

namespace prof::analyzer {

// How long each table was before an import began.
struct ImportMark {
  uint32_t processes, threads, devices, streams, host_streams;
  uint32_t host, operations, ranges, marks, memory, syncs, gpu_annotations;
  explicit ImportMark(const Trace& trace);
};

// An import in progress. The importer fills, for rows behind the mark:
//   processes, threads (process, tid, name), devices (process, ordinal), streams (device, context, number)
//   host         begin, end, thread, correlation, word (kind and api: see call_kind()); subject where known
//   operations   start, end, stream_index, kind, detail, bytes, correlation, graph_node; `launch` only if it is certain
//   ranges       begin, end, thread, label, kind, style (PushPop or StartEnd), payload as trace.h says; `path`: a number by
//                which ranges of equal times are put in order, an enclosing one first (overwritten)
//   marks, memory, syncs, gpu_annotations: everything but rows of other tables
// in any order, with times in ns since `zero_realtime_ns`.
//
// Afterwards rows are in the order trace.h promises, times count from the model's zero (made from this import if the model
// was empty), ranges have parent, level, children and path, operations their launch (same process, same correlation id;
// with several calls of one id the outermost, then the latest that began before the operation), launches their host stream,
// syncs their call, and each new process its Coverage. O(n log n), in place.
// Returns what was added to the times of the new rows.
int64_t finish_import(Trace& trace, const ImportMark& mark, int64_t zero_realtime_ns);

// Index into Trace::apis for the name; interned through the string table, linear in nothing.
class ApiNames {
 public:
  explicit ApiNames(Trace& trace);
  uint32_t intern(std::string_view name);

 private:
  Trace& trace_;
  std::vector<uint32_t> of_string_;  // StringId -> index, 0: none
};

}  // namespace prof::analyzer
