// Maps memory of large columns before it is used: a page fault costs more than everything that is stored in the page.
#pragma once

#include "analyzer/base/column.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>

namespace prof::analyzer {

// Writes to each page of a column that is not written yet. If rows were read before they are written, each page would
// be mapped twice, and every second mapping interrupts the other threads.
template <class T> void write_pages(Column<T>& column) {
  constexpr size_t kPage = 4096;
  auto* const bytes = reinterpret_cast<volatile std::byte*>(column.data());
  for (size_t at = 0; at < column.size() * sizeof(T); at += kPage) bytes[at] = std::byte{0};
}

// Maps the reserved memory of a column on a thread of its own, ahead of the thread that fills it. Does nothing if the
// system does not support it (before Linux 5.14).
class Prefault {
 public:
  template <class T> Prefault(const Column<T>& column, size_t rows) {
#ifdef MADV_POPULATE_WRITE
    constexpr size_t kStep = size_t{4} << 20;
    auto* const begin = reinterpret_cast<char*>(const_cast<T*>(column.data()));
    const size_t size = rows * sizeof(T) / kStep * kStep;
    if (size == 0 || std::thread::hardware_concurrency() < 2) return;
    thread_ = std::thread([this, begin, size] {
      for (size_t at = 0; at < size && !stop_.load(std::memory_order_relaxed); at += kStep) {
        if (madvise(begin + at, kStep, MADV_POPULATE_WRITE) != 0) return;
      }
    });
#endif
  }
  Prefault(const Prefault&) = delete;
  Prefault& operator=(const Prefault&) = delete;
  ~Prefault() {
    stop_.store(true, std::memory_order_relaxed);
    if (thread_.joinable()) thread_.join();
  }

 private:
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace prof::analyzer
