#include "analyzer/command/record_reasons.h"

#include "analyzer/command/recorder_library.h"

#include "preload/format/number_list.h"
#include "preload/format/option_values.h"
#include "preload/format/rank_variables.h"

#include <fmt/format.h>
#include <fnmatch.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>

namespace prof::analyzer {

namespace {

namespace fs = std::filesystem;
namespace option = format::option;

// Where a text sets or removes LD_PRELOAD: "LD_PRELOAD", "env -i"; empty if it does neither.
std::string_view replaces_preload(std::string_view text) {
  for (const std::string_view sign :
       {"LD_PRELOAD=", "unset LD_PRELOAD", "LD_PRELOAD -", "env -i", "env -u LD_PRELOAD"}) {
    const size_t at = text.find(sign);
    // LD_PRELOAD=...:$LD_PRELOAD keeps what was there.
    if (at != std::string_view::npos && text.find("$LD_PRELOAD", at) == std::string_view::npos &&
        text.find("${LD_PRELOAD", at) == std::string_view::npos)
      return sign;
  }
  return {};
}

// Calls `visit(where, text)` for what starts programs: the command, then the lines of each script in it, until it
// returns an obstacle. `where`: "the command", "line 3 of run.sh".
template <class Visit> std::optional<Obstacle> find_in_commands(const UnrecordedRun& run, Visit visit) {
  if (auto obstacle = visit("the command", fmt::format("{}", fmt::join(run.command, " ")))) return obstacle;
  if (run.program.elf && run.command.size() < 2) return std::nullopt;
  // The program if it is a script, or the script that an interpreter gets.
  for (const std::string& word : run.command) {
    const std::string path = &word == &run.command.front() ? run.program.path : word;
    std::ifstream file(path, std::ios::binary);
    std::error_code error;
    if (!fs::is_regular_file(path, error) || !file) continue;
    char head[4] = "";
    file.read(head, sizeof head);
    if (std::string_view(head, 4) ==
        "\x7f"
        "ELF")
      continue;
    file.clear();
    file.seekg(0);
    constexpr int kMostLines = 20'000;
    std::string line;
    for (int number = 1; number < kMostLines && std::getline(file, line); ++number) {
      const size_t first = line.find_first_not_of(" \t");
      if (first == std::string::npos || line[first] == '#') continue;
      if (auto obstacle = visit(fmt::format("line {} of {}", number, path), line.substr(first))) return obstacle;
    }
  }
  return std::nullopt;
}

std::optional<Obstacle> replaced_preload(const UnrecordedRun& run) {
  return find_in_commands(run, [](const std::string& where, const std::string& text) -> std::optional<Obstacle> {
    if (replaces_preload(text).empty()) return std::nullopt;
    return Obstacle{
        fmt::format("{} replaces LD_PRELOAD, which loads libprof.so: {}", where, std::string_view(text).substr(0, 100)),
        "keep $LD_PRELOAD in it, or put prof record before the program that it starts"};
  });
}

// A program that the command or a script starts, such as `env ./app`: it is named by its path.
std::optional<Obstacle> unrecordable_child(const UnrecordedRun& run) {
  return find_in_commands(run, [](const std::string& where, std::string_view text) -> std::optional<Obstacle> {
    while (!text.empty()) {
      const std::string word(text.substr(0, text.find_first_of(" \t;&|()\"'`")));
      text.remove_prefix(std::min(text.size(), word.size() + 1));
      if (word.find('/') == std::string::npos || word.find(".so") != std::string::npos) continue;
      std::error_code error;
      if (!fs::is_regular_file(word, error) || access(word.c_str(), X_OK) != 0) continue;
      const ProgramFacts facts = look_at_program(word);
      if (!facts.elf) continue;
      if (auto obstacle = why_not_recordable(facts)) {
        obstacle->reason.append(" (").append(where).append(" starts it)");
        return obstacle;
      }
    }
    return std::nullopt;
  });
}

// The folder of a log cannot be written.
std::optional<Obstacle> unwritable_folder(const UnrecordedRun& run) {
  fs::path folder = run.output;
  std::error_code error;
  if (is_name_pattern(run.output)) folder = folder.parent_path();
  if (folder.string().find('%') != std::string::npos) return std::nullopt;  // the recorder creates it
  const bool is_folder = fs::is_directory(folder, error);
  if (is_folder && access(folder.c_str(), W_OK | X_OK) == 0) return std::nullopt;
  return Obstacle{fmt::format("no log can be written in {}: {}", folder.string(),
                              is_folder ? std::strerror(errno) : "it is no folder and could not be created"),
                  "give another folder with --output"};
}

std::optional<Obstacle> late_delay(const UnrecordedRun& run) {
  const std::string delay = given_value(run.variables, "PROF_DELAY");
  uint64_t ns = 0;
  if (delay.empty() || !option::Seconds::read(delay, {}, ns)) return std::nullopt;
  const double seconds = static_cast<double>(ns) / 1e9;
  if (seconds < run.seconds) return std::nullopt;
  return Obstacle{
      fmt::format("recording was to start {:.3g} s after the program was loaded (--delay {}), and the program "
                  "ended after {:.3g} s",
                  seconds, delay, run.seconds),
      "give a shorter --delay"};
}

bool is_in_list(const std::string& list, const std::string& name) {
  std::string_view rest = list;
  while (!rest.empty()) {
    const std::string pattern(format::next_part(rest, ','));
    if (fnmatch(pattern.c_str(), name.c_str(), 0) == 0) return true;
  }
  return false;
}

void add_filters(const UnrecordedRun& run, std::vector<Obstacle>& reasons) {
  const std::string names = given_value(run.variables, "PROF_PROCESSES"),
                    name = fs::path(run.command.front()).filename();
  if (!names.empty() && !is_in_list(names, name)) {
    reasons.push_back(
        {fmt::format("--processes {} leaves out {}; of the processes that it starts, only those with these "
                     "names are recorded",
                     names, name),
         "give the name of the program that uses the GPU, without its folder"});
  }
  const std::string ranks = given_value(run.variables, "PROF_RANKS");
  if (!ranks.empty() && ranks != "all") {
    for (const char* const variable : format::kRankVariables) {
      uint64_t rank = 0;
      const std::string value = given_value(run.variables, variable);
      if (value.empty()) continue;
      if (format::read_number(value, rank) && !format::number_in_list(ranks, rank))
        reasons.push_back(
            {fmt::format("--ranks {} leaves out rank {} ({})", ranks, rank, variable), "give this rank too"});
      break;
    }
  }
  option::Flag::Value children = true;
  const std::string only = given_value(run.variables, "PROF_CHILDREN");
  if (!only.empty() && option::Flag::read(only, {}, children) && !children) {
    reasons.push_back({fmt::format("--children 0 records {} only, and not what it starts", name),
                       "leave out --children if another process uses the GPU"});
  }
}

// What the process that made most launches or ranges did while it awaited another one.
struct Awaiting {
  uint64_t count = 0;
  std::string names;  // of ranges: "a, b"

