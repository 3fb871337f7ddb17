#include "analyzer/command/inputs.h"

#include "analyzer/base/saturated.h"
#include "analyzer/command/command.h"
#include "analyzer/input/importer.h"

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>

namespace prof::analyzer {

std::unique_ptr<Trace> read_inputs(const std::vector<std::string>& paths) {
  ImportOptions options;
  const auto begin = std::chrono::steady_clock::now();
  auto last_told = begin;
  bool told = false;
  if (isatty(STDERR_FILENO) == 1) {
    options.progress = [&](double share) {
      constexpr std::chrono::seconds kQuiet{2};
      constexpr std::chrono::milliseconds kStep{200};
      const auto now = std::chrono::steady_clock::now();
      if (now - begin < kQuiet || now - last_told < kStep) return;
      std::fprintf(stderr, "\rprof: reading %3.0f%%", share * 100);
      last_told = now;
      told = true;
    };
  }
  std::unique_ptr<Trace> trace = read_trace(paths, options);
  if (told) std::fprintf(stderr, "\r\033[K");
  return trace;
}

int tell_damage(const Trace& trace) {
  int status = kComplete;
  for (const Process& process : trace.processes) {
    constexpr size_t kMost = 20;
    for (size_t i = 0; i < process.damage.size() && i < kMost; ++i) {
      std::fprintf(stderr, "prof: %s\n", process.damage[i].c_str());
    }
    if (process.damage.size() > kMost) {
      std::fprintf(stderr, "prof: %s: %zu more damaged places; prof check lists them\n", process.source.c_str(),
                   process.damage.size() - kMost);
    }
    for (const std::string& each : process.partial)
      std::fprintf(stderr, "prof: %s: %s\n", process.source.c_str(), each.c_str());
    if (!process.damage.empty() || !process.partial.empty()) status = kPartial;
  }
  if (any_sum_saturated) {
    std::fprintf(stderr, "prof: a sum is too large for 64 bits and is cut there\n");
    status = kPartial;
  }
  return status;
}

void ignore_broken_pipes() { std::signal(SIGPIPE, SIG_IGN); }

}  // namespace prof::analyzer
