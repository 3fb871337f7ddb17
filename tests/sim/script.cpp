// Reads the script lines. A wrong line stops the program at once, because a test that runs with half its script proves
// nothing.
#include "tests/sim/script.h"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <sstream>

namespace sim {
namespace {

using Words = std::vector<std::string>;

[[noreturn]] void fail(const char* where, std::string_view line, const char* why) {
  fprintf(stderr, "simulated GPU: %s: '%.*s': %s\n", where, static_cast<int>(line.size()), line.data(), why);
  _Exit(97);
}

struct Line {
  const char* where;
  std::string text;
  Words words;

  uint64_t number(size_t index) const {
    if (index >= words.size()) fail(where, text, "a number is missing");
    uint64_t value = 0;
    const std::string& word = words[index];
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc{} || end != word.data() + word.size()) fail(where, text, "not a number");
    return value;
  }
  double decimal(size_t index) const {
    if (index >= words.size()) fail(where, text, "a number is missing");
    char* end = nullptr;
    const double value = strtod(words[index].c_str(), &end);
    if (*end != '\0' || value <= 0) fail(where, text, "not a positive number");
    return value;
  }
  const std::string& word(size_t index) const {
    if (index >= words.size()) fail(where, text, "a word is missing");
    return words[index];
  }
};

void read_kernel(Script& to, const Line& line) {
  KernelScript kernel = to.default_kernel;
  kernel.duration = line.number(2);
  for (size_t i = 3; i < line.words.size(); ++i) {
    const std::string& word = line.words[i];
    if (word == "overlap") {
      kernel.overlaps = true;
    } else if (word == "asserts") {
      kernel.asserts = true;
    } else if (word == "registers") {
      kernel.registers = static_cast<int>(line.number(++i));
    } else if (word == "shared") {
      kernel.static_shared = static_cast<int>(line.number(++i));
    } else if (word == "until") {
      kernel.until = line.word(++i);
    } else {
      fail(line.where, line.text, "kernel NAME NS [overlap] [asserts] [registers N] [shared BYTES] [until NAME]");
    }
  }
  if (line.word(1) == "*") {
    to.default_kernel = kernel;
  } else {
    to.kernels[line.word(1)] = kernel;
  }
}

void read_copy(Script& to, const Line& line) {
  const std::string& kind = line.word(1);
  if (kind == "setup") {
    to.copy_setup = line.number(2);
  } else if (kind == "h2d") {
    to.h2d = line.decimal(2);
  } else if (kind == "d2h") {
    to.d2h = line.decimal(2);
  } else if (kind == "d2d") {
    to.d2d = line.decimal(2);
  } else if (kind == "p2p") {
    to.p2p = line.decimal(2);
  } else if (kind == "h2h") {
    to.h2h = line.decimal(2);
  } else if (kind == "memset") {
    to.memset_rate = line.decimal(2);
  } else {
    fail(line.where, line.text, "copy setup|h2d|d2h|d2d|p2p|h2h|memset VALUE");
  }
}

void read_device(Script& to, const Line& line) {
  const size_t index = line.number(1);
  if (index >= to.devices.size()) fail(line.where, line.text, "no such device: put 'devices N' first");
  to.devices[index].name = line.text.substr(line.text.find(line.word(2), line.text.find(line.word(1)) + 1));
}

void read_fault(Script& to, const Line& line) {
  Fault fault;
  const std::string& when = line.word(2);
  if (when == "*") {
    fault.last = UINT64_MAX;
  } else if (when.back() == '+') {
    fault.first = strtoull(when.c_str(), nullptr, 10);
    fault.last = UINT64_MAX;
  } else {
    fault.first = fault.last = line.number(2);
  }
  fault.result = static_cast<int>(line.number(3));
  to.faults[line.word(1)].push_back(fault);
}

void read_cupti(Script& to, const Line& line) {
  const std::string& what = line.word(1);
  if (what == "drop") {
    to.cupti.drop_every = line.number(2);
  } else if (what == "late") {
    to.cupti.late_ms = line.number(2);
  } else if (what == "lose_buffer") {
    to.cupti.lose_buffer_every = line.number(2);
  } else if (what == "child_dies") {
    to.cupti.child_dies = true;
  } else if (what == "flush_hangs") {
    to.cupti.flush_hangs = true;
  } else if (what == "enable_takes") {
    to.cupti.enable_ms = line.number(2);
  } else if (what == "forced_kills") {
    to.cupti.forced_kills = true;
  } else if (what == "enable_fails") {
    to.cupti.enable_result = static_cast<int>(line.number(2));
  } else if (what == "no_driver_api") {
    to.cupti.absent_driver_api = true;
  } else if (what == "no_graph_ids") {
    to.cupti.no_graph_ids = true;
  } else if (what == "no_graph_trace") {
    to.cupti.no_graph_trace = true;
  } else if (what == "worker") {
    to.cupti.worker_ms = line.number(2);
  } else if (what == "backlog") {
    to.cupti.backlog = line.number(2);
  } else if (what == "version") {
    to.cupti.version = static_cast<uint32_t>(line.number(2));
  } else if (what == "errno") {
    to.cupti.sets_errno = static_cast<int>(line.number(2));
  } else if (what == "counters_absent") {
    to.cupti.counters_absent = true;
  } else if (what == "counters_hang") {
    to.cupti.counters_hang = line.word(2);
  } else if (what == "counters_unsupported") {
    to.cupti.counters_unsupported = line.word(2);
  } else if (what == "counters_drop") {
    to.cupti.counters_drop = line.number(2);
  } else if (what == "samples_most") {
    to.cupti.samples_most = line.number(2);
  } else if (what == "samples_buffer") {
    to.cupti.samples_buffer = line.number(2);
  } else if (what == "samples_by_clock") {
    to.cupti.samples_by_clock = true;
  } else if (what == "pc_buffer") {
    to.cupti.pc_buffer = line.number(2);
  } else if (what == "pc_dropped") {
    to.cupti.pc_dropped = line.number(2);
  } else if (what == "pc_data_takes") {
    to.cupti.pc_data_ms = line.number(2);
  } else {
    fail(line.where, line.text, "unknown CUPTI behaviour");
  }
}

const std::map<std::string, std::function<void(Script&, const Line&)>, std::less<>>& readers() {
  static const std::map<std::string, std::function<void(Script&, const Line&)>, std::less<>> all = {
      {"kernel", read_kernel},
      {"copy", read_copy},
      {"device", read_device},
      {"fault", read_fault},
      {"cupti", read_cupti},
      {"devices", [](Script& to, const Line& line) { to.devices.resize(line.number(1)); }},
      {"driver_version", [](Script& to, const Line& line) { to.driver_version = static_cast<int>(line.number(1)); }},
      {"api",
       [](Script& to, const Line& line) {
         (line.word(1) == "*" ? to.api_cost : to.api_costs[line.word(1)]) = line.number(2);
       }},
      {"launch_latency", [](Script& to, const Line& line) { to.launch_latency = line.number(1); }},
      {"errno", [](Script& to, const Line& line) { to.sets_errno = static_cast<int>(line.number(1)); }},
      {"early_start", [](Script& to, const Line&) { to.early_start = true; }},
      {"host_func", [](Script& to, const Line& line) { to.host_func = line.number(1); }},
      {"first_call", [](Script& to, const Line& line) { to.first_call_ms = line.number(1); }},
      {"max_outstanding", [](Script& to, const Line& line) { to.max_outstanding = line.number(1); }},
      {"internal_memset_kernel", [](Script& to, const Line&) { to.internal_memset_kernel = true; }},
      {"idle", [](Script& to, const Line& line) { to.idle_ms = line.number(1); }},
      {"log_requests", [](Script& to, const Line& line) { to.request_log = line.word(1); }},
      {"timed", [](Script& to, const Line&) { to.timed = true; }},
      {"pc",
       [](Script& to, const Line& line) {
         to.pcs.push_back({line.word(1), line.number(2), line.number(4), static_cast<uint32_t>(line.number(3))});
       }},
      {"absent", [](Script& to, const Line& line) { to.absent.push_back(line.word(1)); }},
  };
  return all;
}

}  // namespace

