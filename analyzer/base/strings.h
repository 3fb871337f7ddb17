// Interned texts of a model: one id per distinct text; 0 is the empty text. Texts are bytes as recorded, not always
// UTF-8; writers make them printable.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace prof::analyzer {

enum class StringId : uint32_t {};

class StringTable {
 public:
  StringTable() { intern(""); }
  StringTable(const StringTable&) = delete;
  StringTable& operator=(const StringTable&) = delete;
  StringTable(StringTable&&) = default;  // the moved-from table must not be used

  StringId intern(std::string_view text) {
    const auto found = ids_.find(text);
    if (found != ids_.end()) return found->second;
    const StringId id{static_cast<uint32_t>(texts_.size())};
    texts_.emplace_back(text);
    ids_.emplace(texts_.back(), id);
    return id;
  }
  std::string_view operator[](StringId id) const { return texts_[static_cast<uint32_t>(id)]; }
  size_t size() const { return texts_.size(); }

 private:
  std::deque<std::string> texts_;  // a deque, so that the views in ids_ remain valid
  std::unordered_map<std::string_view, StringId> ids_;
};

}  // namespace prof::analyzer
