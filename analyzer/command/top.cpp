// prof top: what recorded programs do now. Reads what is new in their logs each second; the programs do not notice.
#include "analyzer/base/input_error.h"
#include "analyzer/base/json/json_text.h"
#include "analyzer/base/sink.h"
#include "analyzer/command/choices.h"
#include "analyzer/command/command.h"
#include "analyzer/command/control_channel.h"
#include "analyzer/command/inputs.h"
#include "analyzer/command/output_options.h"
#include "analyzer/command/top_screen.h"
#include "analyzer/input/log/log_liveness.h"
#include "analyzer/live/live_text.h"
#include "analyzer/output/forms.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <thread>

namespace prof::analyzer {

namespace {

using std::chrono::nanoseconds;

struct TopArguments {
  std::string target = ".";
  OutputOptions output;
  std::string format;
  double interval = 1;
  uint32_t limit = 10;
  uint32_t count = 0;
  bool once = false;
};

// The logs that are shown: of one file, of a process, or of all processes that record into a folder. A process may
// start another recording, and call exec, so its log may change.
class Logs {
 public:
  Logs(std::string target, nanoseconds window) : target_(std::move(target)), window_(window) {
    const bool number = !target_.empty() && target_.find_first_not_of("0123456789") == std::string::npos;
    struct stat info {};
    const bool exists = stat(target_.c_str(), &info) == 0;
    if (!exists && !(number && access(("/proc/" + target_).c_str(), F_OK) == 0))
      throw std::runtime_error(fmt::format("{}: there is no such log, folder or process", target_));
    what_ = !exists ? What::Process : S_ISDIR(info.st_mode) ? What::Folder : What::File;
  }

  std::vector<LiveSample> sample() {
    choose();
    std::vector<LiveSample> samples;
    for (auto& [key, log] : logs_) {
      constexpr nanoseconds kFirst = std::chrono::milliseconds(300), kLater = std::chrono::milliseconds(10);
      LiveSample sample = log.live->sample(log.sampled ? kLater : kFirst);
      if (what_ != What::File) sample.path = key;
      log.sampled = true;
      log.ended = sample.state != LiveState::Recording;
      samples.push_back(std::move(sample));
    }
    return samples;
  }

  // Nothing more will come. A process may start another recording.
  bool ended() const {
    if (what_ == What::Folder) return false;
    if (what_ == What::Process) return access(("/proc/" + target_).c_str(), F_OK) != 0;
    return std::all_of(logs_.begin(), logs_.end(), [](const auto& entry) { return entry.second.ended; });
  }

 private:
  struct Log {
    std::unique_ptr<LiveLog> live;
    bool sampled = false, ended = false;
  };

  void choose() {
    switch (what_) {
      case What::File: open_log(target_, target_); break;
      case What::Process: choose_of_process(); break;
      case What::Folder: choose_of_folder(); break;
    }
  }

  void open_log(const std::string& key, const std::string& file) {
    const auto known = logs_.find(key);
    if (known != logs_.end() && !(what_ == What::File && known->second.live->replaced())) return;
    logs_[key] = {std::make_unique<LiveLog>(file, window_), false, false};
  }

  void choose_of_process() {
    const std::string process = "/proc/" + target_;
    if (logs_.empty()) {
      const Channel channel = channel_of(process);
      if (channel.path.empty())
        throw std::runtime_error(fmt::format("process {} waits for `prof ctl {} start`", target_, target_));
      open_log(channel.path, channel.file);
      return;
    }
    if (access(process.c_str(), F_OK) != 0) return;  // it ended; the last sample has the state
    const std::optional<Channel> now = find_channel(process);
    if (!now || now->path.empty() || logs_.contains(now->path)) return;
    logs_.clear();
    open_log(now->path, now->file);
  }

  // Logs whose process records. A log that is finished or whose process is gone is looked at once.
  void choose_of_folder() {
    std::erase_if(logs_, [](const auto& entry) { return entry.second.ended; });
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(target_, error)) {
      const std::string path = entry.path().string();
      struct stat info {};
      if (!path.ends_with(".plog") || logs_.contains(path) || stat(path.c_str(), &info) != 0 ||
          !S_ISREG(info.st_mode) || over_.contains(info.st_ino))
        continue;
      switch (state_of(path)) {
        case State::Recording: open_log(path, path); break;
        case State::Over: over_.insert(info.st_ino); break;
        case State::Unknown: break;
      }
    }
    if (error) throw std::runtime_error(fmt::format("{}: {}", target_, error.message()));
  }

