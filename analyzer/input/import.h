// The shared end of imports of other tools' traces. Importers append rows in any order, then finish_import() makes a
// model of them. Logs never use it: their builder places rows without sorting.
#pragma once

#include "analyzer/model/call_class.h"
#include "analyzer/model/trace.h"

#include <string_view>

namespace prof::analyzer {

// The length of each table before an import started.
struct ImportMark {
  uint32_t processes, threads, devices, streams, host_streams;
  uint32_t host, operations, ranges, marks, memory, syncs, gpu_annotations;
  explicit ImportMark(const Trace& trace);
};

// Completes an import. For rows after the mark, the importer fills:
//   processes, threads (process, tid, name), devices (process, ordinal), streams (device, context, number)
//   host         begin, end, thread, correlation, word (kind and api: see call_kind()); subject if known
//   operations   start, end, stream_index, kind, detail, bytes, correlation, graph_node; `launch` only if it is certain
//   ranges       begin, end, thread, label, kind, style (PushPop or StartEnd), payload as in trace.h
//                path: a number that orders ranges with equal times, the enclosing one first (overwritten)
//   marks, memory, syncs, gpu_annotations: everything except rows of other tables
// Rows may be in any order. Times are in ns since `zero_realtime_ns`.
//
// Afterwards, rows are in the order of trace.h. Times count from the model's zero, which this import sets if the model
// was empty. These fields are complete:
//   ranges       parent, level, children and path
//   operations   launch: same process and correlation id. Of several calls with one id it is the outermost, then the
//                latest that started before the operation
//   launches     host stream
//   syncs        call
//   processes    Coverage of each new process
// O(n log n), in place. Returns the offset that was added to the times of the new rows, in ns.
int64_t finish_import(Trace& trace, const ImportMark& mark, int64_t zero_realtime_ns);

// The index into Trace::apis for a name, found through the string table. A lookup takes constant time.
class ApiNames {
 public:
  explicit ApiNames(Trace& trace);
  uint32_t intern(std::string_view name);

 private:
  Trace& trace_;
  std::vector<uint32_t> of_string_;  // StringId -> index, 0: none
};

}  // namespace prof::analyzer
