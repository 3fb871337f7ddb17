#include "preload/control/unstarted.h"

#include "preload/base/decimal.h"
#include "preload/base/environment.h"
#include "preload/base/joined_text.h"
#include "preload/control/triggers.h"
#include "preload/record/recording_window.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

namespace prof::preload {

namespace {

constexpr size_t kSeenNames = 4, kSeenBytes = 64;

std::atomic<uint64_t> g_ranges;

// A name is complete once its size is set. Threads that see the same new name together may keep it twice.
struct SeenName {
  std::atomic<bool> taken{false};
  std::atomic<size_t> size{0};
  char text[kSeenBytes] = {};

  std::string_view view() const { return {text, size.load(std::memory_order_acquire)}; }
};
constinit SeenName g_names[kSeenNames];

}  // namespace

void saw_range(std::string_view domain, std::string_view range) {
  g_ranges.fetch_add(1, std::memory_order_relaxed);
  const JoinedText whole({range, domain.empty() ? "" : "@", domain});
  const std::string_view name = whole.view().substr(0, kSeenBytes);
  if (name.empty()) return;
  for (SeenName& seen : g_names) {
    if (seen.view() == name) return;
    if (seen.taken.load(std::memory_order_relaxed) || seen.taken.exchange(true)) continue;
    std::transform(name.begin(), name.end(), seen.text,
                   [](char c) { return static_cast<unsigned char>(c) < ' ' ? ' ' : c; });
    seen.size.store(name.size(), std::memory_order_release);
    return;
  }
}

void report_unstarted() {
  const bool launch = window_is(Window::AwaitsLaunch);
  if (!launch && !window_is(Window::AwaitsRange)) return;
  const char* const path = environment_variable("PROF_UNSTARTED");
  if (path == nullptr || *path == '\0') return;
  const int saved = errno;
  const Decimal count(launch ? passed_launches() : g_ranges.load(std::memory_order_relaxed));
  std::string_view names[kSeenNames], between[kSeenNames];
  for (size_t i = 0; i < kSeenNames && !launch; ++i) {
    names[i] = g_names[i].view();
    if (!names[i].empty()) between[i] = i == 0 ? " " : "\t";
  }
  const JoinedText line({launch ? "launches " : "ranges ", count.text(), between[0], names[0], between[1], names[1],
                         between[2], names[2], between[3], names[3], "\n"});
  // `prof record` created the file. The line is short enough to be written whole beside those of other processes.
  if (const int file = open(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC); file >= 0) {
    (void)!write(file, line.view().data(), line.view().size());
    close(file);
  }
  errno = saved;
}

}  // namespace prof::preload
