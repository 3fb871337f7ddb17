// prof record: runs a program with libprof.so preloaded, ends with the program's exit status or signal, and prints the
// names of the logs. Its flags are the recorder's options: preload/format/options.def.
#include "analyzer/base/shell_word.h"
#include "analyzer/base/unfinished_file.h"
#include "analyzer/command/chip_metrics.h"
#include "analyzer/command/command.h"
#include "analyzer/command/counter_list.h"
#include "analyzer/command/record_child.h"
#include "analyzer/command/record_program.h"
#include "analyzer/command/record_reasons.h"
#include "analyzer/command/recorder_library.h"
#include "analyzer/command/usage.h"
#include "preload/format/block.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <stdexcept>

namespace prof::analyzer {

namespace {

namespace fs = std::filesystem;

// PROF_OUTPUT with an absolute folder, because the program may change its working folder.
std::string absolute_output(const std::string& output) { return fs::absolute(output).lexically_normal(); }

struct MadeLog {
  fs::path path;
  uint64_t bytes = 0;
};

// Every program of a recording has this variable, and logs contain it: the numbers of `prof record` and of those that
// it was started by.
constexpr char kRunVariable[] = "PROF_RECORD";

// Whether the log is of another `prof record`. A log that does not contain the variable may be of any.
bool is_of_another_run(std::ifstream& file, const std::string& run) {
  constexpr size_t kSearched = 1 << 20;  // the facts of a process are at the start of its log
  std::string bytes(kSearched, '\0');
  file.clear();
  file.seekg(0);
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<size_t>(file.gcount()));
  const std::string begin = std::string(kRunVariable) + "=";
  const size_t at = bytes.find(begin);
  if (at == std::string::npos) return false;
  const size_t from = at + begin.size();
  const std::string runs = bytes.substr(from, bytes.find_first_not_of("0123456789-,", from) - from);
  return ("," + runs + ",").find("," + run + ",") == std::string::npos;
}

// Logs below the output's folder that were started after `since_realtime_ns` by this `prof record`.
std::vector<MadeLog> find_logs(const std::string& output, uint64_t since_realtime_ns, const std::string& run) {
  fs::path folder = output;
  bool deep = false;
  if (is_name_pattern(output)) {
    folder = folder.parent_path();
    while (folder.string().find('%') != std::string::npos) {
      folder = folder.parent_path();
      deep = true;
    }
  }
  std::vector<MadeLog> logs;
  std::error_code error;
  const auto look_at = [&](const fs::directory_entry& entry) {
    if (!entry.is_regular_file(error)) return;
    format::FileHeader header{};
    std::ifstream file(entry.path(), std::ios::binary);
    if (!file.read(reinterpret_cast<char*>(&header), sizeof header) || header.magic != format::kFileMagic) return;
    if (header.start_realtime_ns < since_realtime_ns || is_of_another_run(file, run)) return;
    logs.push_back({entry.path(), entry.file_size(error)});
  };
  if (deep) {
    const auto options = fs::directory_options::skip_permission_denied;
    for (auto it = fs::recursive_directory_iterator(folder, options, error); it != fs::recursive_directory_iterator();
         it.increment(error)) {
      if (it.depth() >= 4) it.disable_recursion_pending();
      look_at(*it);
    }
  } else {
    for (auto it = fs::directory_iterator(folder, error); it != fs::directory_iterator(); it.increment(error))
      look_at(*it);
  }
  std::sort(logs.begin(), logs.end(), [](const MadeLog& a, const MadeLog& b) { return a.path < b.path; });
  return logs;
}

std::string size_text(uint64_t bytes) {
  if (bytes < 1 << 20) return fmt::format("{:.1f} KiB", static_cast<double>(bytes) / 1024);
  return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20));
}

void name_logs(const std::vector<MadeLog>& logs) {
  std::error_code error;
  std::string names;
  for (size_t i = 0; i < logs.size(); ++i) {
    std::string name = fs::proximate(logs[i].path, error);
    if (error || name.starts_with("../../")) name = logs[i].path;
    name = shell_word(name);
    if (i < 20) fmt::print(stderr, "prof: {} ({})\n", name, size_text(logs[i].bytes));
    names.append(" ").append(name);
  }
  if (logs.size() > 20) fmt::print(stderr, "prof: … {} logs in all\n", logs.size());
  if (logs.size() > 4) names = " " + shell_word((logs[0].path.parent_path() / "").string()) + "prof.*.plog";
  fmt::print(stderr, "prof: next: prof summary{}\nprof:       prof trace{}\n", names, names);
}

