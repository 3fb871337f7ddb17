// The rows that one stretch of a trace becomes, a struct for each kind. Texts, tracks, streams and kernels have numbers
// of the stretch, each a type of its own; KinetoTranslation turns them into rows of the trace. Plain data, filled on
// any core: nothing here is shared.
#pragma once

#include "analyzer/base/text_arena.h"
#include "analyzer/base/text_index.h"
#include "analyzer/input/kineto/kineto_category.h"
#include "analyzer/input/kineto/kineto_tally.h"
#include "analyzer/model/gpu_rows.h"
#include "analyzer/model/host_rows.h"
#include "analyzer/model/range_rows.h"
#include "analyzer/model/row_ids.h"

#include <cstdint>
#include <vector>

namespace prof::analyzer {

// Numbers within a stretch, to be read with index().
enum class StretchText : uint32_t {};    // of KinetoRows::texts; 0: the empty text
enum class StretchTrack : uint32_t {};   // of KinetoRows::tracks
enum class StretchStream : uint32_t {};  // of KinetoRows::streams
enum class StretchKernel : uint32_t {};  // of KinetoRows::kernels
enum class StretchDetail : uint32_t {};  // 1 + row of KinetoRows::details; 0: none

inline constexpr StretchStream kNoStream{kNone};

// One "pid", "tid" pair of the file.
struct KinetoTrack {
  StretchText pid{}, tid{};
};

// Where a GPU event ran, as far as it says so.
struct KinetoStream {
  StretchText pid{};
  uint32_t device = 0, context = 0;
  uint32_t number = 0;
  bool in_order = true;  // false: the event does not name its stream, or the device is not known here
  bool operator==(const KinetoStream&) const = default;
};

// A kernel with its launch shape.
struct KinetoKernel {
  StretchText name{};
  uint32_t grid[3] = {}, block[3] = {};
  uint32_t registers = 0, shared_bytes = 0;
  bool operator==(const KinetoKernel&) const = default;
};

// The name of a range or mark. Only `prof trace` writes a domain (that of NVTX); empty: none.
struct KinetoLabel {
  StretchText name{}, domain{};
};

// Metadata: "process_name", "process_labels" or "thread_name".
enum class KinetoNamed : uint8_t { Process, Labels, Thread };
struct KinetoName {
  KinetoTrack track;
  StretchText name{};
  KinetoNamed of = KinetoNamed::Process;
};

// A call of the CUDA runtime or driver.
struct KinetoCall {
  int64_t begin_ns = 0, end_ns = 0;
  uint64_t external_id = 0;  // 0: none
  StretchTrack track{};
  StretchText name{};
  uint32_t correlation = 0;  // 0: none
};

// A kernel, copy or memset on the GPU.
struct KinetoOperation {
  int64_t start_ns = 0, end_ns = 0;
  uint64_t external_id = 0;  // 0: none
  uint64_t graph_node = 0;   // graph_node_id(); 0: launched outside graphs
  uint64_t bytes = 0;        // copies and memsets
  GpuKind kind = GpuKind::Kernel;
  StretchStream stream{};
  uint32_t correlation = 0;
  StretchKernel kernel{};    // kernels
  StretchDetail numbers{};   // kernels: FLOPs and bytes that the event has itself
  CopyWords copy;            // copies
  uint32_t peer_source = 0;  // copies between devices: 1 + device; 0: not known
  uint32_t peer_destination = 0;
  uint32_t memory_kind = 0;  // memsets: CUPTI's number
};

// A synchronisation, as CUPTI reported it.
struct KinetoSync {
  int64_t begin_ns = 0, end_ns = 0;
  uint32_t correlation = 0;
  StretchStream stream = kNoStream;     // that waits or is waited for
  StretchStream waits_for = kNoStream;  // on which the event was recorded
  uint32_t record_correlation = 0;      // of the call that recorded the event; 0: not known
  uint32_t event_id = 0;
  SyncKind kind{};
};

// A range that the writer of the trace projected on a stream.
struct KinetoGpuAnnotation {
  int64_t start_ns = 0, end_ns = 0;
  StretchStream stream{};
  StretchText name{};
};

// An operator, annotation or Python function: one event with start and duration.
struct KinetoRange {
  int64_t begin_ns = 0, end_ns = 0;
  StretchTrack track{};
  KinetoLabel label;
  StretchDetail detail{};
  RangeKind kind = RangeKind::Annotation;
  bool foreign = false;  // of a device that is not known here
};

// An instant with a name.
struct KinetoMark {
  int64_t time_ns = 0;
  StretchTrack track{};
  KinetoLabel label;
};

// Half of a range that is written as two events. B and E nest on their thread; b and e belong together by `key`.
enum class KinetoEdgeKind : uint8_t { NestedBegin, NestedEnd, AsyncBegin, AsyncEnd };
struct KinetoEdge {
  int64_t time_ns = 0;
  StretchTrack track{};
  KinetoLabel label;
  StretchText key{};  // async: category, id and process
  StretchDetail detail{};
  KinetoEdgeKind edge = KinetoEdgeKind::NestedBegin;
  RangeKind kind = RangeKind::Annotation;
};

// What an event knows of an operator beyond its name and time: see OperatorDetail.
struct KinetoDetail {
  uint64_t external_id = 0;
  int64_t sequence = -1;
  uint64_t flops = 0;
  uint32_t forward_thread = 0;
  StretchText dims{}, types{}, concrete{}, stack{}, other{};
  bool operator==(const KinetoDetail&) const = default;
};

// An allocation or release of PyTorch's allocator: see MemoryEvent.
struct KinetoMemory {
  int64_t time_ns = 0;
  int64_t bytes = 0;
  uint64_t address = 0, allocated = 0, reserved = 0;
  StretchTrack track{};
  uint32_t device = kNone;
};

// One end of an arrow ("ac2g") from a call to its GPU operation. Needed only where correlation ids of processes
// collide.
struct KinetoArrowEnd {
  int64_t time_ns = 0;
  uint64_t id = 0;
  StretchText pid{};
  uint32_t stream = kNone;  // end at the operation: the number of its stream
  bool at_call = false;
};

// Values of hardware counters, in the "args" of a kernel, of a range or of an event of their own.
struct KinetoCounterValues {
  enum Of : uint8_t { Operation, Range, Own } of = Own;
  uint32_t row = 0;         // of KinetoRows::operations or ranges
  StretchText metrics{};    // names of the metrics, one a line
  uint32_t device = kNone;  // ordinal; kNone: not known
  uint64_t first = 0;       // of KinetoRows::counter_values, as many as there are metrics
  // Only events of their own:
  StretchText name{}, pid{};
  int64_t begin_ns = 0;  // only the order of these times has a meaning
};

// Rows of a table have 32-bit numbers.
template <class T> uint32_t row_count(const T& table) { return static_cast<uint32_t>(table.size()); }

struct KinetoRows {
  TextIndex texts;
  TextArena made;  // the bytes of texts that are not in the input as such
  std::vector<KinetoTrack> tracks;
  std::vector<KinetoStream> streams;
  std::vector<KinetoKernel> kernels;

  std::vector<KinetoName> names;
  std::vector<KinetoCall> calls;
  std::vector<KinetoOperation> operations;
  std::vector<KinetoSync> syncs;
  std::vector<KinetoGpuAnnotation> gpu_annotations;
  std::vector<KinetoRange> ranges;
  std::vector<KinetoMark> marks;
  std::vector<KinetoEdge> edges;
  std::vector<KinetoDetail> details;
  std::vector<KinetoMemory> memory;
  std::vector<KinetoArrowEnd> arrows;
  std::vector<KinetoCounterValues> counted;
  std::vector<double> counter_values;

  KinetoTally tally;
  int64_t last_ns = INT64_MIN;  // end of the last event

  KinetoRows() { clear(); }
  // Keeps the memory for the next stretch.
  void clear();
};

}  // namespace prof::analyzer
