// What does a blocked thread wait for? The kernel shows the system call of each thread in /proc/self/task/TID/syscall:
// its number, arguments, stack pointer and address. host_sampler.cpp reads it, on the helper thread.
#pragma once

#include "preload/format/host_events.h"
#include "preload/format/ids.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace prof::preload {

struct BlockedThread {
  long number = -1;  // of the system call; -1: blocked outside of one (a page fault)
  uint64_t arguments[6] = {};
  uint64_t sp = 0, pc = 0;
  bool operator==(const BlockedThread&) const = default;
};

enum class ThreadLook : uint8_t {
  Blocked,
  Running,  // or runnable
  Ended,    // there is no such thread
  Refused   // the kernel does not show it
};
ThreadLook look_at_thread(uint32_t tid, BlockedThread& to);
// Reads the text of the file.
ThreadLook read_thread_look(std::string_view text, BlockedThread& to);

// Why the thread waits. `detail` gets a text that lives in `room`; empty: none.
inline constexpr size_t kWaitRoom = 4200;
format::BlockedIn wait_of(const BlockedThread& thread, char* room, std::string_view& detail);

// "held by thread 7". The text lives in `room`.
std::string_view holder_text(uint64_t tid, char* room);
// The thread that such a detail names; 0: none.
uint32_t thread_named_by(std::string_view detail);

// The thread id of the thread with this pthread_self(), as its descriptor has it; 0: it is not known. `known_handle`
// and `known_tid` are those of another thread than the caller.
uint32_t tid_of_handle(uint64_t handle, uint64_t known_handle, uint32_t known_tid);

}  // namespace prof::preload
