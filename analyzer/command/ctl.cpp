// prof ctl: starts or stops a recording of a running process from outside, and reports what the process is doing. prof
// and the process communicate through the words in preload/format/control_words.h. Only the process's own user (and
// root) can open them.
#include "analyzer/base/unfinished_file.h"
#include "analyzer/command/choices.h"
#include "analyzer/command/command.h"
#include "analyzer/input/log/log_file.h"
#include "analyzer/input/log/log_health.h"
#include "analyzer/input/log/ring_copy.h"
#include "preload/format/control_words.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>

namespace prof::analyzer {

namespace {

namespace fs = std::filesystem;

// A file of the recorder that the process has open.
struct Channel {
  std::string file;  // /proc/PID/fd/N
  std::string path;  // of the log; empty: the control page of a process that waits for its first recording
};

bool holds(const std::string& path, const char* text) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.find(text) != std::string::npos) return true;
  }
  return false;
}

// The pid of the process in its innermost namespace, if it runs in a container.
uint32_t inner_pid(const std::string& process) {
  std::ifstream file(process + "/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("NSpid:")) return static_cast<uint32_t>(std::stoul(line.substr(line.find_last_of(" \t") + 1)));
  }
  return static_cast<uint32_t>(std::stoul(process.substr(process.rfind('/') + 1)));
}

// Whether the file is a log of that process. A child also has its parent's log open.
bool is_log_of(const std::string& file, uint32_t pid) {
  struct stat s {};
  format::FileHeader header{};
  if (stat(file.c_str(), &s) != 0 || !S_ISREG(s.st_mode)) return false;
  std::ifstream stream(file, std::ios::binary);
  return stream.read(reinterpret_cast<char*>(&header), sizeof header) && header.magic == format::kFileMagic &&
         header.pid == pid;
}

// Returns the log if there is one, else the control page. Throws std::runtime_error if the process cannot be examined.
std::optional<Channel> find_channel(const std::string& process) {
  std::error_code error;
  std::optional<Channel> found;
  const uint32_t pid = inner_pid(process);
  for (const fs::directory_entry& entry : fs::directory_iterator(process + "/fd", error)) {
    std::error_code gone;
    const std::string target = fs::read_symlink(entry.path(), gone);
    if (gone) continue;
    if (target.starts_with(std::string("/memfd:") + format::kControlPageName)) {
      format::ControlWords words{};
      std::ifstream page(entry.path(), std::ios::binary);
      if (page.read(reinterpret_cast<char*>(&words), sizeof words) && words.pid == pid && !found)
        found = {entry.path(), ""};
    } else if (target.find(".plog") != std::string::npos || target.ends_with(" (deleted)")) {
      if (is_log_of(entry.path(), pid)) found = {entry.path(), target};
    }
  }
  if (error) {
    throw std::runtime_error(
        error == std::errc::permission_denied
            ? fmt::format("process {} belongs to another user, or may not be looked at", process.substr(6))
            : fmt::format("{}: {}", process, error.message()));
  }
  return found;
}

Channel channel_of(const std::string& process) {
  if (const std::optional<Channel> found = find_channel(process)) return *found;
  const std::string pid = process.substr(6);
  if (!holds(process + "/maps", "libprof.so"))
    throw std::runtime_error(fmt::format("process {} is not recorded: libprof.so is not loaded in it", pid));
  throw std::runtime_error(
      fmt::format("process {} has libprof.so, but nothing to be reached by: it has made no CUDA or NVTX call yet, or "
                  "it waits for what its PROF_START says (start it with PROF_START=ctl), or its log could not be made",
                  pid));
}

