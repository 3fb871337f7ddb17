// A program of this folder that ran under libprof.so on the simulated GPU, and the content of its log.
#pragma once

#include "preload/format/loss_counters.h"
#include "tests/unit/preload/capture_log.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>

namespace prof::test {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using Lines = std::vector<std::string>;

inline const std::string kBuild = PROF_BINARY_DIR;

// The value after " name=" in a line.
inline uint64_t field(const std::string& line, const std::string& name) {
  const size_t at = line.find(" " + name + "=");
  return at == std::string::npos ? 0 : std::stoull(line.substr(at + name.size() + 2));
}

class Ended {
 public:
  // `mode` is the program's arguments, `settings` are NAME=value. Runs the program to its end, or kills it `kill_after`
  // its "ready".
  Ended(const Lines& mode, const Lines& settings, std::optional<std::chrono::milliseconds> kill_after = {},
        const std::string& program = PROF_GPU_PROGRAM) {
    std::string name = (fs::temp_directory_path() / "prof-gpu-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    int ready[2];
    if (pipe(ready) != 0) return;
    const Clock::time_point begin = Clock::now();
    const pid_t child = fork();
    if (child == 0) {
      dup2(ready[1], STDOUT_FILENO);
      dup2(open((folder_ + "/stderr").c_str(), O_CREAT | O_WRONLY, 0600), STDERR_FILENO);
      unsetenv("CUDA_HOME");
      setenv("PROF_OUTPUT", folder_.c_str(), 1);
      setenv("LD_LIBRARY_PATH", (kBuild + "/sim").c_str(), 1);
      setenv("PROF_CUPTI", (kBuild + "/sim/libcupti.so.13").c_str(), 1);
      setenv("TOOL_CUPTI", (kBuild + "/sim/libcupti.so.13").c_str(), 1);
      setenv("LD_PRELOAD", (kBuild + "/lib/libprof.so").c_str(), 1);
      for (const std::string& setting : settings) putenv(strdup(setting.c_str()));
      Lines arguments = mode;
      arguments.insert(arguments.begin(), program);
      std::vector<char*> argv;
      for (std::string& argument : arguments) argv.push_back(argument.data());
      argv.push_back(nullptr);
      execv(argv[0], argv.data());
      _exit(97);
    }
    close(ready[1]);
    if (kill_after) {
      char text[6];
      EXPECT_EQ(read(ready[0], text, sizeof text), 6);
      usleep(static_cast<useconds_t>(std::chrono::microseconds(*kill_after).count()));
      kill(child, SIGKILL);
    }
    waitpid(child, &status, 0);
    char text[4096];
    for (ssize_t size = 0; (size = read(ready[0], text, sizeof text)) > 0;)
      output.append(text, static_cast<size_t>(size));
    close(ready[0]);
    seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_)) {
      if (entry.path().extension() == ".plog") log_ = entry.path().string();
    }
    EXPECT_FALSE(log_.empty());
    std::ifstream file(log_, std::ios::binary);
    file.seekg(format::kCounterPageOffset);
    file.read(reinterpret_cast<char*>(&page_), sizeof page_);
    std::ifstream errors(folder_ + "/stderr");
    for (std::string line; std::getline(errors, line);) messages.push_back(line);
  }
  ~Ended() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  Ended(const Ended&) = delete;
  Ended& operator=(const Ended&) = delete;

  Lines lines(const char* kind) const { return log_lines(log_, kind); }
  uint64_t counter(format::LossCounter counter) const { return page_.counter[static_cast<uint32_t>(counter)]; }
  uint64_t pending() const { return page_.gpu_pending; }
  bool finished() const { return page_.finished != 0; }
  std::string meta(const std::string& key) const {
    for (const std::string& line : lines("meta")) {
      if (line.starts_with("meta key=" + key + " value=")) return line.substr(key.size() + 16);
    }
    return "";
  }
  size_t records() const { return lines("kernel_run").size() + lines("copy_run").size() + lines("fill_run").size(); }

  int status = -1;
  double seconds = 0;
  std::string output;  // the program's
  Lines messages;      // on standard error

 private:
  std::string folder_, log_;
  format::CounterPage page_{};
};

}  // namespace prof::test
