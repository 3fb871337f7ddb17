// See log_liveness.h. A pid alone is no proof: it may have been reused, or belong to another machine.
#include "analyzer/input/log/log_liveness.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

namespace prof::analyzer {

namespace {

constexpr int64_t kNsPerSecond = 1'000'000'000;

int64_t clock_ns(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<int64_t>(now.tv_sec) * kNsPerSecond + now.tv_nsec;
}

// State and start time of a process, from /proc/PID/stat. The name in parentheses may contain any characters.
bool process_start(uint32_t pid, char& state, int64_t& start_since_boot_ns) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text((std::istreambuf_iterator<char>(file)), {});
  const size_t close = text.rfind(')');
  if (close == std::string::npos) return false;
  std::istringstream fields(text.substr(close + 1));
  fields >> state;
  std::string field;
  for (int i = 4; i <= 22 && fields >> field; ++i) {}
  if (!fields) return false;
  start_since_boot_ns = std::strtoll(field.c_str(), nullptr, 10) * (kNsPerSecond / sysconf(_SC_CLK_TCK));
  return true;
}

}  // namespace

bool writer_is_alive(const format::FileHeader& header) {
  const auto pid = static_cast<pid_t>(header.pid);
  if (pid <= 0 || (kill(pid, 0) != 0 && errno != EPERM)) return false;
  // Realtime minus monotonic is the time of boot. Another value means another boot or another machine. One minute of
  // tolerance allows for corrections of the clock.
  const int64_t boot_now = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC);
  const auto boot_then = static_cast<int64_t>(header.start_realtime_ns - header.start_monotonic_ns);
  if (std::llabs(boot_now - boot_then) > 60 * kNsPerSecond) return false;
  char state = 0;
  int64_t started = 0;
  if (!process_start(header.pid, state, started)) return true;  // /proc is hidden: trust the pid
  const int64_t suspended = clock_ns(CLOCK_BOOTTIME) - clock_ns(CLOCK_MONOTONIC);
  return state != 'Z' && state != 'X' &&
         started - suspended <= static_cast<int64_t>(header.start_monotonic_ns) + kNsPerSecond;
}

}  // namespace prof::analyzer
