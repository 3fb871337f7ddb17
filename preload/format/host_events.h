// What did the threads that feed the GPU do between their calls (PROF_HOST_SAMPLES)? The helper thread writes these
// records about other threads. So `thread` is the thread that a record is about, and times of different threads are in
// no common order.
#pragma once

#include "preload/format/ids.h"

#include <cstdint>
#include <string_view>

namespace prof::format {

enum class HostState : uint8_t {
  Running = 0,
  Runnable = 1,  // it waited for a CPU
  Blocked = 2
};

// Why a blocked thread waits, as far as its system call shows it.
enum class BlockedIn : uint8_t {
  None = 0,  // it is not blocked, or its call is not known
  File = 1,
  Lock = 2,
  Sleep = 3,
  Network = 4,
  Pipe = 5,
  Child = 6,
  Poll = 7,       // poll, select, epoll
  Thread = 8,     // the end of a thread
  Condition = 9,  // a word of memory (futex) that is no known lock
  Gil = 10,       // the lock of a Python interpreter
  Other = 11
};

// A sample of a thread.
struct HostSample {
  static constexpr uint32_t kKind = 70;
  static constexpr std::string_view kName = "host_sample";
  uint64_t time = 0;  // ticks
  ThreadOrdinal thread{};
  HostState state{};
  BlockedIn blocked_in{};
  StringId detail{};  // the file, the thread that is waited for …
  StackId stack{};
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.time("time", s.time);
    v.value("thread", s.thread);
    v.value("state", s.state);
    v.optional("blocked_in", s.blocked_in);
    v.optional("detail", s.detail);
    v.optional("stack", s.stack);
  }
};

// An interval in which a thread was in one state. If a thread has no such record for a time, its state is not known.
struct HostStateSpan {
  static constexpr uint32_t kKind = 71;
  static constexpr std::string_view kName = "host_state";
  uint64_t end = 0, duration = 0;  // ticks
  ThreadOrdinal thread{};
  HostState state{};
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.time("end", s.end);
    v.value("duration", s.duration);
    v.value("thread", s.thread);
    v.value("state", s.state);
  }
};

// `flags` of a HostSampling:
inline constexpr uint32_t kHostStarvedOnly = 1;  // samples only while no device has anything outstanding
inline constexpr uint32_t kHostWithoutPerf = 2;  // no perf events: no states, and samples from /proc only

// A definition: from when on threads are sampled, and how often. One when a recording starts, and one at each change.
struct HostSampling {
  static constexpr uint32_t kKind = 72;
  static constexpr std::string_view kName = "host_sampling";
  uint64_t from = 0;       // ticks
  uint64_t period_ns = 0;  // mean time that a sample represents; 0: sampling stopped
  uint32_t flags = 0;      // kHost…
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.value("from", s.from);
    v.value("period_ns", s.period_ns);
    v.optional("flags", s.flags);
  }
};

// `flags` of a PipeHolder:
inline constexpr uint32_t kHolderOfOtherNamespace = 1;  // its pid is not that of its own log

// A definition: a process that has the other end of a pipe or socket open which a sampled thread waits for. The process
// with the sampled thread writes it.
struct PipeHolder {
  static constexpr uint32_t kKind = 78;
  static constexpr std::string_view kName = "pipe_holder";
  uint64_t found = 0;        // ticks
  uint32_t pid = 0;          // as the process with the sampled thread sees it
  uint32_t flags = 0;        // kHolder…
  std::string_view pipe;     // the end that is waited for, as `detail` of samples has it: "pipe:[7]", "socket:[8]"
  std::string_view command;  // command line of the holder; empty: it is not known, or PROF_ABOUT leaves it out
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.value("found", s.found);
    v.value("pid", s.pid);
    v.text("pipe", s.pipe);
    v.text("command", s.command);
    v.optional("flags", s.flags);
  }
};

}  // namespace prof::format
