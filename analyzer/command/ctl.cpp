// prof ctl: starts or stops recordings of running processes from outside, changes the rate of their host samples, and
// reports what they are doing. prof and a process communicate through the words in preload/format/control_words.h.
#include "analyzer/base/unfinished_file.h"
#include "analyzer/command/choices.h"
#include "analyzer/command/command.h"
#include "analyzer/command/control_channel.h"
#include "analyzer/input/log/log_file.h"
#include "analyzer/input/log/log_health.h"
#include "analyzer/input/log/ring_copy.h"
#include "preload/format/control_words.h"
#include "preload/format/number_list.h"
#include "preload/format/option_values.h"
#include "preload/format/rank_variables.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace prof::analyzer {

namespace {

namespace fs = std::filesystem;
using format::option::HostRate;

// As PROF_HOST_SAMPLES has it.
std::string rate_text(const HostRate& rate) {
  return rate.wanted() ? fmt::format("{}{}", rate.starved ? "starved:" : "", rate.hz) : "off";
}

// Polls `done` until it returns true, for at most `seconds`. Returns false if the time is over.
template <class Done> bool wait_for(double seconds, Done&& done) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (!done()) {
    if (std::chrono::steady_clock::now() >= until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

// Another prof may have made a request that the process has not carried out yet; it would be lost.
void ask_next(Words& words, format::ControlCommand command, const HostRate& rate = {}) {
  wait_for(1, [&] { return words.answered(); });
  words.ask(command, rate);
}

void must_listen(Words& words, const std::string& pid) {
  if (words.listens()) return;
  throw std::runtime_error(fmt::format(
      "process {} cannot be controlled: its libprof.so is older than this prof, or its log is on a file system "
      "where it is written once a second",
      pid));
}

// What a process answered: the exit status of prof, and one line for each piece of information.
struct Answer {
  int status = kComplete;
  std::vector<std::string> lines;
};

Answer status(const std::string& process) {
  const Channel channel = channel_of(process);
  const std::string pid = process.substr(6);
  if (channel.path.empty()) {
    return {kComplete, {fmt::format("recording no: it waits for prof ctl {} start", pid)}};
  }
  const LogOpenResult opened = LogFile::open(channel.file);
  if (!opened) throw std::runtime_error(opened.error.text(channel.path));
  const LogHealth health = examine_log(*opened.log);
  Words words(channel);
  const uint64_t since = opened.log->header().start_realtime_ns / 1'000'000'000;
  const bool recording = opened.log->counter_page().finished == 0;
  uint64_t losses = 0;
  std::string names;
  for (const CounterHealth& counter : health.counters) {
    if (counter.severity != format::Severity::Loss) continue;
    losses += counter.value;
    names += fmt::format(" {} {}", counter.name, counter.value);
  }
  const std::string samples = words.switches_samples() ? rate_text(words.samples()) : "not known";
  return {losses == 0 ? kComplete : kPartial,
          {fmt::format("recording {} {:%Y-%m-%d %H:%M:%S} UTC", recording ? "since" : "no; the last part began",
                       fmt::gmtime(static_cast<std::time_t>(since))),
           fmt::format("log       {}", channel.path), fmt::format("samples   {}", recording ? samples : "off"),
           fmt::format("launches  {}", health.launches),
           fmt::format("lost      {}{}{}", losses, names.empty() ? "" : ":", names)}};
}

Answer start(const std::string& process, double wait) {
  const Channel channel = channel_of(process);
  const std::string pid = process.substr(6);
  Words words(channel);
  if (words.recording()) {
    return {kComplete, {fmt::format("process {} is being recorded: {}", pid, channel.path)}};
  }
  must_listen(words, pid);
  words.ask(format::ControlCommand::Start);
  std::optional<Channel> now;
  const auto begun = [&] {
    now = find_channel(process);
    return now && !now->path.empty() && now->path != channel.path && Words(*now).recording();
  };
  if (!wait_for(wait, begun)) {
    return {kPartial,
            {fmt::format("the request reached process {}; recording starts with its next CUDA or NVTX call", pid)}};
  }
  return {kComplete, {fmt::format("process {} is being recorded: {}", pid, now->path)}};
}

Answer stop(const std::string& process, double wait) {
  const Channel channel = channel_of(process);
  const std::string pid = process.substr(6);
  Words words(channel);
  if (!words.recording()) {
    must_listen(words, pid);
    words.take_back();  // a start request that no call has seen yet
    return {kComplete, {fmt::format("process {} is not being recorded", pid)}};
  }
  must_listen(words, pid);
  ask_next(words, format::ControlCommand::Stop);
  if (!wait_for(wait, [&] { return !words.recording(); })) {
    return {kPartial,
            {fmt::format("the request reached process {}, which has not stopped recording after {} s", pid, wait)}};
  }
  return {kComplete, {fmt::format("recorded: {}", channel.path)}};
}

// Host samples at this rate from now on.
Answer switch_samples(const std::string& process, const HostRate& rate, double wait) {
  const Channel channel = channel_of(process);
  const std::string pid = process.substr(6);
  Words words(channel);
  const auto must_record = [&] {
    if (words.recording()) return;
    throw std::runtime_error(
        fmt::format("process {} is not being recorded, so it takes no host samples: prof ctl {} "
                    "start begins a recording",
                    pid, pid));
  };
  must_record();
  must_listen(words, pid);
  if (!words.switches_samples()) {
    throw std::runtime_error(fmt::format(
        "process {} cannot change its host samples: its libprof.so is older than this prof; PROF_HOST_SAMPLES is read "
        "when the process starts",
        pid));
  }
  ask_next(words, format::ControlCommand::Samples, rate);
  if (!wait_for(wait, [&] { return words.answered() || !words.recording(); })) {
    return {kPartial,
            {fmt::format("the request reached process {}, which has not carried it out after {} s", pid, wait)}};
  }
  must_record();
  if (words.samples() != rate) {
    throw std::runtime_error(
        fmt::format("host samples of process {} are {}: its recording ends, it has no memory for them, or it got "
                    "another request",
                    pid, rate_text(words.samples())));
  }
  return {kComplete, {fmt::format("host samples: {}", rate_text(rate))}};
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
Answer dump_ring(const std::string& process, const std::string& output) {
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
  return {kComplete, {fmt::format("dumped: {}", path)}};
}

const std::vector<std::string> kCommands = {"start", "stop", "status", "dump", "samples"};

bool is_command(const std::string& word) {
  return std::find(kCommands.begin(), kCommands.end(), word) != kCommands.end();
}
bool is_rate(const std::string& word) {
  HostRate rate;
  return HostRate::read(word, {}, rate);
}

struct CtlArguments {
  std::string of;  // a process id or a folder
  std::string command;
  std::string rate;  // of samples
  bool all = false;
  double wait = 10;
  std::string output;
};

Answer control(const CtlArguments& options, const std::string& process) {
  if (options.command == "status") return status(process);
  if (options.command == "dump") return dump_ring(process, options.output);
  if (options.command == "samples") {
    HostRate rate;
    HostRate::read(options.rate, {}, rate);
    return switch_samples(process, rate, options.wait);
  }
  return options.command == "start" ? start(process, options.wait) : stop(process, options.wait);
}

int control_one(const CtlArguments& options) {
  const std::string process = "/proc/" + options.of;
  if (!fs::exists(process)) throw std::runtime_error(fmt::format("there is no process {}", options.of));
  const Answer answer = control(options, process);
  const bool waits = answer.status == kPartial && options.command != "status";
  if (options.command == "status") fmt::print("process   {}\n", options.of);
  for (const std::string& line : answer.lines)
    fmt::print(waits ? stderr : stdout, "{}{}\n", waits ? "prof: " : "", line);
  return answer.status;
}

// The folder for the logs of a process that waits for its first recording.
fs::path output_folder_of(const std::string& process) {
  std::error_code gone;
  const fs::path current = fs::read_symlink(process + "/cwd", gone);
  const std::string output = environment_of(process, "PROF_OUTPUT");
  const fs::path whole = current / output;
  return fs::is_directory(whole, gone) ? whole : whole.parent_path();
}

bool is_inside(const fs::path& path, const fs::path& folder) {
  std::error_code error;
  const fs::path a = fs::weakly_canonical(path, error), b = fs::weakly_canonical(folder, error);
  return std::mismatch(b.begin(), b.end(), a.begin(), a.end()).first == b.end();
}

// A process of a group.
struct Member {
  uint64_t pid = 0;
  std::string rank;
  Answer answer;
};

// The processes that can be reached and, if a folder is given, write their logs into it.
std::vector<Member> members(const std::string& folder) {
  std::vector<Member> found;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc")) {
    const std::string process = entry.path();
    uint64_t pid = 0;
    if (!format::read_number(process.substr(6), pid)) continue;
    try {
      const std::optional<Channel> channel = find_channel(process);
      if (!channel) continue;
      if (!folder.empty() &&
          !is_inside(channel->path.empty() ? output_folder_of(process) : fs::path(channel->path), folder))
        continue;
    } catch (const std::exception&) {
      continue;  // of another user, or it has just ended
    }
    Member& member = found.emplace_back();
    member.pid = pid;
    for (const char* const variable : format::kRankVariables) {
      if (member.rank.empty()) member.rank = environment_of(process, variable);
    }
  }
  std::sort(found.begin(), found.end(), [](const Member& a, const Member& b) {
    uint64_t x = 0, y = 0;
    const bool ranked = format::read_number(a.rank, x) && format::read_number(b.rank, y);
    return ranked && x != y ? x < y : a.pid < b.pid;
  });
  return found;
}

// All at once, because each may take up to --wait. One line a process.
int control_group(const CtlArguments& options) {
  if (!options.output.empty())
    throw std::runtime_error("-o: only with one process; dumps get the name prof.PID.dump.plog");
  if (!options.of.empty() && !fs::is_directory(options.of))
    throw std::runtime_error(fmt::format("{}: neither a process id nor a folder", options.of));
  std::vector<Member> group = members(options.of);
  if (group.empty())
    throw std::runtime_error(options.of.empty()
                                 ? "no process is recorded that may be looked at"
                                 : options.of + ": no process writes its log there that may be looked at");
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t i = next.fetch_add(1); i < group.size(); i = next.fetch_add(1)) {
      try {
        group[i].answer = control(options, fmt::format("/proc/{}", group[i].pid));
      } catch (const std::exception& error) {
        group[i].answer = {kUnusable, {error.what()}};
      }
    }
  };
  {
    constexpr size_t kMostThreads = 256;
    std::vector<std::jthread> threads;
    for (size_t i = 1; i < std::min(group.size(), kMostThreads); ++i) threads.emplace_back(work);
    work();
  }
  int worst = kComplete;
  for (const Member& member : group) {
    const std::string rank = member.rank.empty() ? "" : fmt::format("rank {}, ", member.rank);
    fmt::print("{}process {}: {}\n", rank, member.pid, fmt::join(member.answer.lines, "; "));
    worst = std::max(worst, member.answer.status);
  }
  return worst;
}

}  // namespace

