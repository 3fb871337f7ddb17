// Runs a program as a user does, with its output to /dev/null, and measures what it took.
#pragma once

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <vector>

namespace prof::bench {

struct Cost {
  double wall_s = 0, cpu_s = 0, peak_mb = 0;
  int status = -1;  // as from waitpid(); -1: not started
};

inline Cost cost_of(std::vector<std::string> words) {
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  const auto begin = std::chrono::steady_clock::now();
  Cost cost;
  pid_t child = 0;
  if (posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), environ) == 0) {
    rusage usage{};
    wait4(child, &cost.status, 0, &usage);
    cost.cpu_s = seconds(usage.ru_utime) + seconds(usage.ru_stime);
    cost.peak_mb = static_cast<double>(usage.ru_maxrss) / 1024;
  }
  cost.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  posix_spawn_file_actions_destroy(&actions);
  return cost;
}

}  // namespace prof::bench
