// Offline. The names of many addresses, and their serialised form between processes and in the cache. Numbers are in
// this machine's byte order and checked whenever they are read.
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
  StringId function{};  // mangled, if it has such a name; empty: unknown
  StringId file{};
  uint32_t line = 0;
  bool inlined = false;  // into the next frame
  // Of the file that was compiled, if the line table has them; 0: unknown.
  uint32_t modified_s = 0;  // since 1970
  uint32_t file_bytes = 0;
};

struct SymbolAnswer {
  std::vector<uint32_t> first;  // first frame of each address, innermost function first; one entry more than addresses
  std::vector<SymbolFrame> frames;  // an address without frames is unknown
  std::string problem;              // what could not be read
};

class SymbolAnswerWriter {
 public:
  struct Frame {
    uint32_t function = 0, file = 0;  // indices of texts
    uint32_t line = 0, inlined = 0, modified_s = 0, file_bytes = 0;
  };
  explicit SymbolAnswerWriter(size_t addresses) : first_(addresses + 1) { text({}); }

  uint32_t text(std::string_view text);
  // Called for addresses in order; add() is called for each frame of the address.
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

// Adds an answer for the addresses [first, last) of `to`. False: the bytes are invalid, and nothing is added.
bool add_symbol_answer(std::string_view bytes, uint32_t first, uint32_t last, StringTable& strings, SymbolAnswer& to);

}  // namespace prof::analyzer
