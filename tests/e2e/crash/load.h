// What load_program.cpp tells its parent, crash_test.cpp, through a file that outlives it.
#pragma once

#include <atomic>
#include <cstdint>

namespace prof::test {

constexpr unsigned kLoadThreads = 8;

// One thread's calls that have returned. Written behind the return, so the log may be one call ahead and never behind.
struct alignas(64) Returned {
  std::atomic<uint64_t> marks;
  std::atomic<uint64_t> launches;
  // Of these, what had returned when the program asked for the end of the recording.
  std::atomic<uint64_t> marks_before_stop;
  std::atomic<uint64_t> launches_before_stop;
};
static_assert(std::atomic<uint64_t>::is_always_lock_free);

// Which thread made a mark, and its how manieth it is: the payload of every mark.
constexpr uint64_t payload_of(uint64_t thread, uint64_t number) { return thread << 40 | number; }
constexpr uint64_t thread_of(uint64_t payload) { return payload >> 40; }
constexpr uint64_t number_of(uint64_t payload) { return payload & ((1ull << 40) - 1); }

}  // namespace prof::test
