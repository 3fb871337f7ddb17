// Which part of the input does a verb take? The options of reports and of prof trace.
#pragma once

#include "analyzer/analysis/selection.h"
#include "analyzer/command/choices.h"

#include <CLI/CLI.hpp>

#include <stdexcept>
#include <string>
#include <vector>

namespace prof::analyzer {

inline void add_window_options(CLI::App& verb, std::string& from, std::string& to) {
  verb.add_option("--from", from, "begin of the window: 1.5s, 300ms, 20us or @NVTX-name#k, from the trace's zero");
  verb.add_option("--to", to, "end of the window");
}

// An option that takes a list with commas, several times.
template <class T>
CLI::Option* add_list(CLI::App& verb, const char* name, std::vector<T>& target, const char* help, const char* text) {
  return verb.add_option(name, target, help)
      ->option_text(text)
      ->delimiter(',')
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
}

inline void add_process_options(CLI::App& verb, Selection& selection) {
  add_list(verb, "--process", selection.process_words, "process ids, HOST:PID or names of executables", "NAME,...");
  add_list(verb, "--host", selection.hosts, "names of hosts", "NAME,...");
  add_list(verb, "--rank", selection.ranks, "ranks of processes", "N,...")->check(whole_number(0));
}

inline void add_place_options(CLI::App& verb, Selection& selection) {
  add_process_options(verb, selection);
  add_list(verb, "--device", selection.devices, "device ordinals", "N,...")->check(whole_number(0));
}

inline void add_nvtx_option(CLI::App& verb, Selection& selection) {
  verb.add_option("--nvtx", selection.nvtx_words,
                  "NVTX ranges and annotations: begin of the name, or an expression; after an @ the domain")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false)
      ->option_text("NAME[@DOMAIN]");
}

// Finds the processes, places and moments in the trace; throws std::runtime_error as these functions do.
inline void find_selection(Selection& selection, const Trace& trace, const std::string& from, const std::string& to) {
  selection.find_processes(trace);
  selection.find_places(trace);
  if (!from.empty()) selection.from_ns = parse_moment(trace, from, false);
  if (!to.empty()) selection.to_ns = parse_moment(trace, to, true);
  if (selection.from_ns > selection.to_ns) throw std::runtime_error("--from is later than --to");
}

}  // namespace prof::analyzer
