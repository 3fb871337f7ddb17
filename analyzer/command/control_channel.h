// How does prof reach a recorded process? By a file of the recorder that the process has open: its log, or a page of
// memory while it waits for its first recording. Only the process's own user (and root) can open them.
#pragma once

#include "preload/format/block.h"
#include "preload/format/control_words.h"
#include "preload/format/option_values.h"

#include <cstdint>
#include <optional>
#include <string>

namespace prof::analyzer {

// A file of the recorder that the process has open.
struct Channel {
  std::string file;  // /proc/PID/fd/N
  std::string path;  // of the log; empty: the control page of a process that waits for its first recording
};

// `process` is /proc/PID. Returns the log if there is one, else the control page. Throws std::runtime_error if the
// process cannot be examined.
std::optional<Channel> find_channel(const std::string& process);

// The same. If there is none, throws std::runtime_error with the reason.
Channel channel_of(const std::string& process);

// The value of a variable that the process was started with. Empty: there is none, or it cannot be read.
std::string environment_of(const std::string& process, const char* name);

// The control words of a channel and the state of its log. They are mapped while the object exists. The constructor
// throws std::runtime_error.
class Words {
 public:
  explicit Words(const Channel& channel);
  ~Words();
  Words(const Words&) = delete;
  Words& operator=(const Words&) = delete;

  bool recording() const;
  bool listens();  // false: the recorder is older than this prof, or cannot read requests
  bool switches_samples();
  // Host samples that the process takes now. Requires switches_samples().
  format::option::HostRate samples();
  void ask(format::ControlCommand command, const format::option::HostRate& rate = {});
  bool answered();   // the last request
  void take_back();  // a request that no call has seen yet

 private:
  const format::CounterPage& page() const { return *static_cast<const format::CounterPage*>(memory_); }
  format::ControlWords& words();
  void* mapping_ = nullptr;
  size_t before_ = 0;  // bytes of the mapping before memory_
  void* memory_ = nullptr;
  bool is_log_ = false;
};

}  // namespace prof::analyzer