// The control words of a channel and the state of its log. They are mapped while the object exists.
class Words {
 public:
  explicit Words(const Channel& channel) {
    const int fd = open(channel.file.c_str(), O_RDWR | O_CLOEXEC);
    if (fd < 0) throw std::runtime_error(fmt::format("{}: {}", channel.file, std::strerror(errno)));
    is_log_ = !channel.path.empty();
    const off_t offset = is_log_ ? static_cast<off_t>(format::kCounterPageOffset) : 0;
    memory_ = mmap(nullptr, format::kBlockBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
    close(fd);
    if (memory_ == MAP_FAILED) throw std::runtime_error(fmt::format("{}: {}", channel.file, std::strerror(errno)));
  }
  ~Words() { munmap(memory_, format::kBlockBytes); }
  Words(const Words&) = delete;
  Words& operator=(const Words&) = delete;

  bool recording() const { return is_log_ && __atomic_load_n(&page().finished, __ATOMIC_ACQUIRE) == 0; }
  bool listens() { return __atomic_load_n(&words().version, __ATOMIC_ACQUIRE) != 0; }
  void ask(format::ControlCommand command) {
    const uint32_t last = __atomic_load_n(&words().request, __ATOMIC_RELAXED);
    const uint32_t request = format::control_request(format::number_of_request(last) + 1, command);
    __atomic_store_n(&words().request, request, __ATOMIC_RELEASE);
  }
  void take_back() {
    __atomic_store_n(&words().request, __atomic_load_n(&words().answer, __ATOMIC_RELAXED), __ATOMIC_RELEASE);
  }

 private:
  const format::CounterPage& page() const { return *static_cast<const format::CounterPage*>(memory_); }
  format::ControlWords& words() {
    char* const at = static_cast<char*>(memory_) + (is_log_ ? offsetof(format::CounterPage, control) : 0);
    return *reinterpret_cast<format::ControlWords*>(at);
  }
  void* memory_ = nullptr;
  bool is_log_ = false;
};

// Polls `done` until it returns true, for at most `seconds`. Returns false if the time is over.
template <class Done> bool wait_for(double seconds, Done&& done) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (!done()) {
    if (std::chrono::steady_clock::now() >= until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

void must_listen(Words& words, const std::string& pid) {
  if (words.listens()) return;
  throw std::runtime_error(fmt::format(
      "process {} cannot be controlled: its libprof.so is older than this prof, or its log is on a file system "
      "where it is written once a second",
      pid));
}

int status(const std::string& process) {
  const Channel channel = channel_of(process);
  const std::string pid = process.substr(6);
  if (channel.path.empty()) {
    fmt::print("process   {}\nrecording no: it waits for prof ctl {} start\n", pid, pid);
    return kComplete;
  }
  const LogOpenResult opened = LogFile::open(channel.file);
  if (!opened) throw std::runtime_error(opened.error.text(channel.path));
  const LogHealth health = examine_log(*opened.log);
  const uint64_t since = opened.log->header().start_realtime_ns / 1'000'000'000;
  const bool recording = opened.log->counter_page().finished == 0;
  fmt::print("process   {}\n", pid);
  fmt::print("recording {} {:%Y-%m-%d %H:%M:%S} UTC\n", recording ? "since" : "no; the last part began",
             fmt::gmtime(static_cast<std::time_t>(since)));
  fmt::print("log       {}\nlaunches  {}\n", channel.path, health.launches);
  uint64_t losses = 0;
  std::string names;
  for (const CounterHealth& counter : health.counters) {
    if (counter.severity != format::Severity::Loss) continue;
    losses += counter.value;
    names += fmt::format(" {} {}", counter.name, counter.value);
  }
  fmt::print("lost      {}{}{}\n", losses, names.empty() ? "" : ":", names);
  return losses == 0 ? kComplete : kPartial;
}

int start(const std::string& process, double wait) {
  const Channel channel = channel_of(process);
  const std::string pid = process.substr(6);
  Words words(channel);
  if (words.recording()) {
    fmt::print("process {} is being recorded: {}\n", pid, channel.path);
    return kComplete;
  }
  must_listen(words, pid);
  words.ask(format::ControlCommand::Start);
  std::optional<Channel> now;
  const auto begun = [&] {
    now = find_channel(process);
    return now && !now->path.empty() && now->path != channel.path && Words(*now).recording();
  };
  if (!wait_for(wait, begun)) {
    fmt::print(stderr, "prof: the request reached process {}; recording starts with its next CUDA or NVTX call\n", pid);
    return kPartial;
  }
  fmt::print("process {} is being recorded: {}\n", pid, now->path);
  return kComplete;
}

int stop(const std::string& process, double wait) {
  const Channel channel = channel_of(process);
  const std::string pid = process.substr(6);
  Words words(channel);
  if (!words.recording()) {
    must_listen(words, pid);
    words.take_back();  // a start request that no call has seen yet
    fmt::print("process {} is not being recorded\n", pid);
    return kComplete;
  }
  must_listen(words, pid);
  words.ask(format::ControlCommand::Stop);
  if (!wait_for(wait, [&] { return !words.recording(); })) {
    fmt::print(stderr, "prof: the request reached process {}, which has not stopped recording after {} s\n", pid, wait);
    return kPartial;
  }
  fmt::print("recorded: {}\n", channel.path);
  return kComplete;
}

// Creates a file with an unused name. Only its owner can access it, because the log contains what the program did.
int create_new(const std::string& given, uint32_t pid, std::string& path) {
  for (int number = 1; number < 10'000; ++number) {
    path =
        given.empty() ? fmt::format("prof.{}.dump{}.plog", pid, number == 1 ? "" : fmt::format("-{}", number)) : given;
    const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd >= 0) return fd;
    if (errno != EEXIST || !given.empty()) break;
  }
  throw std::runtime_error(fmt::format("{} cannot be created: {}", path, std::strerror(errno)));
}

void write_all(int fd, const std::vector<uint8_t>& bytes, const std::string& path) {
  for (size_t at = 0; at < bytes.size();) {
    const ssize_t done = write(fd, bytes.data() + at, bytes.size() - at);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) {
      const int error = errno;
      unlink(path.c_str());
      throw std::runtime_error(fmt::format("{} cannot be written: {}", path, std::strerror(error)));
    }
    at += static_cast<size_t>(done);
  }
}

uint64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

// Writes the current contents of a process's ring as a separate log. The process is not contacted and does not notice.
int dump_ring(const std::string& process, const std::string& output) {
  const Channel channel = channel_of(process);
  const std::string pid = process.substr(6);
  if (channel.path.empty()) throw std::runtime_error(fmt::format("process {} is not being recorded yet", pid));
  const int log = open(channel.file.c_str(), O_RDONLY | O_CLOEXEC);
  if (log < 0) throw std::runtime_error(fmt::format("{}: {}", channel.file, std::strerror(errno)));
  format::CounterPage page{};
  format::FileHeader header{};
  const bool read = pread(log, &header, sizeof header, 0) == static_cast<ssize_t>(sizeof header) &&
                    pread(log, &page, sizeof page, format::kCounterPageOffset) == static_cast<ssize_t>(sizeof page);
  std::string why;
  if (!read)
    why = "cannot be read";
  else if (page.finished != 0)
    why = "was closed: it is whole as it is";
  else if (page.ring.bytes == 0)
    why = "is no ring (PROF_RING): it holds everything, and can be read at any time";
  else if (header.backing != format::Backing::Mapped)
    why = "is on a file system where it is written once a second: what is in the file is between two moments";
  std::vector<uint8_t> copy;
  if (why.empty()) copy_ring(log, copy, why);
  const uint64_t now = monotonic_ns();
  close(log);
  if (!why.empty()) throw std::runtime_error(fmt::format("the log {} {}", channel.path, why));
  std::string path;
  const int fd = create_new(output, static_cast<uint32_t>(std::stoul(pid)), path);
  UnfinishedFile unfinished(path);
  try {
    write_all(fd, as_closed_log(copy, now), path);
  } catch (...) {
    close(fd);
    throw;
  }
  if (close(fd) != 0) throw std::runtime_error(fmt::format("{} cannot be written: {}", path, std::strerror(errno)));
  unfinished.keep();
  fmt::print("dumped: {}\n", path);
  return kComplete;
}

}  // namespace

