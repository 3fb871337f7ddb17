// Stretches of a trace, put together in order into a model; then what needs the whole file: pairs of begin and end, which
// process launched what on which GPU, names of threads and devices.
#pragma once

#include "analyzer/input/import.h"
#include "analyzer/input/kineto/kineto_header.h"
#include "analyzer/input/kineto/kineto_rows.h"
#include "analyzer/model/trace.h"

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace prof::analyzer {

class KinetoModel {
 public:
  KinetoModel(Trace& trace, const std::string& path);

  void add(const KinetoRows& rows);
  // After the last stretch; `damage`: what is wrong with the text beyond single events.
  void finish(const KinetoHeader& header, std::vector<KinetoDamage> damage);

  uint64_t events() const { return events_; }
  // There are objects, but none is an event.
  bool no_event_at_all() const {
    return events_ != 0 && aside_[static_cast<size_t>(KinetoAside::UnknownPhase)] == events_;
  }

 private:
  struct StreamKey {
    uint32_t pid = 0;  // StringId
    uint32_t device = 0, context = 0, number = 0;
    bool operator<(const StreamKey& other) const {
      return std::tie(pid, device, context, number) < std::tie(other.pid, other.device, other.context, other.number);
    }
  };
  struct Edge {
    int64_t time_ns;
    uint64_t detail;
    uint32_t thread, label, key, order;
    char phase;
    RangeKind kind;
  };

  struct Flow {
    int64_t time_ns;
    uint64_t id;
    uint32_t pid, number;
  };

  // Values, and what they are about: as the file says it, then as join_counters() finds it.
  struct Counted {
    enum Of : uint8_t { Operation, Range, Launch, Unplaced } of = Unplaced;
    bool own = false;      // of an event of its own
    bool kernel = true;    // else all that ran
    uint32_t row = kNone;  // of Trace::operations, Trace::host, Trace::ranges: until these are sorted
    StringId metrics{}, name{}, why{};
    uint32_t device = kNone, pid = 0;
    uint64_t first = 0;  // of counter_values_
    int64_t begin_ns = 0, end_ns = 0;
    uint32_t owner = 0, tie = 0;  // thread, label; stream, correlation; thread, correlation
  };

  // What a thread of the file is, by the names of it and its process.
  struct Track {
    enum Kind : uint8_t { Host, Stream, Derived } kind = Host;
    StreamKey key;
    uint32_t stream = 0;
  };

  uint32_t process_of(uint32_t pid_text);
  uint32_t thread_of(uint32_t pid_text, uint32_t tid_text);
  uint32_t label_of(uint32_t text, uint32_t domain = 0);
  uint32_t kernel_of(const Kernel& kernel);
  uint32_t stream_key(const StreamKey& key);
  void add_names(const KinetoRows& rows);
  void add_host(const KinetoRows& rows);
  void add_gpu(const KinetoRows& rows);
  uint64_t details_before() const;
  void add_ranges(const KinetoRows& rows);
  void add_counted(const KinetoRows& rows, size_t first_operation, size_t first_range);
  void add_counts(const KinetoRows& rows);

  void close_edges();
  void close_nested(std::vector<Edge>::iterator first, std::vector<Edge>::iterator last);
  void close_async(std::vector<Edge>::iterator first, std::vector<Edge>::iterator last);
  void add_range(const Edge& begin, int64_t end_ns, RangeStyle style, bool unfinished);
  void name_streams();
  void take_gpu_tracks();
  bool take_range(const Range& row, const Track& track);
  void drop_gpu_threads(const std::vector<Track>& tracks);
  void give_streams(const KinetoHeader& header);
  std::vector<uint32_t> launching_processes();
  uint32_t process_by_flows(const GpuOperation& operation);
  uint32_t stream_row(uint32_t process, uint32_t key);
  uint32_t device_row(uint32_t process, uint32_t ordinal);
  // Values of hardware counters (kineto_counters.cpp): before streams are given, after it, after the import.
  void join_counters();
  std::string join_with_kernels(const std::vector<size_t>& ranges, const std::vector<uint32_t>& kernels);
  std::string join_with_launches(const std::vector<size_t>& ranges, size_t devices);
  void time_launch(const Counted& counted, HostEvent& launch);
  void find_counted();
  void place_counters(int64_t moved_ns);
  uint32_t counter_set(uint32_t process, const Counted& counted);
  void name_all(const KinetoHeader& header);
  void tell(const KinetoHeader& header, std::vector<KinetoDamage> damage);
  void aside(KinetoAside reason, uint64_t count = 1) { aside_[static_cast<size_t>(reason)] += count; }

  Trace& trace_;
  std::string path_;
  ImportMark mark_;
  ApiNames apis_;
  uint64_t events_ = 0, damaged_ = 0;
  int64_t last_ns_ = INT64_MIN;
  uint64_t aside_[static_cast<size_t>(KinetoAside::kCount)] = {};
  std::vector<KinetoDamage> damage_;
  std::map<std::string, uint64_t> counts_;

  // Numbers of the stretch being added -> of the model.
  std::vector<uint32_t> text_, thread_, stream_, kernel_, label_, api_;
  std::vector<HostKind> call_kind_;

  std::unordered_map<uint64_t, uint32_t> threads_;    // (pid text, tid text) -> ThreadId
  std::unordered_map<uint32_t, uint32_t> processes_;  // pid text -> ProcessId
  std::unordered_map<uint64_t, uint32_t> labels_;     // (domain, text) -> LabelId
  std::map<StreamKey, uint32_t> stream_keys_;
  std::vector<StreamKey> streams_;                                            // by number
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> stream_rows_;             // (process, key) -> StreamId
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, uint32_t> same_stream_;  // (DeviceId, context, number) -> StreamId
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> devices_;                 // (process, ordinal) -> DeviceId
  struct KernelHash {
    size_t operator()(const Kernel& kernel) const;
  };
  struct KernelEqual {
    bool operator()(const Kernel& a, const Kernel& b) const;
  };
  std::unordered_map<Kernel, uint32_t, KernelHash, KernelEqual> kernels_;
  std::unordered_map<uint64_t, uint32_t> thread_names_;  // (pid, tid) texts -> name
  std::unordered_map<uint32_t, uint32_t> process_names_;

  Column<uint64_t> host_external_, operation_external_;
  std::vector<Counted> counted_;
  std::vector<double> counter_values_;
  std::vector<std::string> counter_facts_;                                     // what became of each device's events
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, uint32_t> counter_sets_;  // (process, device, metrics)
  std::vector<Edge> edges_;
  std::vector<Flow> flow_starts_, flow_ends_;  // sorted by id, by time and place, once they are asked
  bool flows_sorted_ = false;
};

}  // namespace prof::analyzer
