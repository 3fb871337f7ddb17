// Formats a number as decimal text. Messages and meta records use it, because stdio may allocate.
#pragma once

#include <cstdint>
#include <string_view>

namespace prof::preload {

class Decimal {
 public:
  explicit Decimal(uint64_t value) {
    do {
      digits_[--begin_] = static_cast<char>('0' + value % 10);
      value /= 10;
    } while (value != 0);
  }
  std::string_view text() const { return {digits_ + begin_, sizeof digits_ - begin_}; }

 private:
  char digits_[20];
  size_t begin_ = sizeof digits_;
};

}  // namespace prof::preload
