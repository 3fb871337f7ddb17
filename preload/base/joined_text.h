// Joins the parts of a message in a buffer on the stack, without heap. Text that does not fit is cut. This code runs in
// the program.
#pragma once

#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <string_view>

namespace prof::preload {

class JoinedText {
 public:
  JoinedText(std::initializer_list<std::string_view> parts) {
    for (const std::string_view part : parts) {
      const size_t size = part.size() < sizeof text_ - size_ ? part.size() : sizeof text_ - size_;
      if (size != 0) std::memcpy(text_ + size_, part.data(), size);
      size_ += size;
    }
  }
  std::string_view view() const { return {text_, size_}; }

 private:
  char text_[2048];
  size_t size_ = 0;
};

}  // namespace prof::preload