void print_reasons(const UnrecordedRun& run) {
  bool first = true;
  for (const Obstacle& reason : why_nothing_was_recorded(run)) {
    fmt::print(stderr, "prof: {}: {}\n", first ? "nothing was recorded" : "or", reason.reason);
    if (!reason.remedy.empty()) fmt::print(stderr, "prof:   -> {}\n", reason.remedy);
    first = false;
  }
}

// Refuses an option that `record` does not have, and a variable in place of the program.
void check_program(const std::vector<std::string>& command, const CLI::App& verb) {
  if (command.empty()) throw std::runtime_error("no program given: prof record [options] -- app args");
  const std::string& word = command[0];
  if (word.starts_with('-')) throw std::runtime_error(unknown_option(verb, word));
  const size_t equals = word.find('=');
  const bool is_variable = equals != 0 && equals != std::string::npos &&
                           std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(equals), [](char c) {
                             return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0;
                           });
  if (is_variable && access(word.c_str(), F_OK) != 0) {
    throw std::runtime_error(
        fmt::format("{} is a variable, and prof starts the program without a shell; write: prof record -- env {}", word,
                    fmt::join(command, " ")));
  }
}

// The file in which a process tells what it did while a recording was awaited that never started. Without it, the
// reasons are less exact; so it may be missing.
class Unstarted {
 public:
  // Creates it if the recording starts with a launch or a range.
  explicit Unstarted(std::string_view start) {
    if (!start.starts_with("launches:") && !start.starts_with("nvtx:")) return;
    std::error_code error;
    std::string path = (fs::temp_directory_path(error) / "prof.unstarted.XXXXXX").string();
    if (error) return;
    const int descriptor = mkostemp(path.data(), O_CLOEXEC);
    if (descriptor < 0) return;
    close(descriptor);
    file_ = UnfinishedFile(path);
  }
  const std::string& path() const { return file_.path(); }
  // Reads and deletes it.
  std::string take_lines() {
    if (file_.empty()) return {};
    std::ifstream file(file_.path(), std::ios::binary);
    std::string text(64 << 10, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<size_t>(file.gcount()));
    file_.remove();
    return text;
  }

 private:
  UnfinishedFile file_;
};

int record(const CLI::App& verb, const std::vector<std::string>& command,
           std::vector<std::pair<std::string, std::string>> variables) {
  check_program(command, verb);
  const std::string library = find_recorder();
  if (library.find_first_of(" :") != std::string::npos) {
    throw std::runtime_error(
        fmt::format("{}: LD_PRELOAD cannot hold a path with a space or a colon; make a link elsewhere and "
                    "set PROF_LIBRARY to it",
                    library));
  }
  const std::string given = given_value(variables, "PROF_OUTPUT");
  const std::string output = absolute_output(given.empty() ? "." : given);
  variables.emplace_back("PROF_OUTPUT", output);
  std::error_code error;
  if (!is_name_pattern(output))
    fs::create_directories(output, error);  // if this fails, the recorder reports it and the program runs

  const ProgramFacts program = look_at_program(command[0]);
  const char* const others = std::getenv("LD_PRELOAD");
  std::string preload = library;
  if (!program.asan.empty()) {
    fmt::print(stderr, "prof: {} needs {} as its first library: it is put before libprof.so\n", command[0],
               program.asan);
    preload = program.asan + ":" + preload;
  }
  if (others != nullptr && *others != '\0') preload += std::string(":") + others;
  variables.emplace_back("LD_PRELOAD", preload);

  Unstarted unstarted(given_value(variables, "PROF_START"));
  if (!unstarted.path().empty()) variables.emplace_back("PROF_UNSTARTED", unstarted.path());

  const auto begun =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  const std::string run = fmt::format("{}-{}", getpid(), begun), outer = given_value(variables, kRunVariable);
  variables.emplace_back(kRunVariable, outer.empty() ? run : outer + "," + run);
  const auto started = std::chrono::steady_clock::now();
  const ChildEnd end = run_child(command, variables);
  if (end.exec_error != 0) {
    const bool missing = end.exec_error == ENOENT;
    fmt::print(stderr, "prof: {}: {}\n", command[0], missing ? "no such program" : std::strerror(end.exec_error));
    return missing ? 127 : 126;
  }
  const std::string seen = unstarted.take_lines();
  const std::vector<MadeLog> logs = find_logs(output, static_cast<uint64_t>(begun), run);
  if (logs.empty()) {
    const std::chrono::duration<double> ran = std::chrono::steady_clock::now() - started;
    print_reasons({program, command, variables, output, ran.count(), seen});
  } else {
    name_logs(logs);
  }
  if (end.signal != 0) die_by(end.signal);
  return end.status;
}

