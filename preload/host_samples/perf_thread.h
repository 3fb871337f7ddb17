// When did a thread run, and where was it then? One perf event of the kernel follows one thread of this process: the
// kernel writes the thread's switches, and samples of its registers and stack while it runs, into a ring of shared
// memory. host_sampler.cpp reads the ring. Nothing interrupts the thread, and no signal is sent.
//
//   ring:  | page of the kernel: head, tail | record record … |     unread: from tail to head
//
// The descriptor is closed after the mapping: records keep coming until the memory is unmapped, and the program finds
// no descriptor of ours. So the period of an event cannot be changed. For another period the event is opened again.
#pragma once

#include <cstddef>
#include <cstdint>

namespace prof::preload {

// The general registers of a sample, by the kernel's numbers.
struct SampledRegisters {
#if defined(__aarch64__)
  static constexpr uint64_t kMask = (uint64_t{1} << 33) - 1;  // x0 … x30, sp, pc
  static constexpr uint32_t kCount = 33, kFp = 29, kSp = 31, kPc = 32;
#else
  // ax bx cx dx si di bp sp ip, r8 … r15
  static constexpr uint64_t kMask = 0x1ff | uint64_t{0xff} << 16;
  static constexpr uint32_t kCount = 17, kFp = 6, kSp = 7, kPc = 8;
#endif
  uint64_t value[kCount];
  uint64_t pc() const { return value[kPc]; }
  uint64_t sp() const { return value[kSp]; }
  uint64_t fp() const { return value[kFp]; }
};

// A record of the ring. Times are ns of CLOCK_MONOTONIC.
struct PerfRecord {
  enum class Kind : uint8_t {
    Other,
    Sample,
    In,         // the thread runs from now on
    Blocked,    // it does not run, because it waits
    Preempted,  // it does not run and would like to
    Lost        // records that the ring had no room for
  } kind = Kind::Other;
  uint64_t time_ns = 0;
  uint64_t lost = 0;
  const SampledRegisters* registers = nullptr;  // Sample
  const uint8_t* stack = nullptr;               // Sample: the bytes from sp upwards
  size_t stack_bytes = 0;
};

class PerfThread {
 public:
  static constexpr size_t kRingBytes = 256 << 10;
  static constexpr uint32_t kStackBytes = 32 << 10;  // that a sample copies at most
  static constexpr size_t kMostRecordBytes = 65536;

  // Starts to follow the thread. `period_ns`: CPU time between two samples. Returns 0, or the error number.
  int open(uint32_t tid, uint64_t period_ns);
  void close();
  // In a forked child, which does not have the mapping.
  void abandon() { page_ = nullptr; }
  bool is_open() const { return page_ != nullptr; }

  // Whether the ring has unread records.
  bool has_news() const;
  // Reads the next record; `room` has kMostRecordBytes, into which a record is copied that wraps around the end of the
  // ring. The record is valid until the next call. False: there is none.
  bool next(uint8_t* room, PerfRecord& record);

 private:
  uint8_t* page_ = nullptr;
  uint64_t tail_ = 0;
};

}  // namespace prof::preload
