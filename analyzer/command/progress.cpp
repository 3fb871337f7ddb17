#include "analyzer/command/progress.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>
#include <utility>

namespace prof::analyzer {

// A thread prints, because a step does not return while it computes.
class ProgressLine::Printer {
 public:
  explicit Printer(std::string what) : what_(std::move(what)), thread_([this] { run(); }) {}
  ~Printer() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  Printer(const Printer&) = delete;
  Printer& operator=(const Printer&) = delete;

  std::atomic<double> share{-1};

 private:
  void run() {
    constexpr std::chrono::seconds kQuiet{2};
    constexpr std::chrono::milliseconds kStep{200};
    const auto begin = std::chrono::steady_clock::now();
    std::unique_lock lock(mutex_);
    if (changed_.wait_for(lock, kQuiet, [this] { return ended_; })) return;
    do {
      const double done = share.load(std::memory_order_relaxed);
      if (done >= 0) {
        std::fprintf(stderr, "\rprof: %s %3.0f%%\033[K", what_.c_str(), done * 100);
      } else {
        const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
        std::fprintf(stderr, "\rprof: %s %.0f s\033[K", what_.c_str(), passed.count());
      }
      std::fflush(stderr);
    } while (!changed_.wait_for(lock, kStep, [this] { return ended_; }));
    std::fprintf(stderr, "\r\033[K");
  }

  std::string what_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
  std::thread thread_;
};

ProgressLine::ProgressLine(std::string what) {
  if (isatty(STDERR_FILENO) == 1) printer_ = std::make_unique<Printer>(std::move(what));
}

ProgressLine::~ProgressLine() = default;

void ProgressLine::share(double done) {
  if (printer_ != nullptr) printer_->share.store(done, std::memory_order_relaxed);
}

}  // namespace prof::analyzer
