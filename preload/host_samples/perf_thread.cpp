#include "preload/host_samples/perf_thread.h"

#include "preload/base/page_size.h"
#include "preload/base/raw_call.h"

#include <linux/perf_event.h>
#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>

namespace prof::preload {

namespace {

perf_event_mmap_page* header_of(uint8_t* page) { return reinterpret_cast<perf_event_mmap_page*>(page); }

uint64_t head_of(uint8_t* page) {
  return std::atomic_ref<__u64>(header_of(page)->data_head).load(std::memory_order_acquire);
}

// What follows the header of a sample, by the sample_type of open().
bool read_sample(const uint8_t* at, const uint8_t* end, PerfRecord& record) {
  uint64_t abi = 0, size = 0;
  const auto word = [&](uint64_t& to) {
    if (end - at < 8) return false;
    std::memcpy(&to, at, 8);
    at += 8;
    return true;
  };
  if (!word(record.time_ns) || !word(abi)) return false;
  if (abi != PERF_SAMPLE_REGS_ABI_64) return true;  // a kernel thread, or code of 32 bits
  if (static_cast<size_t>(end - at) < sizeof(SampledRegisters)) return false;
  record.registers = reinterpret_cast<const SampledRegisters*>(at);
  at += sizeof(SampledRegisters);
  if (!word(size)) return false;
  if (size == 0) return true;
  if (size > static_cast<size_t>(end - at)) return false;
  record.stack = at;
  at += size;
  uint64_t copied = 0;
  if (!word(copied) || copied > size) return false;
  record.stack_bytes = copied;
  return true;
}

}  // namespace

int PerfThread::open(uint32_t tid, uint64_t period_ns) {
  perf_event_attr attr{};
  attr.size = sizeof attr;
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_CPU_CLOCK;
  attr.sample_period = period_ns;
  attr.sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
  attr.sample_regs_user = SampledRegisters::kMask;
  attr.sample_stack_user = kStackBytes;
  attr.exclude_kernel = 1;
  attr.exclude_hv = 1;
  attr.context_switch = 1;
  attr.sample_id_all = 1;
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;
  // Nothing waits for the descriptor, so the kernel need not wake anybody.
  attr.watermark = 1;
  attr.wakeup_watermark = kRingBytes;
  const long descriptor = raw_call(SYS_perf_event_open, word_of(&attr), tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (descriptor < 0) return static_cast<int>(-descriptor);
  const long memory =
      raw_call(SYS_mmap, 0, page_size() + kRingBytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  raw_call(SYS_close, descriptor);
  if (memory < 0 && memory > -4096) return static_cast<int>(-memory);
  page_ = reinterpret_cast<uint8_t*>(memory);
  tail_ = 0;
  return 0;
}

void PerfThread::close() {
  if (page_ != nullptr) raw_call(SYS_munmap, word_of(page_), page_size() + kRingBytes);
  page_ = nullptr;
}

bool PerfThread::has_news() const { return page_ != nullptr && head_of(page_) != tail_; }

bool PerfThread::next(uint8_t* room, PerfRecord& record) {
  if (page_ == nullptr) return false;
  std::atomic_ref<__u64> read_to(header_of(page_)->data_tail);
  read_to.store(tail_, std::memory_order_release);
  const uint64_t head = head_of(page_);
  record = {};
  if (head == tail_) return false;
  const uint8_t* const ring = page_ + page_size();
  const size_t at = tail_ % kRingBytes;
  perf_event_header header;  // a multiple of 8 bytes, so it never wraps
  std::memcpy(&header, ring + at, sizeof header);
  if (header.size < sizeof header || header.size > head - tail_) {  // never written so by the kernel
    tail_ = head;
    return false;
  }
  const uint8_t* bytes = ring + at;
  if (at + header.size > kRingBytes) {
    const size_t first = kRingBytes - at;
    std::memcpy(room, bytes, first);
    std::memcpy(room + first, ring, header.size - first);
    bytes = room;
  }
  tail_ += header.size;
  const uint8_t* const end = bytes + header.size;
  if (header.type == PERF_RECORD_SAMPLE) {
    if (read_sample(bytes + sizeof header, end, record)) record.kind = PerfRecord::Kind::Sample;
    return true;
  }
  if (header.size >= sizeof header + 8) std::memcpy(&record.time_ns, end - 8, 8);
  if (header.type == PERF_RECORD_SWITCH) {
    record.kind = (header.misc & PERF_RECORD_MISC_SWITCH_OUT) == 0           ? PerfRecord::Kind::In
                  : (header.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0 ? PerfRecord::Kind::Preempted
                                                                             : PerfRecord::Kind::Blocked;
  } else if (header.type == PERF_RECORD_LOST && header.size >= sizeof header + 24) {
    record.kind = PerfRecord::Kind::Lost;  // id, number
    std::memcpy(&record.lost, bytes + sizeof header + 8, 8);
  }
  return true;
}

}  // namespace prof::preload
