// Interned texts of a model: one id per distinct text; 0 is the empty text. Texts are bytes as recorded, not always
// UTF-8; writers make them printable. A text costs its bytes and at most 33 more, so a trace in which every event has a
// name of its own stays small.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace prof::analyzer {

enum class StringId : uint32_t {};

class StringTable {
 public:
  StringTable() { intern(""); }
  StringTable(const StringTable&) = delete;
  StringTable& operator=(const StringTable&) = delete;
  StringTable(StringTable&&) = default;  // the moved-from table must not be used

  StringId intern(std::string_view text) {
    if (slots_.size() < 2 * (texts_.size() + 1)) grow();
    const auto hash = static_cast<uint32_t>(std::hash<std::string_view>()(text));
    for (size_t at = hash & (slots_.size() - 1);; at = (at + 1) & (slots_.size() - 1)) {
      uint32_t& slot = slots_[at];
      if (slot == 0) {
        texts_.push_back({keep(text), static_cast<uint32_t>(text.size()), hash});
        slot = static_cast<uint32_t>(texts_.size());
        return StringId{slot - 1};
      }
      const Text& known = texts_[slot - 1];
      if (known.hash == hash && std::string_view(known.bytes, known.size) == text) return StringId{slot - 1};
    }
  }
  // Followed by a zero byte. Valid as long as the table.
  std::string_view operator[](StringId id) const {
    const Text& text = texts_[static_cast<uint32_t>(id)];
    return {text.bytes, text.size};
  }
  size_t size() const { return texts_.size(); }

 private:
  struct Text {
    const char* bytes;
    uint32_t size, hash;
  };

  const char* keep(std::string_view text) {
    const size_t bytes = text.size() + 1;
    if (left_ < bytes) {
      constexpr size_t kFirst = 256, kMost = size_t{256} << 10;
      piece_ = std::min(kMost, std::max(kFirst, 2 * piece_));
      left_ = std::max(bytes, piece_);
      pieces_.push_back(std::make_unique_for_overwrite<char[]>(left_));
      next_ = pieces_.back().get();
    }
    char* const at = next_;
    if (!text.empty()) std::memcpy(at, text.data(), text.size());
    at[text.size()] = 0;
    next_ += bytes;
    left_ -= bytes;
    return at;
  }
  void grow() {
    slots_.assign(std::max<size_t>(16, 2 * slots_.size()), 0);
    for (uint32_t i = 0; i < texts_.size(); ++i) {
      size_t at = texts_[i].hash & (slots_.size() - 1);
      while (slots_[at] != 0) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = i + 1;
    }
  }

  std::vector<Text> texts_;      // by id
  std::vector<uint32_t> slots_;  // 1 + id; 0: free
  std::vector<std::unique_ptr<char[]>> pieces_;
  char* next_ = nullptr;
  size_t left_ = 0, piece_ = 0;
};

}  // namespace prof::analyzer
