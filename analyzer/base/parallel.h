// Runs task(0) … task(count − 1) on all cores. The first exception of a task is rethrown in the caller.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace prof::analyzer {

inline unsigned worker_count() {
  const unsigned cores = std::thread::hardware_concurrency();
  return cores == 0 ? 1 : cores > 16 ? 16 : cores;
}

template <class Task> void parallel_for(size_t count, Task&& task, unsigned workers = worker_count()) {
  std::atomic<size_t> next{0};
  std::exception_ptr error;
  std::mutex error_mutex;
  const auto work = [&] {
    try {
      for (size_t i = next.fetch_add(1); i < count; i = next.fetch_add(1)) task(i);
    } catch (...) {
      const std::lock_guard lock(error_mutex);
      if (!error) error = std::current_exception();
      next.store(count);
    }
  };
  std::vector<std::thread> threads;
  // False: there is no memory for one more thread. Those that exist do the work.
  const auto start_one = [&] {
    try {
      threads.emplace_back(work);
      return true;
    } catch (const std::exception&) {
      return false;
    }
  };
  for (unsigned i = 1; i < workers && i < count && start_one();) ++i;
  work();
  for (std::thread& thread : threads) thread.join();
  if (error) std::rethrow_exception(error);
}

// Calls make(worker, i) for 0 … count − 1 on all cores. Calls use(worker, i) in order of i, one at a time, each on
// the thread that made i. `new_worker()` creates the state that one thread keeps between its tasks.
template <class NewWorker, class Make, class Use>
void parallel_in_order(size_t count, NewWorker&& new_worker, Make&& make, Use&& use) {
  std::mutex mutex;
  std::condition_variable turn_changed;
  size_t turn = 0;
  bool failed = false;
  const auto wait_for = [&](size_t i) {
    std::unique_lock lock(mutex);
    turn_changed.wait(lock, [&] { return turn == i || failed; });
    return !failed;
  };
  std::atomic<size_t> next{0};
  const auto work = [&](size_t) {
    try {
      auto worker = new_worker();
      for (size_t i = next.fetch_add(1); i < count; i = next.fetch_add(1)) {
        make(worker, i);
        if (!wait_for(i)) return;
        use(worker, i);
        const std::lock_guard lock(mutex);
        ++turn;
        turn_changed.notify_all();
      }
    } catch (...) {
      const std::lock_guard lock(mutex);
      failed = true;
      turn_changed.notify_all();
      throw;
    }
  };
  parallel_for(count < worker_count() ? count : worker_count(), work);
}

}  // namespace prof::analyzer
