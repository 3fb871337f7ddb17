// See doctor_finding.h. Only a recording shows whether driver, CUPTI and permissions work. prof starts itself under
// libprof.so, fills some memory on the first GPU, and reads the log.
#include "analyzer/command/command.h"
#include "analyzer/command/cuda_driver.h"
#include "analyzer/command/doctor_finding.h"
#include "analyzer/input/importer.h"
#include "analyzer/input/log/log_health.h"
#include "analyzer/model/coverage.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <sstream>

namespace prof::analyzer {

namespace {

namespace fs = std::filesystem;
using SteadyClock = std::chrono::steady_clock;

constexpr int kFills = 100;
constexpr size_t kBytes = 4096;
constexpr auto kPatience = std::chrono::seconds(30);  // the first cuInit of a machine with many GPUs takes seconds

// Calls a driver function. A failure is printed on stdout, which the parent reads.
template <class... Args> bool said(CudaDriver& driver, const char* name, Args... args) {
  if (driver.call(name, args...)) return true;
  fmt::print("failed {}\n", driver.error());
  return false;
}

struct Ran {
  std::string output;
  std::string messages;
  int status = -1;  // as returned by waitpid
  bool timed_out = false;
};

// A measurement of hardware counters, tried in a run of its own: per launch, or as hardware samples.
struct Measuring {
  const char* topic;     // the fact of the log that has the result
  const char* variable;  // that requests it
  const char* usual;     // the value to try if it was not requested
  const char* none;      // start of a finding that there are none
  const char* some;
};
constexpr Measuring kMeasuring[] = {
    {"counters", "PROF_COUNTERS", "memory", "no hardware counters", "hardware counters can be measured"},
    {"sampling", "PROF_SAMPLING", "overview", "no samples of hardware counters", "hardware counters can be sampled"},
};

sigset_t ending_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) sigaddset(&signals, signal);
  return signals;
}

// Runs prof doctor --self-test-program under the recorder. `measuring`: the measurement to try with `set`; null: none.
Ran run_under(const std::string& library, const std::string& folder, const Measuring* measuring = nullptr,
              const std::string& set = "") {
  int out[2], err[2];
  Ran ran;
  if (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0) return ran;
  const pid_t child = fork();
  if (child == 0) {
    const sigset_t ends = ending_signals();
    sigprocmask(SIG_UNBLOCK, &ends, nullptr);
    dup2(out[1], STDOUT_FILENO);
    dup2(err[1], STDERR_FILENO);
    setenv("LD_PRELOAD", library.c_str(), 1);
    setenv("PROF_OUTPUT", folder.c_str(), 1);
    for (const Measuring& one : kMeasuring) setenv(one.variable, &one == measuring ? set.c_str() : "off", 1);
    unsetenv("PROF_COUNTERS_OF");
    unsetenv("PROF_QUIET");
    execl("/proc/self/exe", "prof", "doctor", "--self-test-program", nullptr);
    _exit(127);
  }
  close(out[1]);
  close(err[1]);
  const auto until = SteadyClock::now() + kPatience;
  pollfd ends[] = {{out[0], POLLIN, 0}, {err[0], POLLIN, 0}};
  for (int open_ends = 2; open_ends != 0;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - SteadyClock::now()).count();
    if (left <= 0 || poll(ends, 2, static_cast<int>(left)) <= 0) {
      ran.timed_out = true;
      if (child > 0) kill(child, SIGKILL);
      break;
    }
    for (pollfd& end : ends) {
      if (end.fd < 0 || end.revents == 0) continue;
      char bytes[4096];
      const ssize_t n = read(end.fd, bytes, sizeof bytes);
      if (n > 0) {
        (end.fd == out[0] ? ran.output : ran.messages).append(bytes, static_cast<size_t>(n));
      } else {
        end.fd = -1;
        --open_ends;
      }
    }
  }
  close(out[0]);
  close(err[0]);
  if (child > 0) waitpid(child, &ran.status, 0);
  return ran;
}

// "driver 13000" -> facts["driver"] == "13000"
std::map<std::string, std::string> facts_of(const std::string& output) {
  std::map<std::string, std::string> facts;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    const size_t space = line.find(' ');
    if (space != std::string::npos) facts[line.substr(0, space)] = line.substr(space + 1);
  }
  return facts;
}