  Awaiting(std::string_view lines, std::string_view kind) {
    while (!lines.empty()) {
      std::string_view line = format::next_part(lines, '\n');
      if (!line.starts_with(kind) || line.substr(kind.size(), 1) != " ") continue;
      line.remove_prefix(kind.size() + 1);
      uint64_t number = 0;
      if (!format::read_number(format::next_part(line, ' '), number) || number <= count) continue;
      count = number;
      names.clear();
      while (!line.empty()) names += (names.empty() ? "" : ", ") + std::string(format::next_part(line, '\t'));
    }
  }
};

// The recording waits for an event. Returns whether calls of the program were seen meanwhile.
bool add_window(const UnrecordedRun& run, std::vector<Obstacle>& reasons) {
  const std::string start = given_value(run.variables, "PROF_START");
  option::OneOf<option::Start> word;
  if (start.empty() || !option::OneOf<option::Start>::read(start, {}, word) || word == option::Start::Now) return false;
  std::string event;
  switch (word.word()) {
    case option::Start::Now: return false;
    case option::Start::Profiler: event = "the program did not call cudaProfilerStart or cuProfilerStart"; break;
    case option::Start::Signal: {
      const std::string signal = given_value(run.variables, "PROF_SIGNAL");
      event = fmt::format("the program did not receive SIG{}", signal.empty() ? "USR1 or SIGUSR2" : signal);
      break;
    }
    case option::Start::Launches: {
      const Awaiting seen(run.unstarted, "launches");
      if (seen.count != 0) {
        reasons.push_back({fmt::format("recording starts with launch {} of a process (--start {}), and no process made "
                                       "more than {}",
                                       word.number, start, seen.count),
                           fmt::format("give a smaller number, such as --start launches:{}", seen.count / 2 + 1)});
        return true;
      }
      event = fmt::format("the program made fewer than {} launches", word.number);
      break;
    }
    case option::Start::Nvtx: {
      const Awaiting seen(run.unstarted, "ranges");
      if (seen.count != 0) {
        reasons.push_back({fmt::format("recording starts with an NVTX range (--start {}), and none of the {} ranges of "
                                       "the program has this name; names of the first ones: {}",
                                       start, seen.count, seen.names.empty() ? "none" : seen.names),
                           "give the name of a range as the program has it"});
        return true;
      }
      event = fmt::format("no NVTX range with the name {} began", start.substr(5));
      break;
    }
    case option::Start::Control: event = "no prof ctl PID start came"; break;
  }
  reasons.push_back(
      {fmt::format("recording starts later (--start {}): {}, or it made no CUDA or NVTX call afterwards", start, event),
       "record once without --start, and see what is in the log"});
  return false;
}

}  // namespace

std::string given_value(Variables variables, const char* name) {
  for (const auto& [variable, value] : variables) {
    if (variable == name) return value;
  }
  const char* const inherited = std::getenv(name);
  return inherited != nullptr ? inherited : "";
}

std::vector<Obstacle> why_nothing_was_recorded(const UnrecordedRun& run) {
  if (const auto obstacle = why_not_recordable(run.program)) return {*obstacle};
  for (const auto find : {unwritable_folder, late_delay}) {
    if (const auto obstacle = find(run)) return {*obstacle};
  }
  std::vector<Obstacle> reasons;
  for (const auto find : {unrecordable_child, replaced_preload}) {
    if (const auto obstacle = find(run)) reasons.push_back(*obstacle);
  }
  add_filters(run, reasons);
  if (add_window(run, reasons)) return reasons;
  reasons.push_back(
      {"no CUDA or NVTX call was seen: the program used no GPU, cleared LD_PRELOAD or PROF_OUTPUT for its children, or "
       "a "
       "container or a remote machine ran the GPU work",
       "prof doctor -- " + run.command.front() + " checks the rest"});
  return reasons;
}

}  // namespace prof::analyzer
