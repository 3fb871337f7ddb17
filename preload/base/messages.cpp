#include "preload/base/messages.h"

#include "preload/base/decimal.h"
#include "preload/base/options.h"
#include "preload/base/signals.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <initializer_list>

namespace prof::preload {

namespace {

void write_line(std::initializer_list<std::string_view> parts) {
  const int saved = errno;
  char line[1024];
  size_t size = 0;
  for (const std::string_view part : parts) {
    const size_t room = sizeof line - 1 - size;
    const size_t n = part.size() < room ? part.size() : room;
    if (n != 0) std::memcpy(line + size, part.data(), n);
    size += n;
  }
  line[size++] = '\n';
  {
    const WriteSignalsBlocked guard;
    syscall(SYS_write, STDERR_FILENO, line, size);
  }
  errno = saved;
}

}  // namespace

void explain(std::string_view a, std::string_view b, std::string_view c, std::string_view d) {
  if (options().log != option::Log::Debug) return;
  const Decimal pid(static_cast<uint64_t>(getpid()));
  write_line({"libprof: debug: [", pid.text(), "] ", a, b, c, d});
}

void say(std::atomic<bool>& once, std::string_view a, std::string_view b, std::string_view c, std::string_view d) {
  if (once.exchange(true, std::memory_order_relaxed) || options().quiet) return;
  write_line({"libprof: ", a, b, c, d});
}

}  // namespace prof::preload