void add_ctl(CLI::App& app, Run& run) {
  const auto options = std::make_shared<CtlArguments>();
  CLI::App* const verb = app.add_subcommand(
      "ctl", "begin, end or copy the recording of processes that run: prof ctl PID start|stop|status|dump|samples");
  verb->add_option("process", options->of, "the process, or the folder of the logs of several")
      ->option_text("PID|FOLDER");
  verb->add_option("command", options->command, "what to do")
      ->option_text("start|stop|status|dump|samples")
      ->check(words_validator(
          [](const std::string& word) {  // with --all, the rate is where the command is otherwise
            const bool like_rate =
                word == "off" || word == "starved" || word.find_first_of("0123456789:") != std::string::npos;
            return like_rate ? std::string() : one_of(kCommands)(word);
          },
          kCommands));
  verb->add_option(
          "rate", options->rate,
          "samples: the rate from now on until the recording ends, with the values of prof record --host-samples")
      ->option_text("off|HZ|starved[:HZ]");
  verb->add_flag("--all", options->all, "all recorded processes of this host that you may reach");
  verb->add_option("--wait", options->wait, "longest wait for a process to do it")
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
      "  prof ctl 4711 samples starved; sleep 10; prof ctl 4711 samples off      what does the host do meanwhile?\n"
      "  prof ctl logs/ status                        one line a process; srun prof ctl logs/ dump on each host\n"
      "A process is reached once it has made a CUDA or NVTX call, through its log or, with PROF_START=ctl, from the "
      "start.\n"
      "Exit status: 0 done, 1 requested but not done yet (status: records were lost), 2 it cannot be reached. Of "
      "several processes, the worst.");
  verb->callback([&run, options] {
    run = [options] {
      CtlArguments given = *options;
      if (given.all) {  // prof ctl --all samples off
        if (is_command(given.command) || !given.rate.empty())
          throw std::runtime_error("--all: without a process or a folder");
        given.rate = std::exchange(given.command, std::exchange(given.of, ""));
      }
      if (!is_command(given.command) || (!given.all && given.of.empty()))
        throw std::runtime_error(
            "a process id or a folder, and start, stop, status, dump or samples; see prof ctl --help");
      if (given.command != "samples" && !given.rate.empty())
        throw std::runtime_error(fmt::format("{}: only with samples", given.rate));
      if (given.command == "samples" && !is_rate(given.rate))
        throw std::runtime_error(
            fmt::format("samples: \"{}\" is not valid; give off, HZ, starved or starved:HZ, with 1 "
                        "to {} samples a second",
                        given.rate, HostRate::kMost));
      const bool is_pid = !given.all && given.of.find_first_not_of("0123456789") == std::string::npos;
      return is_pid ? control_one(given) : control_group(given);
    };
  });
}

}  // namespace prof::analyzer