void add_ctl(CLI::App& app, Run& run) {
  struct Options {
    uint32_t pid = 0;
    std::string command;
    double wait = 10;
    std::string output;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* const verb = app.add_subcommand(
      "ctl", "begin, end or copy the recording of a process that runs: prof ctl PID start|stop|status|dump");
  verb->add_option("pid", options->pid, "the process")->option_text("PID")->check(whole_number(1))->required();
  verb->add_option("command", options->command, "what to do")
      ->option_text("start|stop|status|dump")
      ->required()
      ->check(one_of({"start", "stop", "status", "dump"}));
  verb->add_option("--wait", options->wait, "longest wait for the process to do it")
      ->option_text("SECONDS=10")
      ->check(decimal_number(0, 3600))
      ->capture_default_str();
  verb->add_option("-o,--output", options->output, "dump: the new log; without it prof.PID.dump.plog here")
      ->option_text("FILE");
  verb->footer(
      "Examples:\n"
      "  PROF_START=ctl prof record -- ./server &     nothing is recorded yet\n"
      "  prof ctl 4711 start; sleep 10; prof ctl 4711 stop\n"
      "  PROF_RING=256M prof record -- ./server &     later: prof ctl 4711 dump -o slow.plog\n"
      "A process is reached once it has made a CUDA or NVTX call, through its log or, with PROF_START=ctl, from the "
      "start.\n"
      "Exit status: 0 done, 1 requested but not done yet (status: records were lost), 2 it cannot be reached.");
  verb->callback([&run, options] {
    run = [options] {
      const std::string process = fmt::format("/proc/{}", options->pid);
      if (!fs::exists(process)) throw std::runtime_error(fmt::format("there is no process {}", options->pid));
      if (options->command == "status") return status(process);
      if (options->command == "dump") return dump_ring(process, options->output);
      return options->command == "start" ? start(process, options->wait) : stop(process, options->wait);
    };
  });
}

}  // namespace prof::analyzer