void parse_script(Script& into, std::string_view text, const char* where) {
  std::istringstream lines{std::string(text)};
  for (std::string raw; std::getline(lines, raw);) {
    std::istringstream pieces{raw.substr(0, raw.find('#'))};
    for (std::string one; std::getline(pieces, one, ';');) {
      Line line{where, one, {}};
      std::istringstream words{one};
      for (std::string word; words >> word;) line.words.push_back(word);
      if (line.words.empty()) continue;
      const auto reader = readers().find(line.words[0]);
      if (reader == readers().end()) fail(where, one, "unknown line");
      reader->second(into, line);
    }
  }
}

const KernelScript& Script::kernel(std::string_view name) const {
  const auto found = kernels.find(name);
  return found == kernels.end() ? default_kernel : found->second;
}

bool Script::is_absent(std::string_view symbol) const {
  for (const std::string& one : absent) {
    if (one == symbol) return true;
  }
  return false;
}

const Script& script() {
  static const Script* const one = [] {
    Script* made = new Script;  // never freed: threads of the program may still call while it exits
    // Loading the toolkit must cost nothing in a virtual timeline that starts with the first launch.
    for (const char* free_call : {"cuGetProcAddress", "cuGetProcAddress_v2", "cuGetExportTable", "cuGetErrorName",
                                  "cuGetErrorString", "cuDriverGetVersion", "cuThreadExchangeStreamCaptureMode"}) {
      made->api_costs[free_call] = 0;
    }
    if (const char* path = getenv("SIM_SCRIPT")) {
      std::ifstream file(path);
      if (!file) fail("SIM_SCRIPT", path, "cannot be read");
      std::ostringstream text;
      text << file.rdbuf();
      parse_script(*made, text.str(), path);
    }
    if (const char* text = getenv("SIM")) parse_script(*made, text, "SIM");
    return made;
  }();
  return *one;
}

}  // namespace sim
