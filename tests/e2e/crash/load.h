// What load_program.cpp reports to its parent, crash_test.cpp, through a file that outlives it.
#pragma once

#include <atomic>
#include <cstdint>

namespace prof::test {

constexpr unsigned kLoadThreads = 8;

// Number of one thread's calls that have returned. It is written after the return, so the log may be one call ahead but
// never be one short.
struct alignas(64) Returned {
  std::atomic<uint64_t> marks;
  std::atomic<uint64_t> launches;
  // How many of these had returned when the program requested the end of the recording.
  std::atomic<uint64_t> marks_before_stop;
  std::atomic<uint64_t> launches_before_stop;
};
static_assert(std::atomic<uint64_t>::is_always_lock_free);

// The payload of every mark: the thread that made it, and its number in that thread.
constexpr uint64_t payload_of(uint64_t thread, uint64_t number) { return thread << 40 | number; }
constexpr uint64_t thread_of(uint64_t payload) { return payload >> 40; }
constexpr uint64_t number_of(uint64_t payload) { return payload & ((1ull << 40) - 1); }

}  // namespace prof::test