  enum class State { Recording, Over, Unknown };
  // Unknown: it has no header yet.
  static State state_of(const std::string& path) {
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return State::Over;
    format::FileHeader header{};
    format::CounterPage page{};
    const bool read = pread(fd, &header, sizeof header, 0) == static_cast<ssize_t>(sizeof header) &&
                      pread(fd, &page, sizeof page, format::kCounterPageOffset) == static_cast<ssize_t>(sizeof page);
    close(fd);
    if (!read || header.magic != format::kFileMagic) return State::Unknown;
    return page.finished == 0 && writer_is_alive(header) ? State::Recording : State::Over;
  }

  enum class What { File, Process, Folder };
  std::string target_;
  nanoseconds window_;
  What what_{};
  std::map<std::string, Log> logs_;  // by path
  std::set<ino_t> over_;             // of a folder
};

std::string text_of(const Form& form, const std::vector<LiveSample>& samples, const TopArguments& options) {
  if (form.name == "json") return live_json(samples);
  if (form.name == "openmetrics") return live_openmetrics(samples);
  if (samples.empty()) return fmt::format("no process records into {}\n", options.target);
  std::string text = live_text(samples, options.limit);
  const size_t width = options.output.terminal_columns();
  if (width == 0) return text;
  std::string fitting;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    fitting += cut_text(std::string(line), width) + '\n';
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
  }
  return fitting;
}

int run_top(const TopArguments& options) {
  ignore_broken_pipes();
  const OutputOptions& output = options.output;
  const Form& form = choose_form(kTopForms, "top", options.format, output.path);
  check_output(output.path, output.force, std::vector<std::string>{options.target});
  const auto window = std::chrono::duration_cast<nanoseconds>(std::chrono::duration<double>(options.interval));
  Logs logs(options.target, window);
  auto next = std::chrono::steady_clock::now();
  std::vector<LiveSample> samples = logs.sample();  // before the screen: an error is a line of text
  const bool alone = options.once || options.count != 0 || !options.format.empty() || !output.is_stdout();
  const std::unique_ptr<TopScreen> screen = alone ? nullptr : TopScreen::open();
  while (screen != nullptr) {
    next += window;
    if (!screen->show(samples, options.target, next)) return kComplete;
    samples = logs.sample();
  }
  for (uint32_t round = 1;; ++round) {
    if (round > 1) samples = logs.sample();
    std::string text = text_of(form, samples, options);
    if (form.name == "text" && round > 1) text.insert(0, "\n");
    Sink sink(output.path);
    sink.write(text);
    sink.close();
    if (options.once || round == options.count || logs.ended()) {
      const bool lost = std::any_of(samples.begin(), samples.end(), [](const LiveSample& sample) {
        return !sample.lost.empty() || sample.damaged_blocks != 0;
      });
      return lost ? kPartial : kComplete;
    }
    next += window;
    std::this_thread::sleep_until(next);
  }
}

}  // namespace

void add_top(CLI::App& app, Run& run) {
  CLI::App* const verb =
      app.add_subcommand("top", "what recorded programs do now: prof top [PID|LOG|FOLDER], each second");
  const auto options = std::make_shared<TopArguments>();
  verb->add_option("TARGET", options->target,
                   "a process, its log, or the folder with the logs of several (default: .)");
  verb->add_flag("--once", options->once, "print the last second and end");
  verb->add_option("--interval", options->interval, "length of a second")
      ->option_text("SECONDS=1")
      ->check(decimal_number(0.1, 10));
  verb->add_option("--count", options->count, "end after so many intervals")->option_text("N")->check(whole_number(1));
  verb->add_option("--limit", options->limit, "text: most kernels and streams of a process; 0: all")
      ->option_text("N=10")
      ->check(whole_number(0));
  verb->add_option("--format", options->format,
                   "text, json or openmetrics; without it, the end of the output file's name selects it")
      ->check(one_of({"text", "json", "openmetrics"}))
      ->option_text("FORMAT");
  options->output.add_to(*verb,
                         "file, which each interval replaces, - for stdout; the end of its name selects the form");
  verb->footer(
      "Examples:\n"
      "  prof top 4711                                   what process 4711 does\n"
      "  prof top logs/ --once --format json             all processes that record into logs/\n"
      "  prof top logs/ -o /var/lib/node_exporter/prof.prom   for node_exporter's textfile collector\n");
  verb->callback([options, &run] { run = [options] { return run_top(*options); }; });
}

}  // namespace prof::analyzer
