// What the cells of a table look like as text, and rows of such texts: the writers of tables use it. A table of every event
// of a long run has hundreds of millions of cells: numbers are written into a buffer of the caller, texts are made once
// each, rows are made on all cores.
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

// What is done with a text that can be read: quoted, cut … (empty: nothing), and with the text of a number.
struct CellLook {
  std::function<std::string(std::string&&)> text{};
  bool commas = false;  // between the thousands of numbers
};

class CellTexts {
 public:
  // Of a table whose rows are stored.
  CellTexts(const Table& table, TimeUnit unit, CellLook look = {});
  CellTexts(const CellTexts&) = delete;
  CellTexts& operator=(const CellTexts&) = delete;

  const Table& table() const { return table_; }
  // In the buffer, or kept as long as this object.
  using Buffer = char[512];
  ShownCell of(size_t row, size_t column, Buffer& buffer) const;
  bool is_whole(size_t column) const;  // its cells are shown as whole numbers
  bool commas() const { return look_.commas; }
  // Appends what of() shows.
  void put(const ShownCell& cell, const Buffer& buffer, LineBuffer& line) const {
    cell.text.data() == buffer ? line.block_copy(cell.text) : line += cell.text;
  }
  // The widest cell of a column in rows [first, last).
  size_t widest(size_t column, size_t first, size_t last) const;
  void add_new_texts();  // the table has got more rows

 private:
  const Table& table_;
  TimeUnit unit_;
  CellLook look_;
  std::deque<std::string> made_;    // texts that are not shown as they are
  std::vector<ShownCell> of_text_;  // by id
};

// The rows of any table, in their order. Those of a listing are made block by block.
class RowWriter {
 public:
  RowWriter(const Table& table, TimeUnit unit, CellLook look = {});

  // Of each column the widest cell, or its title if that is wider. Of a listing with more than a million rows as far as some of
  // them tell: a wider cell then moves the rest of its line to the right.
  std::vector<size_t> widths(const std::vector<std::string>& titles) const;
  // put(texts, first, last, lines) appends rows [first, last) of texts.table() to the lines; called on several threads.
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

// Puts a comma before every third digit in front of the point; the number's new size.
size_t put_commas(char* number, size_t size);

// Columns of a terminal the text takes.
size_t display_width(std::string_view text);

}  // namespace prof::analyzer
