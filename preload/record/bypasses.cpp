#include "preload/record/bypasses.h"

#include "preload/base/about.h"
#include "preload/record/texts.h"
#include "preload/record/thread_local.h"
#include "preload/record/thread_scope.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

extern "C" {
uint32_t prof_deep_opens = 0, prof_namespace_opens = 0, prof_deep_opens_bound = 0;
}

namespace prof::preload {
namespace {

constexpr std::string_view kFacts[] = {"bypass.deepbind", "bypass.deepbind_refused", "bypass.audit",
                                       "bypass.audit_refused"};
static_assert(std::size(kFacts) == static_cast<size_t>(Bypass::Count));

struct Noted {
  std::atomic<uint32_t> state{0};    // 0 free, 1 being filled, 2 complete
  std::atomic<uint64_t> written{0};  // epoch of the recording whose log has it
  char name[256] = {};
};
constinit Noted g_noted[static_cast<size_t>(Bypass::Count)] = {};

// A driver in another namespace is a second libcuda in the map of the process.
struct Namespaces {
  std::atomic<uint32_t> opens{0}, looks{0};  // opens when the map was last read, and how often since that one
  std::atomic<bool> looking{false};          // one thread reads the map at a time
  std::atomic<bool> driver{false};           // another libcuda was found
  std::atomic<uint64_t> written{0};
};
constinit Namespaces g_namespaces;

// The number of mappings of the start of a file whose name starts with "libcuda.so". Reads the map in pieces.
uint32_t mapped_drivers() {
  const int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  static char buffer[8192];  // only one thread reads it at a time
  size_t kept = 0;
  uint32_t found = 0;
  for (;;) {
    const ssize_t got = read(fd, buffer + kept, sizeof buffer - 1 - kept);
    if (got <= 0) break;
    const size_t end = kept + static_cast<size_t>(got);
    buffer[end] = '\0';
    char* line = buffer;
    for (char* next = nullptr; (next = std::strchr(line, '\n')) != nullptr; line = next + 1) {
      *next = '\0';
      const char* const name = std::strstr(line, "/libcuda.so");
      if (name != nullptr && std::strstr(line, " 00000000 ") != nullptr) ++found;
    }
    kept = static_cast<size_t>(buffer + end - line);
    if (kept >= sizeof buffer - 1) kept = 0;  // no line is that long
    std::memmove(buffer, line, kept);
  }
  close(fd);
  return found;
}

// An open is noted before it is made, so the map is read several times after it.
void look_at_namespaces() {
  constexpr uint32_t kMostLooks = 40;
  const uint32_t opens = __atomic_load_n(&prof_namespace_opens, __ATOMIC_RELAXED);
  if (opens == 0 || g_namespaces.driver.load(std::memory_order_relaxed)) return;
  if (g_namespaces.opens.exchange(opens, std::memory_order_relaxed) != opens)
    g_namespaces.looks.store(0, std::memory_order_relaxed);
  if (g_namespaces.looks.fetch_add(1, std::memory_order_relaxed) >= kMostLooks) return;
  if (g_namespaces.looking.exchange(true, std::memory_order_acquire)) return;
  if (mapped_drivers() > 1) g_namespaces.driver.store(true, std::memory_order_relaxed);
  g_namespaces.looking.store(false, std::memory_order_release);
}

}  // namespace

void note_bypass(Bypass which, std::string_view name) {
  Noted& noted = g_noted[static_cast<size_t>(which)];
  uint32_t free = 0;
  if (!noted.state.compare_exchange_strong(free, 1, std::memory_order_acquire)) return;
  const size_t size = name.size() < sizeof noted.name - 1 ? name.size() : sizeof noted.name - 1;
  std::memcpy(noted.name, name.data(), size);
  noted.name[size] = '\0';
  noted.state.store(2, std::memory_order_release);
}

void describe_bypasses() {
  const int saved = errno;
  look_at_namespaces();
  const ThreadScope scope;
  for (size_t i = 0; scope.recording() && i < std::size(g_noted); ++i) {
    Noted& noted = g_noted[i];
    if (noted.state.load(std::memory_order_acquire) != 2 || noted.written.exchange(t_local.epoch) == t_local.epoch)
      continue;
    define_meta(kFacts[i],
                may_tell(option::About::Paths) || noted.name[0] != '/' ? std::string_view(noted.name) : "a library");
  }
  if (scope.recording() && g_namespaces.driver.load(std::memory_order_relaxed) &&
      g_namespaces.written.exchange(t_local.epoch) != t_local.epoch)
    define_meta("bypass.namespace", "a second libcuda");
  errno = saved;
}

}  // namespace prof::preload