// Whether the word is a flag, such as --libs, without its value 0 or 1.
bool is_bare_flag(const std::vector<std::string>& words, size_t at) {
  const auto is_it = [&](const RecorderOption& option) {
    return option.is_flag && words[at] == std::string("--") + option.flag;
  };
  if (std::none_of(recorder_options().begin(), recorder_options().end(), is_it)) return false;
  return at + 1 == words.size() || words[at + 1].starts_with('-');
}

// If --counters is "list" or "list:CHIP", nothing is recorded. Returns the chip, or "" for the sets.
std::optional<std::string> wanted_list(const std::vector<std::pair<std::string, std::string>>& variables) {
  for (const auto& [variable, value] : variables) {
    if (variable != "PROF_COUNTERS") continue;
    if (value == "list") return "";
    if (value.starts_with("list:")) return value.substr(5);
  }
  return std::nullopt;
}

}  // namespace

void drop_separator(std::vector<std::string>& words) {
  if (words.empty() || (words[0] != "record" && words[0] != "doctor")) return;
  for (size_t i = 1; i < words.size() && words[i].starts_with('-'); ++i) {
    if (words[i] == "--") {
      words.erase(words.begin() + static_cast<std::ptrdiff_t>(i));
      return;
    }
    if (is_bare_flag(words, i)) words[i] += "=1";
    const bool takes_none = words[i] == "-h" || words[i] == "--help" || words[i] == "--no-self-test";
    if (!takes_none && words[i].find('=') == std::string::npos) ++i;  // every other option has a value
  }
}

void add_record(CLI::App& app, Run& run) {
  const auto values = std::make_shared<std::vector<std::string>>(recorder_options().size());
  CLI::App* const verb =
      app.add_subcommand("record", "run a program and record it: prof record [OPTIONS] -- PROGRAM [ARGUMENTS...]");
  for (size_t i = 0; i < recorder_options().size(); ++i) {
    const RecorderOption& option = recorder_options()[i];
    const std::string_view short_flag =
        option.flag == std::string_view("output") ? "-o," : "";  // as for the other verbs
    verb->add_option(fmt::format("{}--{}", short_flag, option.flag), (*values)[i],
                     fmt::format("{} [{}={}]", option.help, option.variable, option.initial))
        ->check(value_of(option))
        ->option_text(option.values);
  }
  verb->prefix_command();
  verb->footer(
      "Examples:\n"
      "  prof record -- ./app --steps 10\n"
      "  prof record --output logs --gpu off -- python3 train.py\n"
      "  prof record --repeat-kernel scale:3=100 --assume-idempotent -- ./app\n"
      "  prof record --counters list\n"
      "  prof record --counters list:GH100 | grep dram\n"
      "An option of 0|1 alone, before another option or --, is 1. Every option can also be given as the variable in "
      "brackets. The program keeps its terminal, process group and "
      "exit\n"
      "status (also a death by signal); 127: there is no such program, 126: it cannot be run, 2: wrong options.");
  verb->callback([&run, values, verb] {
    const std::vector<std::string> command = verb->remaining();
    std::vector<std::pair<std::string, std::string>> variables;
    for (size_t i = 0; i < recorder_options().size(); ++i) {
      const RecorderOption& option = recorder_options()[i];
      if (verb->count(std::string("--") + option.flag) != 0) variables.emplace_back(option.variable, (*values)[i]);
    }
    run = [verb, command, variables] {
      if (const auto list = wanted_list(variables)) {
        fmt::print("{}", list->empty() ? counter_list() : chip_metrics(*list));
        return kComplete;
      }
      return record(*verb, command, variables);
    };
  });
}

}  // namespace prof::analyzer
