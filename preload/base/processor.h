// Which model is the host's processor, and how many logical processors are online? The log's meta records contain both.
// The processor itself is queried, because /proc/cpuinfo makes older kernels wait for every core. This code runs in the
// program.
#pragma once

#include <cstdint>
#include <string_view>

namespace prof::preload {

// The model without blanks at its start and end; empty if the processor does not report it.
class ProcessorModel {
 public:
  ProcessorModel();
  std::string_view text() const { return {text_ + begin_, end_ - begin_}; }

 private:
  char text_[48];
  uint32_t begin_ = 0, end_ = 0;
};

uint64_t online_processors();  // 0: not known

}  // namespace prof::preload
