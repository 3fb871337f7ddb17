// The host's processor: its model as it calls itself, and how many logical ones there are. Asked of the processor itself: /proc/cpuinfo
// makes older kernels wait for every core. In the program.
#pragma once

#include <cstdint>
#include <string_view>

namespace prof::preload {

// Blanks around it are left out; empty: it does not say.
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
