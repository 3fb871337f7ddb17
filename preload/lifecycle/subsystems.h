// The one list of what a recording is made of. A row of the table (subsystems.cpp) is a subsystem, a column is what
// happens to it: start, stop, finish and abandon, as they are named everywhere (docs/architecture.md), and what the
// helper thread does for it. Start, end of a part, exit, fork and the helper thread walk the table in its order and
// know no subsystem. In the program: constant data, no heap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace prof::preload {

struct StartFacts {
  uint64_t ended = 0;  // the epoch of the last recording of this process; 0: this is its first one
  uint32_t part = 1;   // of the run, in this process
};

struct LogEnd {
  uint64_t monotonic_ns = 0;  // when the recording ended
  uint64_t offset = 0;        // where the log's file ends; set by the subsystem that hands out its blocks
};

// A column is null where there is nothing to do.
struct Subsystem {
  const char* name;

  // Null: it has nothing against a recording in this process; else why nothing is recorded. The options are read, the
  // clock is not started.
  const char* (*why_not)() = nullptr;
  // Before the first context of a process whose recording begins later.
  void (*prepare)() = nullptr;
  // Another recording of this process begins; threads may still be inside a record of the one with the epoch `ended`.
  // Before any start.
  void (*before_restart)(uint64_t ended) = nullptr;
  // A recording starts. False: it does not; the reason has been reported.
  bool (*start)(const StartFacts& facts) = nullptr;
  // What the log says about it at its beginning; inside a scope.
  void (*describe)() = nullptr;

  // By the helper thread, in every round. tend: while stop_helper() waits for it, since it touches the log. watch: may
  // ask for the end of the recording of this epoch. tick: everything else; the CLOCK_MONOTONIC time in ns of the next
  // round that it needs, kNever: none.
  void (*tend)() = nullptr;
  void (*watch)(uint64_t epoch) = nullptr;
  uint64_t (*tick)(uint64_t now_ns) = nullptr;
  // By the helper thread, each second after the clock anchor, and once in PROF_FLUSH.
  void (*write_back)() = nullptr;
  void (*flush)() = nullptr;

  // A part of the run ends and the program goes on: it may start again. describe_stop: what the log says of that;
  // inside a scope.
  void (*describe_stop)() = nullptr;
  void (*stop)() = nullptr;
  // The recording ends for good, and what is left is collected. It is called when exit begins (at_exit), while CUPTI
  // and the driver are whole, and once more before the log is finished; after stop() and the second time there is
  // nothing left to do.
  void (*finish)(bool at_exit) = nullptr;
  // After the last record: the log itself is finished. Walked backwards.
  void (*finish_log)(LogEnd& end) = nullptr;
  // The process unloads its libraries.
  void (*unload)() = nullptr;
  // In the child of a fork: forgets its parent's state without touching the parent's log, and without a call of CUPTI.
  void (*abandon)() = nullptr;
};

inline constexpr uint64_t kNever = ~0ull;

// The table, in the order of a start.
struct Subsystems {
  const Subsystem* first;
  size_t count;
  const Subsystem* begin() const { return first; }
  const Subsystem* end() const { return first + count; }
};
Subsystems subsystems();

// Calls one column of each row that has it, in the order of the table.
template <class... Args>
void for_each_subsystem(void (*Subsystem::*column)(Args...), std::type_identity_t<Args>... args) {
  for (const Subsystem& subsystem : subsystems()) {
    if (subsystem.*column != nullptr) (subsystem.*column)(args...);
  }
}
// The same from the last row to the first.
template <class... Args>
void for_each_subsystem_backwards(void (*Subsystem::*column)(Args...), std::type_identity_t<Args>... args) {
  for (const Subsystem* at = subsystems().end(); at != subsystems().begin();) {
    --at;
    if (at->*column != nullptr) (at->*column)(args...);
  }
}

}  // namespace prof::preload
