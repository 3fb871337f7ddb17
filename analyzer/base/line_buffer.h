// A buffer for the lines of a table. Like a std::string, but short texts, of which a listing has hundreds of millions,
// are stored in blocks of 16 bytes instead of by function calls.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>

namespace prof::analyzer {

class LineBuffer {
 public:
  std::string_view view() const { return {bytes_.get(), used_}; }
  void clear() { used_ = 0; }

  LineBuffer& operator+=(char c) {
    room(1)[0] = c;
    ++used_;
    return *this;
  }
  LineBuffer& operator+=(std::string_view text) {
    if (!text.empty()) std::memcpy(room(text.size()), text.data(), text.size());
    used_ += text.size();
    return *this;
  }
  LineBuffer& spaces(size_t count) {
    char* const to = room(count);
    for (size_t at = 0; at < count; at += kBlock) std::memset(to + at, ' ', kBlock);
    used_ += count;
    return *this;
  }
  // Appends a text that is followed by 15 readable bytes.
  LineBuffer& block_copy(std::string_view text) {
    char* const to = room(text.size());
    for (size_t at = 0; at < text.size(); at += kBlock) std::memcpy(to + at, text.data() + at, kBlock);
    used_ += text.size();
    return *this;
  }
  void trim_spaces() {
    while (used_ != 0 && bytes_[used_ - 1] == ' ') --used_;
  }

  static constexpr size_t kBlock = 16;

 private:
  // Room for that many bytes and for what the last block writes after them.
  char* room(size_t bytes) {
    if (capacity_ - used_ < bytes + kBlock) grow(bytes + kBlock);
    return bytes_.get() + used_;
  }
  void grow(size_t bytes) {
    const size_t capacity = std::max(2 * capacity_, used_ + bytes);
    auto grown = std::make_unique_for_overwrite<char[]>(capacity);
    if (used_ != 0) std::memcpy(grown.get(), bytes_.get(), used_);
    bytes_ = std::move(grown);
    capacity_ = capacity;
  }

  std::unique_ptr<char[]> bytes_;
  size_t used_ = 0, capacity_ = 0;
};

}  // namespace prof::analyzer
