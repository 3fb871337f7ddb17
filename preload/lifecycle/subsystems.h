// Which subsystems does a recording have? This is the only list. A row of the table (subsystems.cpp) is a subsystem. A
// column is what happens to it: start, stop, finish, abandon (docs/architecture.md), or work of the helper thread.
// Start, stop, exit, fork and the helper thread walk the table in its order. They must not name a subsystem. This code
// runs in the program: constant data, no heap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace prof::preload {

struct StartFacts {
  uint64_t ended = 0;  // the epoch of the last recording of this process; 0: this is its first one
  uint32_t part = 1;   // number of this recording in this process
};

struct LogEnd {
  uint64_t monotonic_ns = 0;  // when the recording ended
  uint64_t offset = 0;        // where the log file ends; set by the subsystem that hands out its blocks
};

// A column is null if there is nothing to do.
struct Subsystem {
  const char* name;

  // Returns null if the subsystem allows a recording in this process, otherwise the reason why nothing is recorded. The
  // options are read, the clock is not started.
  const char* (*why_not)() = nullptr;
  // Called before the first context of a process whose recording starts later.
  void (*prepare)() = nullptr;
  // Another recording of this process starts. Threads may still be inside a record of the recording with the epoch
  // `ended`. Called before any start.
  void (*before_restart)(uint64_t ended) = nullptr;
  // A recording starts. Returns false if it cannot; the reason has been reported.
  bool (*start)(const StartFacts& facts) = nullptr;
  // Writes the subsystem's definitions at the start of the log. Called inside a scope.
  void (*describe)() = nullptr;

  // The helper thread calls these three in every round.
  // tend: writes to the log, so stop_helper() waits for it.
  // watch: may request the end of the recording with this epoch.
  // tick: everything else. Returns the CLOCK_MONOTONIC time in ns of the next round that it needs; kNever: none.
  void (*tend)() = nullptr;
  void (*watch)(uint64_t epoch) = nullptr;
  uint64_t (*tick)(uint64_t now_ns) = nullptr;
  // The helper thread calls write_back() each second after the clock anchor, and flush() once per PROF_FLUSH.
  void (*write_back)() = nullptr;
  void (*flush)() = nullptr;

  // A recording ends and the program continues, so another one may start. describe_stop() writes that into the log,
  // inside a scope.
  void (*describe_stop)() = nullptr;
  void (*stop)() = nullptr;
  // The recording finishes, and what is left is collected. Called when exit starts (at_exit), while CUPTI and the
  // driver are usable, and again before the log is finished. After stop(), and the second time, there is nothing left
  // to do.
  void (*finish)(bool at_exit) = nullptr;
  // After the last record: finishes the log itself. Walked backwards.
  void (*finish_log)(LogEnd& end) = nullptr;
  // The process unloads its libraries.
  void (*unload)() = nullptr;
  // In the child of a fork: abandons the parent's state. Must not touch the parent's log or call CUPTI.
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
