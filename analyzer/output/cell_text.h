// What the cells of a table look like as text, and rows of such texts: the writers of tables use it. A table of every event
// of a long run has hundreds of millions of cells: numbers are written into a buffer of the caller, texts are made once
// each, rows are made on all cores.
#pragma once

#include "analyzer/output/table.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace prof::analyzer {

class Sink;

struct ShownCell {
  std::string_view text;
  size_t width = 0;  // columns of a terminal, one per character
};

// What is done with a text that can be read: quoted, cut …; with the text of a number. Empty: nothing.
struct CellLook {
  std::function<std::string(std::string&&)> text{};
  std::function<std::string(std::string_view)> number{};
};

class CellTexts {
 public:
  CellTexts(const Table& table, TimeUnit unit, CellLook look = {});

  // In the buffer, or kept as long as this object.
  using Buffer = char[512];
  ShownCell of(const TableColumn& column, int64_t cell, Buffer& buffer) const;

  // Of each column the widest cell, or its title if that is wider.
  std::vector<size_t> widths(const std::vector<std::string>& titles) const;

 private:
  const Table& table_;
  TimeUnit unit_;
  CellLook look_;
  std::deque<std::string> made_;    // texts that are not shown as they are
  std::vector<ShownCell> of_text_;  // by id
};

// Writes put(row, line) of all rows in their order; put appends to the line and is called on several threads.
void write_rows(size_t rows, Sink& sink, const std::function<void(size_t, std::string&)>& put);

// Columns of a terminal the text takes.
size_t display_width(std::string_view text);

}  // namespace prof::analyzer
