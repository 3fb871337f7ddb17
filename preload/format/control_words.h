// How do `prof ctl` and a recorded process communicate? With these words in the counter page of its log
// (CounterPage::control). If the process waits for its start and has no log yet, the words are at the start of a page
// of shared memory named kControlPageName. Only the user of the process can access both. `prof ctl` finds both among
// the open files of the process.
//
//   request: | number 16 | rate of host samples (HostRate::word()) 12 | command 4 |
//
// In version 1 the request is number << 8 | command, and `version` takes the place of `samples` too. A prof and a
// process of different versions understand each other's starts and stops: the low 8 bits are then the command alone.
#pragma once

#include <cstdint>

namespace prof::format {

inline constexpr char kControlPageName[] = "libprof-control";
inline constexpr uint16_t kControlVersion = 2;
inline constexpr uint16_t kControlVersionWithSamples = 2;  // the first one

enum class ControlCommand : uint32_t { None = 0, Start = 1, Stop = 2, Samples = 3 };

struct ControlWords {
  uint16_t version;  // kControlVersion, written by the process; 0: it does not listen
  uint16_t samples;  // written by the process: HostRate::word() of the host samples that it takes now; 0: none
  uint32_t pid;      // as the process sees itself
  uint32_t request;  // written by prof ctl: control_request() with a number that differs from the last one
  uint32_t answer;   // written by the process: the last request that it carried out, or that makes no sense now
};
static_assert(sizeof(ControlWords) == 16);

constexpr uint32_t control_request(uint32_t number, ControlCommand command, uint32_t rate = 0) {
  return number << 16 | rate << 4 | static_cast<uint32_t>(command);
}
constexpr uint32_t number_of_request(uint32_t request) { return request >> 16; }
constexpr uint32_t rate_of_request(uint32_t request) { return request >> 4 & 0xfff; }
constexpr ControlCommand command_of_request(uint32_t request) { return static_cast<ControlCommand>(request & 0xf); }

}  // namespace prof::format
