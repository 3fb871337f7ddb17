// Offline. The names of many addresses, and the bytes as which they travel from process to process and lie in a cache: numbers
// of this machine, checked whenever they are read.
#pragma once

#include "analyzer/base/strings.h"

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace prof::analyzer {

// One function at an address.
struct SymbolFrame {
  StringId function{};  // mangled, where it has such a name; empty: not known
  StringId file{};
  uint32_t line = 0;
  bool inlined = false;  // into the frame that follows
};

struct SymbolAnswer {
  std::vector<uint32_t> first;  // of each address its first frame, innermost function first; one more than addresses
  std::vector<SymbolFrame> frames;  // an address without frames is not known
  std::string problem;              // what of the files could not be read
};

class SymbolAnswerWriter {
 public:
  struct Frame {
    uint32_t function = 0, file = 0, line = 0, inlined = 0;  // texts by number
  };
  explicit SymbolAnswerWriter(size_t addresses) : first_(addresses + 1) { text({}); }

  uint32_t text(std::string_view text);
  // Addresses in order, each with its frames.
  void begin(size_t address) { first_[address] = static_cast<uint32_t>(frames_.size()); }
  void add(const Frame& frame) { frames_.push_back(frame); }
  std::string problem;

  std::string bytes();

 private:
  std::vector<uint32_t> first_;
  std::vector<Frame> frames_;
  std::deque<std::string> texts_;
  uint64_t text_bytes_ = 0;
  std::unordered_map<std::string_view, uint32_t> known_;
};

// Adds an answer to that for the addresses [first, last) of `to`. False, and nothing added: these are not its bytes.
bool add_symbol_answer(std::string_view bytes, uint32_t first, uint32_t last, StringTable& strings, SymbolAnswer& to);

}  // namespace prof::analyzer
