// What does a log show about the last second of a program? Launches up to now, GPU operations up to the last one that
// was recorded: CUPTI delivers them with each flush. Only blocks that are new are read (log_tail.h). What the log does
// not show is empty, never 0. Used by `prof top`.
#pragma once

#include "analyzer/input/log/log_tail.h"
#include "analyzer/live/idle_stacks.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace prof::analyzer {

enum class LiveState { Recording, Finished, Killed };

struct LiveDevice {
  uint32_t ordinal = 0;
  std::string name;
  int64_t busy_ns = 0;  // in which at least one operation ran, of the GPU window
};

struct LiveStream {
  uint32_t id = 0;                     // of the log
  uint64_t handle = 0;                 // of the program
  std::optional<uint32_t> gpu_stream;  // CUPTI's number
  uint64_t depth = 0;                  // outstanding operations after its latest launch: an upper bound
};

struct LiveKernel {
  std::string name;
  uint64_t count = 0;
  int64_t total_ns = 0;
};

struct LiveCopies {
  std::string_view direction;  // "HtoD" …
  uint64_t count = 0, bytes = 0;
  int64_t total_ns = 0;
};

struct LiveSample {
  std::string path, executable, host;
  uint32_t pid = 0;
  LiveState state{};
  bool ring = false;
  uint64_t log_bytes = 0;

  int64_t host_ns = 0;  // length of the window of launches; 0: the log has no record
  uint64_t launches = 0;

  int64_t gpu_ns = 0;                 // length of the window of GPU operations; 0: the log has none
  std::optional<int64_t> gpu_age_ns;  // time since its end; empty: the log is not being written
  std::vector<LiveDevice> devices;
  std::vector<LiveKernel> kernels;  // by time, the longest first
  std::vector<LiveCopies> copies;
  std::vector<LiveStream> streams;  // with a launch in the window, the deepest first

  std::optional<LiveIdleStack> idle_stack;  // while no operation ran in the GPU window; empty: there are no samples
  std::optional<uint64_t> memory_bytes;     // of the devices, allocated and not freed
  struct Counter {
    std::string name;
    uint64_t value = 0;
  };
  std::vector<Counter> lost;  // loss counters that mean lost records
  uint64_t damaged_blocks = 0;
};

class LiveLog {
 public:
  // `window`: length of what a sample covers. Throws InputError.
  LiveLog(const std::string& path, std::chrono::nanoseconds window);

  // Reads what is new. `survey`: time for older definitions.
  LiveSample sample(std::chrono::nanoseconds survey);
  bool replaced() const { return tail_.replaced(); }
  const std::string& path() const { return tail_.path(); }

 private:
  struct Operation {
    int64_t start_ns = 0, end_ns = 0;
    uint64_t bytes = 0;
    uint32_t gpu_stream = 0;
    uint32_t detail = 0;  // kernel: GpuKernelId; copy: kind of copy
    enum : uint8_t { Kernel, Copy, Other } kind = Other;
  };
  static constexpr size_t kFirstLimit = size_t{1} << 16;
  struct Launch {
    uint64_t tick = 0;
    uint32_t stream = 0;
    uint64_t depth = 0;
  };
  struct MemoryEvent {
    uint64_t tick = 0, address = 0, bytes = 0;
    uint32_t api = 0;
  };
  struct Handler;

  void forget_old();
  void count_memory();
  void forget_strings();
  uint64_t now_tick(bool recording) const;
  double ticks_per_ns() const;
  std::optional<int64_t> gpu_time(uint64_t tick) const;
  void add_operations(LiveSample& sample);
  void add_streams(LiveSample& sample, uint64_t from_tick);
  void add_idle_stack(LiveSample& sample);
  void add_health(LiveSample& sample) const;
  std::string kernel_name(uint32_t id) const;

  LogTail tail_;
  const int64_t window_ns_;
  std::vector<Operation> operations_;
  size_t most_operations_ = kFirstLimit;  // with more, old ones are forgotten while blocks are read
  std::vector<Launch> launches_;
  int64_t last_gpu_ns_ = 0, first_gpu_ns_ = 0;
  uint64_t last_tick_ = 0;
  std::optional<format::ClockAnchor> first_anchor_, last_anchor_;
  std::optional<format::GpuClock> gpu_clock_;
  std::unordered_map<uint32_t, std::string> strings_;
  uint64_t string_bytes_ = 0;
  std::unordered_map<uint32_t, uint32_t> kernel_names_;  // GpuKernelId -> StringId
  std::unordered_map<uint32_t, format::GpuStreamDef> gpu_streams_;
  std::unordered_map<uint32_t, format::StreamDef> streams_;
  std::map<uint32_t, std::string> device_names_;
  enum class MemoryCall : uint8_t { None, Allocates, Frees };
  std::unordered_map<uint32_t, MemoryCall> memory_calls_;  // by ApiId
  std::vector<MemoryEvent> memory_events_;                 // of this sample, of all threads
  std::unordered_map<uint64_t, uint64_t> allocations_;     // address -> bytes
  uint64_t memory_bytes_ = 0;
  bool memory_known_ = true;
  std::string executable_, host_;
  IdleStacks idle_stacks_;
};

}  // namespace prof::analyzer
