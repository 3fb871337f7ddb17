// Which events go into the dependency graph of a window? For every host thread its calls and moments, for every stream
// its operations, each list in order of time. Used by dependency_graph.cpp, which merges them.
#pragma once

#include "analyzer/dependencies/dependencies.h"
#include "analyzer/model/trace.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace prof::analyzer {

// Meaningless times are limited so that sums of a few of them do not overflow.
inline constexpr int64_t kFarthest = int64_t{1} << 60;
inline int64_t sane(int64_t time_ns) { return std::clamp(time_ns, -kFarthest, kFarthest); }

// A moment at which a host thread releases another one or waits for one, or its first or last moment.
struct Moment {
  int64_t time_ns;
  uint32_t handoff;   // kNone: the thread's first or last moment
  uint32_t receives;  // 1: waits for another thread
};

// A host thread: its calls (the outermost of nested calls) and its moments.
struct ThreadNow {
  uint32_t thread;
  Rows calls;                   // not taken yet
  std::vector<Moment> moments;  // not taken yet, the next one last
  const Wait* wait;             // first wait of the calls that are not taken yet
  uint32_t last = 0;            // slot of its last node
  bool known = false;           // it has an earlier event
  bool polls = false;           // its last call found something incomplete
  // A call that has begun and waits.
  bool inside = false;
  Rows call;
  int64_t return_ns = 0;
};

// An operation that has not ended.
struct Running {
  int64_t end_ns;
  uint32_t slot;
  uint32_t preceding;  // the last node of the stream when the operation started
};

struct StreamNow {
  Rows operations;  // not taken yet
  const Wait* wait;
  uint32_t last = 0;             // slot of the node that follows all operations that have ended
  uint32_t latest = 0;           // slot of the latest operation
  std::vector<Running> running;  // a heap, the earliest end at the front
};

class GraphSources {
 public:
  GraphSources(const Trace& trace, const Dependencies& waits, int64_t begin_ns, int64_t end_ns);

  std::vector<ThreadNow> threads;
  std::vector<StreamNow> streams;

  // Rows of Trace::ranges in the window.
  Rows ranges_of(const Thread& thread) const;

  // Times are cut to the window.
  int64_t inside(int64_t time_ns) const { return inside_window(time_ns); }
  int64_t begin_of(const HostEvent& event) const { return inside_window(event.begin_ns); }
  int64_t end_of(const HostEvent& event) const { return inside_window(std::max(event.begin_ns, event.end_ns)); }
  int64_t start_of(const GpuOperation& operation) const { return inside_window(operation.start_ns); }
  int64_t end_of(const GpuOperation& operation) const {
    return inside_window(std::max(operation.start_ns, operation.end_ns));
  }

 private:
  int64_t inside_window(int64_t time_ns) const { return std::clamp(sane(time_ns), begin_ns_, end_ns_); }
  template <class Begin, class End> Rows in_window(Rows rows, Begin begin, End end) const;
  void open_thread(uint32_t t, std::vector<Moment> moments);
  void open_stream(uint32_t s);

  const Trace& trace_;
  const Dependencies& waits_;
  const int64_t begin_ns_, end_ns_;
};

}  // namespace prof::analyzer
