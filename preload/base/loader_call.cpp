#include "preload/base/loader_call.h"

#include "preload/base/clock.h"

#include <atomic>
#include <cerrno>
#include <cstdint>

extern "C" {
extern void* __dso_handle;
int __register_atfork(void (*)(), void (*)(), void (*)(), void*);
}

namespace prof::preload {

namespace {

constexpr uint64_t kMostWaitNs = 100'000'000, kPauseNs = 20'000;

constinit std::atomic<uint32_t> g_inside{0};   // LoaderCalls of all threads
constinit std::atomic<uint32_t> g_forking{0};  // threads between their first fork handler and their last
constinit std::atomic<void (*)()> g_in_child{nullptr};
constinit thread_local uint32_t t_inside __attribute__((tls_model("initial-exec"))) = 0;
constinit thread_local bool t_forking __attribute__((tls_model("initial-exec"))) = false;

// Waits until `count` is at most `most`. False: it took too long.
bool await(const std::atomic<uint32_t>& count, uint32_t most) {
  if (count.load(std::memory_order_seq_cst) <= most) return true;
  const uint64_t until = monotonic_ns() + kMostWaitNs;
  while (count.load(std::memory_order_seq_cst) > most) {
    if (monotonic_ns() > until) return false;
    sleep_ns(kPauseNs);
  }
  return true;
}

void before_fork() {
  const int saved = errno;
  t_forking = true;
  g_forking.fetch_add(1, std::memory_order_seq_cst);
  await(g_inside, t_inside);
  errno = saved;
}

void after_fork_in_parent() {
  t_forking = false;
  g_forking.fetch_sub(1, std::memory_order_seq_cst);
}

void after_fork_in_child() {
  g_forking.store(0, std::memory_order_relaxed);
  g_inside.store(t_inside, std::memory_order_relaxed);
  if (void (*const start)() = g_in_child.load(std::memory_order_acquire); start != nullptr) start();
  t_forking = false;
}

}  // namespace

// Both sides write first and read then, so one of them sees the other.
LoaderCall::LoaderCall() {
  if (t_inside++ != 0 || t_forking) {
    g_inside.fetch_add(1, std::memory_order_seq_cst);
    return;
  }
  g_inside.fetch_add(1, std::memory_order_seq_cst);
  while (g_forking.load(std::memory_order_seq_cst) != 0) {
    g_inside.fetch_sub(1, std::memory_order_seq_cst);
    const bool ended = await(g_forking, 0);
    g_inside.fetch_add(1, std::memory_order_seq_cst);
    if (!ended) return;
  }
}

LoaderCall::~LoaderCall() {
  --t_inside;
  g_inside.fetch_sub(1, std::memory_order_seq_cst);
}

int visit_objects(int (*visit)(dl_phdr_info*, size_t, void*), void* context) {
  const LoaderCall inside;
  return dl_iterate_phdr(visit, context);
}

void guard_forks() {
  static constinit std::atomic<bool> registered{false};
  if (!registered.exchange(true, std::memory_order_relaxed))
    __register_atfork(before_fork, after_fork_in_parent, after_fork_in_child, &__dso_handle);
}

void set_start_in_child(void (*in_child)()) { g_in_child.store(in_child, std::memory_order_release); }

bool loader_may_be_locked() { return t_forking; }

}  // namespace prof::preload
