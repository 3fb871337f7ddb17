// The rows made of one stretch of a trace, with the stretch's own numbers for texts, tracks and shapes; KinetoModel puts
// stretches together in order and renumbers. Filled on any core; nothing here is shared.
#pragma once

#include "analyzer/base/text_arena.h"
#include "analyzer/base/text_index.h"
#include "analyzer/input/kineto/kineto_category.h"
#include "analyzer/input/kineto/kineto_event.h"
#include "analyzer/model/trace.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace prof::analyzer {

// Why an event is not in the model, or not as written: every one is counted.
enum class KinetoAside : uint8_t {
#define KINETO_ASIDE(name, text) name,
#include "analyzer/input/kineto/kineto_aside.def"
#undef KINETO_ASIDE
  kCount
};

// One "pid", "tid" pair of the file.
struct KinetoTrack {
  uint32_t pid = 0, tid = 0;  // texts
  bool operator==(const KinetoTrack&) const = default;
};

// Where a GPU event ran, as far as it says so.
struct KinetoStream {
  uint32_t pid = 0;  // text
  uint32_t device = 0, context = 0;
  uint32_t number = 0;
  bool operator==(const KinetoStream&) const = default;
};

struct KinetoKernel {
  uint32_t name = 0;  // text
  uint32_t grid[3] = {}, block[3] = {};
  uint32_t registers = 0, shared_bytes = 0;
  bool operator==(const KinetoKernel&) const = default;
};

// "process_name", "thread_name" …
struct KinetoName {
  KinetoTrack track;
  uint32_t name = 0;  // text
  bool of_thread = false;
};

// The name of a range or mark of an NVTX domain, as `prof trace` writes it. Of all others a label is the text of the name.
struct KinetoLabel {
  uint32_t name = 0, domain = 0;  // texts
};
inline constexpr uint32_t kOfDomain = 1u << 31;  // beside it a row of `labels`

// Half of a range that is closed by an event of its own.
struct KinetoEdge {
  int64_t time_ns = 0;
  uint32_t thread = 0;  // track
  uint32_t label = 0;
  uint32_t key = 0;  // async: text of category, id and process; 0: nested on its thread
  uint32_t detail = 0;
  char phase = 'B';  // B, E; b, e
  uint8_t kind = 0;  // RangeKind
};

// One end of an arrow from a call to its GPU work ("ac2g"). Only asked where correlation ids mean several things.
struct KinetoFlow {
  int64_t time_ns = 0;
  uint64_t id = 0;
  uint32_t pid = 0;              // text
  uint32_t number = UINT32_MAX;  // its tid, where it is a stream's
  bool starts = false;
};

// Values of hardware counters in the "args" of a kernel, of a range or of an event of their own.
struct KinetoCounted {
  enum Of : uint8_t { Operation, Range, Own } of = Own;
  uint32_t row = 0;      // of `operations` or `ranges`
  uint32_t metrics = 0;  // text: their names, one a line
  uint32_t device = UINT32_MAX;
  uint64_t first = 0;  // of `counter_values`
  // Of an event of their own:
  uint32_t name = 0, pid = 0;  // texts
  int64_t begin_ns = 0;        // says no more than an order
};

struct KinetoDamage {
  uint64_t offset = 0;
  std::string what;
};

// Events by "cat", or by phase where there is none.
struct KinetoCount {
  std::string category;
  uint64_t events = 0;
};

// Rows of a table have 32-bit numbers.
template <class T> uint32_t row_count(const T& table) { return static_cast<uint32_t>(table.size()); }

struct KinetoRows {
  TextIndex texts;  // 0: the empty text
  TextArena made;   // texts that are not in the input as such
  std::vector<KinetoTrack> tracks;
  std::vector<KinetoStream> streams;
  std::vector<KinetoKernel> kernels;
  std::vector<KinetoName> names;
  std::vector<KinetoLabel> labels;

