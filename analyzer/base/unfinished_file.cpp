// See unfinished_file.h. A signal handler reads the paths, so they are in a fixed table and change before they are
// published.
#include "analyzer/base/unfinished_file.h"

#include <unistd.h>

#include <atomic>
#include <climits>
#include <csignal>
#include <cstring>
#include <iterator>
#include <mutex>
#include <utility>

namespace prof::analyzer {

namespace {

struct Slot {
  std::atomic<bool> used{false};
  char path[PATH_MAX];
};
Slot g_slots[256];                                      // a dataset has many files until all are complete
static_assert(std::atomic<bool>::is_always_lock_free);  // a signal handler reads it

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

// SA_RESETHAND restored the default action: the second raise ends the process by the signal, as its parent expects.
void delete_files(int signal) {
  for (Slot& slot : g_slots) {
    if (slot.used.load(std::memory_order_acquire)) unlink(slot.path);
  }
  raise(signal);
}

void catch_signals() {
  for (const int signal : kSignals) {
    struct sigaction old {};
    sigaction(signal, nullptr, &old);
    if (old.sa_handler != SIG_DFL) continue;  // ignored (nohup), or handled by the command
    struct sigaction action {};
    action.sa_handler = delete_files;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigaction(signal, &action, nullptr);
  }
}

}  // namespace

UnfinishedFile::UnfinishedFile(std::string path) : path_(std::move(path)) {
  static std::once_flag once;
  std::call_once(once, catch_signals);
  if (path_.size() >= sizeof(Slot::path)) return;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  for (size_t i = 0; i < std::size(g_slots); ++i) {
    if (g_slots[i].used.load(std::memory_order_relaxed)) continue;
    std::memcpy(g_slots[i].path, path_.c_str(), path_.size() + 1);
    g_slots[i].used.store(true, std::memory_order_release);
    slot_ = i;
    return;
  }
}

void UnfinishedFile::keep() {
  if (slot_ != kNoSlot) g_slots[slot_].used.store(false, std::memory_order_release);
  slot_ = kNoSlot;
  path_.clear();
}

void UnfinishedFile::remove() {
  if (!path_.empty()) unlink(path_.c_str());
  keep();
}

}  // namespace prof::analyzer
