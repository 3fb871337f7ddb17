// How did the program describe what it did? Ranges and marks with labels and payloads, counters and names: tables of
// Trace (trace.h).
//
// A *range* is any named interval of a host thread that is no CUDA call: an NVTX range of prof, nsys or nvprof, an
// operator or annotation of torch.profiler, a Python function. Logs have only NVTX ranges. Reports about operators
// cover all kinds of ranges.
#pragma once

#include "analyzer/base/strings.h"
#include "analyzer/model/row_ids.h"

#include <cstdint>
#include <optional>

namespace prof::analyzer {

enum class RangeStyle : uint8_t { PushPop = 0, StartEnd = 1, Mark = 2 };

// The source of a range. Annotation: torch.profiler's record_function and ProfilerStep; Overhead: the profiler's own
// time.
enum class RangeKind : uint8_t { Nvtx = 0, Operator = 1, Annotation = 2, Python = 3, Overhead = 4 };

// One range or mark. 48 bytes. Push/pop style means nested in time on its thread, whatever its source.
struct Range {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;  // marks: equal to start
  uint64_t payload =
      0;  // NVTX: the payload, or its row of Trace::payloads; other kinds: row of Trace::details, 0 if there is none
  ThreadId thread{};  // thread that opened it
  LabelId label{};
  PathId path{};  // push/pop: all open ranges of the thread except Python's, this one last
  uint32_t parent =
      kNone;  // push/pop: row of Trace::ranges; NVTX: the enclosing range of the same domain, else of the thread
  uint16_t level = 0;        // push/pop: number of such ranges around it
  uint16_t children = 0;     // push/pop: number of ranges directly inside it, at most 65535
  uint8_t payload_type = 0;  // NVTX's nvtxPayloadType_t; kExtendedPayload: `payload` is a row
  RangeStyle style{};
  bool unfinished : 1 = false;    // never closed: ends with the last record of its process, or see closed_early
  bool crosses : 1 = false;       // push/pop: closed while a range of another domain, opened later, was still open
  bool other_thread : 1 = false;  // start/end: another thread closed it; logs: Trace::ended_by has that thread
  bool ended_again : 1 = false;   // start/end: closed again after its end
  bool deferred : 1 = false;      // submitted later, with time stamps of the program
  bool closed_early : 1 = false;  // unfinished: ends where its caller or its thread ended
  RangeKind kind{};
};
static_assert(sizeof(Range) == 48);

struct Label {
  StringId domain{};  // empty: NVTX's default domain
  StringId text{};
  uint32_t category = 0;
  bool has_color = false;
  uint32_t color = 0;        // ARGB
  StringId category_name{};  // empty: not named by the program
};

// What a trace of torch.profiler has about an operator besides name and time. 48 bytes. Texts are JSON as in the trace.
struct OperatorDetail {
  uint64_t external_id = 0;
  int64_t sequence = -1;        // autograd's sequence number: equal for a forward operator and its backward; -1: none
  uint64_t flops = 0;           // as in the trace; 0: not in the trace
  uint32_t forward_thread = 0;  // for a backward operator: PyTorch's own number of the forward thread; 0: none
  StringId dims{}, types{}, concrete{};  // "Input Dims", "Input type", "Concrete Inputs"
  StringId stack{};                      // "Call stack"
  StringId other{};                      // Triton's arguments (kernel_file, num_warps …), as members of a JSON object
};
static_assert(sizeof(OperatorDetail) == 48);

inline constexpr uint8_t kExtendedPayload = 9;

// One named value of an extended NVTX payload; its text is JSON (a number, an array, a quoted string).
struct PayloadValue {
  StringId name{};
  StringId json{};
};

// A name that a program gave to one of its objects. Names of threads, devices and streams are also in their rows.
struct GivenName {
  ProcessId process{};
  int64_t time_ns = 0;
  uint32_t what = 0;    // format::NamedKind
  uint64_t object = 0;  // tid, ordinal, handle
  uint32_t type = 0;    // Other: NVTX's identifierType
  bool gone = false;    // the name was removed
  StringId domain{}, name{};
};

// NVTX_COUNTER_FLAG_…
inline constexpr uint64_t kCounterNormalized = 1 << 1, kCounterLimitMin = 1 << 2, kCounterLimitMax = 1 << 3;
inline constexpr uint64_t kCounterValueMask = 15 << 4, kCounterAbsolute = 1 << 4, kCounterDelta = 2 << 4,
                          kCounterSinceStart = 3 << 4;
inline constexpr uint64_t kCounterBetweenMask = 15 << 8, kCounterPoint = 1 << 8, kCounterSinceLast = 2 << 8,
                          kCounterUntilNext = 3 << 8, kCounterLinear = 4 << 8;

// A counter that a program samples through NVTX. A group of counters has one for each of its numbers.
struct ProgramCounter {
  ProcessId process{};
  StringId domain{}, name{}, unit{};
  StringId scope{};                // the path of its scope; row 0: none given
  uint64_t flags = 0;              // kCounter…
  std::optional<double> min, max;  // limits, in its unit
  uint64_t without_value = 0;      // samples that only have the reason why there is no number
};
struct CounterSample {
  int64_t time_ns = 0;
  double value = 0;      // in the counter's unit; deltas are accumulated
  uint32_t counter = 0;  // index into Trace::program_counters
};

// One node of the tree of range chains: its own label below the parent's.
struct PathNode {
  PathId parent{};
  LabelId label{};
};

// From `time_ns` on the thread is in `path`. The changes of a thread are sorted by time. Only logs have them: if a
// trace has start and end of each range, paths follow from the ranges.
struct PathChange {
  int64_t time_ns = 0;
  PathId path{};
};

}  // namespace prof::analyzer