  // In the model's form but for: thread = track, label = text or KinetoLabel, payload = 1 + detail, api = text (in `stack`, in `word` only
  // the kind), stream_index = stream, detail = kernel, bytes of a kernel = 1 + detail.
  std::vector<HostEvent> host;
  std::vector<uint64_t> host_external;  // "External id" of each call
  std::vector<GpuOperation> operations;
  std::vector<uint64_t> operation_external;
  std::vector<Range> ranges, marks;
  std::vector<OperatorDetail> details;  // texts in place of strings
  std::vector<MemoryEvent> memory;
  std::vector<SyncEvent> syncs;  // stream, waits_for: streams
  std::vector<GpuAnnotation> gpu_annotations;
  std::vector<KinetoEdge> edges;
  std::vector<KinetoFlow> flows;
  std::vector<KinetoCounted> counted;
  std::vector<double> counter_values;

  std::vector<KinetoCount> counts;
  uint64_t aside[static_cast<size_t>(KinetoAside::kCount)] = {};
  uint64_t damaged = 0;  // events that are no JSON
  std::vector<KinetoDamage> damage;
  int64_t last_ns = INT64_MIN;  // end of the last event

  KinetoRows() { clear(); }
  void clear();
};

class KinetoRowMaker {
 public:
  explicit KinetoRowMaker(KinetoRows& rows) : rows_(rows), reader_(rows.made) {}
  // One event of the stretch that begins at `origin` and at `offset` of the text (see KinetoEventReader::read). The stretch
  // must live as long as the rows.
  void add(char* origin, JsonPlace place, std::span<const JsonPlace> nested, uint64_t offset);
  void start_stretch();

 private:
  void dispatch();
  void count();
  void complete();
  void metadata();
  void instant();
  void edge(char phase);
  void async(char phase);
  void flow(char phase);
  bool take_times(bool with_duration);
  uint32_t detail();
  uint32_t own_numbers();
  void call();
  void operation(GpuKind kind);
  void sync();
  void memory();
  void gpu_annotation();
  void range(RangeKind kind);
  uint32_t label();
  void counted(KinetoCounted::Of of, size_t row);
  uint32_t device_or_pid();
  bool of_profiler() const;
  uint32_t track();
  uint32_t stream(std::string_view number_text);
  uint32_t kernel();
  uint32_t text(std::string_view text) { return rows_.texts.add(text); }
  uint32_t pid_text();
  uint32_t tid_text();
  uint64_t number(KinetoArgument argument, uint64_t otherwise = 0);
  int64_t signed_number(KinetoArgument argument, int64_t otherwise);
  void aside(KinetoAside reason) { ++rows_.aside[static_cast<size_t>(reason)]; }
  std::string_view keep(const std::string& text) { return rows_.made.keep(text); }

  struct KernelHash {
    size_t operator()(const KinetoKernel& kernel) const;
  };
  struct StreamHash {
    size_t operator()(const KinetoStream& stream) const;
  };

  KinetoRows& rows_;
  KinetoEventReader reader_;
  KinetoEvent event_;
  KinetoClass class_ = KinetoClass::Other;  // of last_category_
  int64_t begin_ns_ = 0, end_ns_ = 0;
  std::string_view last_category_;
  size_t last_count_ = 0;
  KinetoTrack last_track_key_{};
  std::string_view last_pid_, last_tid_;
  uint32_t last_pid_text_ = 0, last_tid_text_ = 0;
  std::string last_metrics_;
  uint32_t last_metrics_text_ = 0;
  uint32_t last_track_ = UINT32_MAX;
  uint32_t last_stream_ = UINT32_MAX;
  std::unordered_map<uint64_t, uint32_t> track_of_;
  std::unordered_map<uint64_t, uint32_t> label_of_;  // (name, domain) -> row of `labels`
  std::unordered_map<KinetoKernel, uint32_t, KernelHash> kernel_of_;
  std::unordered_map<KinetoStream, uint32_t, StreamHash> stream_of_;
};

}  // namespace prof::analyzer