Finding judge_driver(const std::map<std::string, std::string>& facts) {
  const auto get = [&](const char* name) { return facts.contains(name) ? facts.at(name) : std::string(); };
  if (get("driver") == "none")
    return {FindingVerdict::No, "driver", "libcuda.so.1 was not found: CUDA programs will not run here",
            "install NVIDIA's driver, or start the container with --gpus all"};
  const int version = std::atoi(get("driver").c_str());
  const std::string text = fmt::format("for CUDA {}.{}", version / 1000, version % 1000 / 10);
  if (facts.contains("failed"))
    return {FindingVerdict::No, "driver", text + "; " + get("failed"),
            "see whether nvidia-smi works, and which devices CUDA_VISIBLE_DEVICES names"};
  return {FindingVerdict::Ok, "driver", fmt::format("{}; {} GPUs, the first a {}", text, get("devices"), get("name")),
          ""};
}

Finding judge_gpu_times(const LogHealth& health, const Coverage& coverage) {
  const LogDefinitions& definitions = health.definitions;
  const std::string state(definitions.meta_value("gpu_times"));
  if (state == "off") return {FindingVerdict::Less, "GPU times", "turned off by PROF_GPU", "unset PROF_GPU"};
  if (state != "on")
    return {FindingVerdict::Less, "GPU times", state.empty() ? "CUPTI was not queried" : state,
            "install CUPTI of a CUDA no newer than the driver's and set PROF_CUPTI to its libcupti.so"};
  const std::string cupti = fmt::format("{} (version {}, found {})", definitions.meta_value("cupti_path"),
                                        definitions.meta_value("cupti_version"), definitions.meta_value("cupti_found"));
  if (coverage.launches_with_gpu_time < coverage.launches)
    return {
        FindingVerdict::Less, "GPU times",
        fmt::format("{}: only {} of {} operations have one", cupti, coverage.launches_with_gpu_time, coverage.launches),
        "see whether another tool holds CUPTI"};
  return {FindingVerdict::Ok, "GPU times", cupti, ""};
}

// The recorder's messages, in one line.
std::string messages_of(const Ran& ran) {
  std::string text = ran.messages.substr(0, 300);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  for (char& c : text) c = c == '\n' ? ' ' : c;
  return text.empty() ? "" : ": " + text;
}

// The finding of a run with this measurement. A user who did not request hardware counters does not miss them.
Finding judge_measuring(const Measuring& measuring, const Ran& ran, const std::string& folder, const std::string& set,
                        bool asked) {
  if (ran.timed_out || ran.status != 0)
    return {FindingVerdict::Less, measuring.topic,
            fmt::format("with {}={} the self-test {}{}", measuring.variable, set,
                        ran.timed_out ? fmt::format("did not end within {} s", kPatience.count())
                                      : fmt::format("ended with wait status {:#x}", ran.status),
                        messages_of(ran)),
            fmt::format("do not use {} here", measuring.variable)};
  std::string state = "the self-test with them has no log";
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".plog") continue;
    const LogOpenResult opened = LogFile::open(entry.path());
    if (!opened) continue;
    state = examine_log(*opened.log).definitions.meta_value(measuring.topic);
    if (state.empty()) state = "CUPTI was not queried";
  }
  if (state == "on") return {FindingVerdict::Ok, measuring.topic, fmt::format("{} ({})", measuring.some, set), ""};
  const std::string text = fmt::format("{}, which {} requests: {}", measuring.none, measuring.variable, state);
  if (asked)
    return {FindingVerdict::Less, measuring.topic, text,
            fmt::format("see docs/counters.md, or unset {}", measuring.variable)};
  return {FindingVerdict::Ok, measuring.topic, text, ""};
}

