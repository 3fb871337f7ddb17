#include "preload/control/prof_ctl.h"

#include "preload/base/messages.h"
#include "preload/format/control_words.h"
#include "preload/format/option_values.h"
#include "preload/host_samples/host_sampler.h"
#include "preload/log/log_storage.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

namespace prof::preload {

constinit ControlPlace g_control_place = {};
static_assert(sizeof(ControlPlace) == kLargestPage);

namespace {

using format::ControlCommand;
using format::ControlWords;

constexpr int kLowestDescriptor = 512;

std::atomic_ref<uint32_t> request_of(ControlWords& words) { return std::atomic_ref(words.request); }

void listen(ControlWords* words) {
  words->pid = static_cast<uint32_t>(getpid());
  words->answer = words->request;
  std::atomic_ref(words->version).store(format::kControlVersion, std::memory_order_release);
  g_control_place.words.store(words, std::memory_order_release);
}

void open_page() {
  if (g_control_place.opened.exchange(1, std::memory_order_acq_rel) != 0) return;
  const int saved = errno;
  madvise(&g_control_place, sizeof g_control_place, MADV_WIPEONFORK);
  g_control_place.opened.store(1, std::memory_order_relaxed);
  constexpr unsigned kCloseOnExec = 1;
  int fd = static_cast<int>(syscall(SYS_memfd_create, format::kControlPageName, kCloseOnExec));
  if (const int high = fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, kLowestDescriptor) : -1; high >= 0) {
    close(fd);
    fd = high;
  }
  void* page = MAP_FAILED;
  if (fd >= 0 && fchmod(fd, 0600) == 0 && ftruncate(fd, 4096) == 0)
    page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (page == MAP_FAILED) {
    if (fd >= 0) close(fd);
    static std::atomic<bool> said{false};
    say(said, "no page for prof ctl (no memfd_create?), so it cannot start a recording here; nothing is recorded");
  } else {
    g_control_place.descriptor = fd + 1;
    listen(static_cast<ControlWords*>(page));
  }
  errno = saved;
}

// Closes the descriptor of our own page, unless the program closed it and its number now belongs to another file.
void close_page() {
  const int fd = g_control_place.descriptor - 1;
  g_control_place.descriptor = 0;
  char link[64] = {};
  char name[] = "/proc/self/fd/\0\0\0\0\0\0\0\0\0\0";
  char* at = name + sizeof "/proc/self/fd/" - 1;
  char digits[10];
  int n = 0;
  for (int left = fd; n == 0 || left != 0; left /= 10) digits[n++] = static_cast<char>('0' + left % 10);
  while (n != 0) *at++ = digits[--n];
  const ssize_t size = readlink(name, link, sizeof link - 1);
  if (size > 0 &&
      std::string_view(link, static_cast<size_t>(size)).find(format::kControlPageName) != std::string_view::npos)
    close(fd);
}

// A request that was not answered yet. `words` is null if there is none.
struct OpenRequest {
  ControlWords* words = nullptr;
  uint32_t request = 0, last_answer = 0;

  ControlCommand command() const { return format::command_of_request(request); }
  // Returns false if another thread answered it.
  bool answer() {
    return std::atomic_ref(words->answer).compare_exchange_strong(last_answer, request, std::memory_order_acq_rel);
  }
};

OpenRequest open_request() {
  ControlWords* const words = g_control_place.words.load(std::memory_order_acquire);
  if (words == nullptr) return {};
  const uint32_t request = request_of(*words).load(std::memory_order_acquire);
  const uint32_t answer = std::atomic_ref(words->answer).load(std::memory_order_relaxed);
  if (request == answer) [[likely]]
    return {};
  if (words->pid != static_cast<uint32_t>(getpid())) return {};
  return {words, request, answer};
}

// Takes a request. Returns true if its command is `wanted`. Any other command makes no sense now and is taken too.
bool take(OpenRequest open, ControlCommand wanted) {
  return open.words != nullptr && open.answer() && open.command() == wanted;
}

}  // namespace

void open_control() {
  if (g_control_place.opened.exchange(1, std::memory_order_acq_rel) == 0) {
    madvise(&g_control_place, sizeof g_control_place, MADV_WIPEONFORK);
    g_control_place.opened.store(1, std::memory_order_relaxed);
  }
  if (g_control_place.descriptor != 0) close_page();  // its memory stays: other threads may be reading it
  listen(&g_log.counters()->control);
}

void close_control() { g_control_place.words.store(nullptr, std::memory_order_release); }

bool control_start_requested(bool waits) {
  if (g_control_place.words.load(std::memory_order_relaxed) == nullptr) {
    if (waits) open_page();
    return false;
  }
  return take(open_request(), ControlCommand::Start);
}

bool control_stop_requested() {
  const OpenRequest open = open_request();
  return open.command() != ControlCommand::Samples && take(open, ControlCommand::Stop);
}

void switch_samples_if_requested() {
  OpenRequest open = open_request();
  if (open.words == nullptr || open.command() != ControlCommand::Samples) return;
  switch_host_samples(format::option::HostRate::of_word(format::rate_of_request(open.request)));
  open.answer();
}

}  // namespace prof::preload
