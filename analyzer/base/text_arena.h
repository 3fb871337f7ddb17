// Memory for texts that are created while reading: a few large blocks that are reused, instead of one allocation per
// text.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

namespace prof::analyzer {

class TextArena {
 public:
  // A copy that is valid until clear().
  std::string_view keep(std::string_view text) {
    if (left_ < text.size()) more(text.size());
    char* const at = next_;
    if (!text.empty()) std::memcpy(at, text.data(), text.size());
    next_ += text.size();
    left_ -= text.size();
    return {at, text.size()};
  }
  void clear() {
    if (pieces_.size() > 1) pieces_.resize(1);
    next_ = pieces_.empty() ? nullptr : pieces_.front().get();
    left_ = pieces_.empty() ? 0 : first_bytes_;
  }

 private:
  void more(size_t bytes) {
    constexpr size_t kPiece = size_t{256} << 10;
    left_ = std::max(bytes, kPiece);
    pieces_.push_back(std::make_unique_for_overwrite<char[]>(left_));
    if (pieces_.size() == 1) first_bytes_ = left_;
    next_ = pieces_.back().get();
  }

  std::vector<std::unique_ptr<char[]>> pieces_;
  size_t first_bytes_ = 0;
  char* next_ = nullptr;
  size_t left_ = 0;
};

}  // namespace prof::analyzer