std::vector<Finding> judge(const Ran& ran, const std::string& folder) {
  const std::map<std::string, std::string> facts = facts_of(ran.output);
  if (ran.timed_out)
    return {{FindingVerdict::No, "self-test", fmt::format("no end within {} s{}", kPatience.count(), messages_of(ran)),
             "see whether nvidia-smi answers"}};
  if (WIFSIGNALED(ran.status) || !facts.contains("driver"))
    return {{FindingVerdict::No, "self-test",
             fmt::format("ended with wait status {:#x}{}", ran.status, messages_of(ran)),
             "run prof doctor --no-self-test, and a program with PROF_LOG=debug, to see which step it is"}};
  std::vector<Finding> findings{judge_driver(facts)};
  if (findings[0].verdict != FindingVerdict::Ok) return findings;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".plog") continue;
    const LogOpenResult opened = LogFile::open(entry.path());
    if (!opened) break;
    const LogHealth health = examine_log(*opened.log);
    const auto trace = read_trace({entry.path()});
    Coverage coverage;
    for (const Process& process : trace->processes) coverage.add(process.coverage);
    findings.push_back(judge_gpu_times(health, coverage));
    const bool all = health.whole() && coverage.launches == kFills;
    findings.push_back({all ? FindingVerdict::Ok : FindingVerdict::Less, "self-test",
                        fmt::format("{} of {} operations recorded, {} with GPU time, log {}", coverage.launches, kFills,
                                    coverage.launches_with_gpu_time, health.whole() ? "whole" : "not whole"),
                        all ? "" : "prof check names what was lost in a log"});
    return findings;
  }
  findings.push_back({FindingVerdict::No, "self-test", "no log was made" + messages_of(ran),
                      "see whether PROF_LIBRARY, or libprof.so beside prof, is the recorder of this prof"});
  return findings;
}

// The folder is deleted with this object. Until then, a signal that would end prof waits.
class TestFolder {
 public:
  TestFolder() : path_((fs::temp_directory_path() / "prof-doctor-XXXXXX").string()) {
    const sigset_t ends = ending_signals();
    sigprocmask(SIG_BLOCK, &ends, &before_);
    made_ = mkdtemp(path_.data()) != nullptr;
  }
  ~TestFolder() {
    std::error_code error;
    if (made_) fs::remove_all(path_, error);
    sigprocmask(SIG_SETMASK, &before_, nullptr);
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  bool made() const { return made_; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  sigset_t before_{};
  bool made_ = false;
};

}  // namespace

int self_test_program() {
  CudaDriver driver;
  if (!driver.there()) {
    fmt::print("driver none\n");
    return kComplete;
  }
  int version = 0, devices = 0, device = 0;
  void* context = nullptr;
  unsigned long long memory = 0;
  char name[256] = "?";
  said(driver, "cuDriverGetVersion", &version);
  fmt::print("driver {}\n", version);
  if (!said(driver, "cuInit", 0u) || !said(driver, "cuDeviceGetCount", &devices)) return kUnusable;
  fmt::print("devices {}\n", devices);
  if (!said(driver, "cuDeviceGet", &device, 0) ||
      !said(driver, "cuDeviceGetName", &name[0], static_cast<int>(sizeof name), device))
    return kUnusable;
  fmt::print("name {}\n", name);
  if (!said(driver, "cuDevicePrimaryCtxRetain", &context, device) || !said(driver, "cuCtxSetCurrent", context) ||
      !said(driver, "cuMemAlloc_v2", &memory, kBytes)) {
    return kUnusable;
  }
  for (int i = 0; i < kFills; ++i) {
    if (!said(driver, "cuMemsetD8_v2", memory, static_cast<unsigned char>(i), kBytes)) return kUnusable;
  }
  if (!said(driver, "cuCtxSynchronize") || !said(driver, "cuMemFree_v2", memory)) return kUnusable;
  return kComplete;
}

std::vector<Finding> run_self_test(const std::string& library) {
  const TestFolder folder;
  const Finding no_folder = {FindingVerdict::Less, "self-test",
                             "no folder could be made in " + fs::temp_directory_path().string(), "set TMPDIR"};
  if (!folder.made()) return {no_folder};
  std::vector<Finding> findings = judge(run_under(library, folder.path()), folder.path());
  if (findings[0].verdict != FindingVerdict::Ok) return findings;
  for (const Measuring& measuring : kMeasuring) {
    const TestFolder own;
    if (!own.made()) {
      findings.push_back(no_folder);
      return findings;
    }
    const char* const variable = std::getenv(measuring.variable);
    const bool asked = variable != nullptr && *variable != '\0' && std::strcmp(variable, "off") != 0;
    const std::string set = asked ? variable : measuring.usual;
    const Ran ran = run_under(library, own.path(), &measuring, set);
    findings.push_back(judge_measuring(measuring, ran, own.path(), set, asked));
  }
  return findings;
}

}  // namespace prof::analyzer
