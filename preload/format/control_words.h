// How do `prof ctl` and a recorded process communicate? With four words in the counter page of its log
// (CounterPage::control). If the process waits for its start and has no log yet, the words are at the start of a page
// of shared memory named kControlPageName. Only the user of the process can access both. `prof ctl` finds both among
// the open files of the process.
#pragma once

#include <cstdint>

namespace prof::format {

inline constexpr char kControlPageName[] = "libprof-control";
inline constexpr uint32_t kControlVersion = 1;

enum class ControlCommand : uint32_t { None = 0, Start = 1, Stop = 2 };

struct ControlWords {
  uint32_t version;  // kControlVersion, written by the process; 0: it does not listen
  uint32_t pid;      // as the process sees itself
  uint32_t request;  // written by prof ctl: control_request() with a number that differs from the last one
  uint32_t answer;   // written by the process: the last request that it read
};
static_assert(sizeof(ControlWords) == 16);

constexpr uint32_t control_request(uint32_t number, ControlCommand command) {
  return number << 8 | static_cast<uint32_t>(command);
}
constexpr uint32_t number_of_request(uint32_t request) { return request >> 8; }
constexpr ControlCommand command_of_request(uint32_t request) { return static_cast<ControlCommand>(request & 0xff); }

}  // namespace prof::format
