// Texts of one block of input, numbered in order of appearance. It keeps views, not bytes: the input must outlive it.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace prof::analyzer {

class TextIndex {
 public:
  uint32_t add(std::string_view text) {
    if (slots_.size() < 2 * (texts_.size() + 1)) grow();
    const uint64_t hash = hash_of(text);
    for (size_t at = hash & (slots_.size() - 1);; at = (at + 1) & (slots_.size() - 1)) {
      Slot& slot = slots_[at];
      if (slot.number == 0) {
        texts_.push_back(text);
        slot = {static_cast<uint32_t>(hash >> 32), static_cast<uint32_t>(texts_.size())};
        return slot.number - 1;
      }
      if (slot.hash == static_cast<uint32_t>(hash >> 32) && texts_[slot.number - 1] == text) return slot.number - 1;
    }
  }
  const std::vector<std::string_view>& texts() const { return texts_; }
  void clear() {
    texts_.clear();
    slots_.assign(slots_.size(), Slot());
  }

 private:
  struct Slot {
    uint32_t hash = 0;
    uint32_t number = 0;  // 1 + index; 0: free
  };

  // Multiplies and folds 8 bytes at a time.
  static uint64_t hash_of(std::string_view text) {
    constexpr uint64_t kOdd = 0x9e3779b97f4a7c15;
    uint64_t hash = text.size() * kOdd;
    const char* p = text.data();
    size_t left = text.size();
    for (; left >= 8; p += 8, left -= 8) {
      uint64_t word = 0;
      std::memcpy(&word, p, 8);
      hash = (hash ^ word) * kOdd;
      hash ^= hash >> 32;
    }
    uint64_t word = 0;
    if (left != 0) std::memcpy(&word, p, left);
    hash = (hash ^ word) * kOdd;
    return hash ^ hash >> 29;
  }
  void grow() {
    std::vector<std::string_view> texts;
    texts.swap(texts_);
    slots_.assign(slots_.empty() ? 1024 : slots_.size() * 2, Slot());
    texts_.reserve(slots_.size() / 2);
    for (const std::string_view text : texts) add(text);
  }

  std::vector<std::string_view> texts_;
  std::vector<Slot> slots_;
};

}  // namespace prof::analyzer
