// What is the text of a table's cells, and of rows of cells? Used by the writers of tables. A table of every event of a
// long run has hundreds of millions of cells: numbers are written into a buffer of the caller, each text is created
// once, and rows are created on all cores.
#pragma once

#include "analyzer/base/line_buffer.h"
#include "analyzer/table/table.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace prof::analyzer {

class Sink;

struct ShownCell {
  std::string_view text;
  size_t width = 0;  // columns of a terminal, one per character
};

// A text cell of a table for people has at most this many characters; a longer one is cut. A column is padded to
// kWidestText at most: a wider cell moves the rest of its line to the right.
inline constexpr size_t kLongestText = 2000, kWidestText = 160;

// How a text is changed (quoted, cut …; empty: made readable, nothing else), and how numbers are written.
struct CellLook {
  std::function<std::string(std::string&&)> text{};
  bool commas = false;   // between the thousands of numbers
  bool raw = false;      // `text` gets the text as it was recorded, else made readable
  size_t unchanged = 0;  // bytes of a text of ASCII that `text` would not change, at most; 0: it changes all
};

class CellTexts {
 public:
  // For a table whose rows are stored.
  CellTexts(const Table& table, TimeUnit unit, CellLook look = {});
  CellTexts(const CellTexts&) = delete;
  CellTexts& operator=(const CellTexts&) = delete;

  const Table& table() const { return table_; }
  // The text is in the buffer, or valid as long as this object.
  using Buffer = char[512];
  ShownCell of(size_t row, size_t column, Buffer& buffer) const;
  bool is_whole(size_t column) const;  // whether its cells are shown as integers
  bool commas() const { return look_.commas; }
  // Appends the text that of() returned.
  void put(const ShownCell& cell, const Buffer& buffer, LineBuffer& line) const {
    if (cell.text.data() == buffer) {
      line.block_copy(cell.text);
    } else {
      line += cell.text;
    }
  }
  // The widest cell of a column in rows [first, last).
  size_t widest(size_t column, size_t first, size_t last) const;
  void add_new_texts();  // called after rows were added to the table

 private:
  const Table& table_;
  TimeUnit unit_;
  CellLook look_;
  std::deque<std::string> made_;    // texts that are shown changed
  std::vector<ShownCell> of_text_;  // by id
};

// The rows of any table, in order. Rows of a listing are created block by block.
class RowWriter {
 public:
  RowWriter(const Table& table, TimeUnit unit, CellLook look = {});

  // The width of each column: of its widest cell, or of its title if that is wider. For a listing with more than a
  // million rows only a sample of the rows is measured; a wider cell then moves the rest of its line to the right.
  std::vector<size_t> widths(const std::vector<std::string>& titles) const;
  // put(texts, first, last, lines) appends rows [first, last) of texts.table() to the lines. Called on several threads.
  using Put = std::function<void(const CellTexts& texts, size_t first, size_t last, LineBuffer& lines)>;
  void write(Sink& sink, const Put& put, std::string_view between_calls = "") const;

 private:
  class Block;
  template <class Visit, class Use> void each_block(size_t step, Visit&& visit, Use&& use) const;

  const Table& table_;
  TimeUnit unit_;
  CellLook look_;
  std::unique_ptr<const CellTexts> stored_;  // null: a listing
};

// Inserts a comma before every third digit of the integer part. Returns the new size.
size_t put_commas(char* number, size_t size);

// Number of terminal columns that the text takes.
size_t display_width(std::string_view text);

}  // namespace prof::analyzer
