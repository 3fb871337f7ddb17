// How do rows of cells become lines with aligned columns? A listing of a long run has hundreds of millions of cells,
// half of them blank. A few lines at a time are filled with blanks, and the columns are written into them one after
// another. Used by the text forms of tables.
#pragma once

#include "analyzer/table/cell_text.h"

#include <cstddef>
#include <vector>

namespace prof::analyzer {

class AlignedRows {
 public:
  static constexpr size_t kHidden = static_cast<size_t>(-1);  // a width
  // Columns of these widths, two spaces between them, `indent` before the first. kHidden: the column is left out.
  // `cut`: a text that is wider than its column is cut with "…".
  AlignedRows(const std::vector<TableColumn>& columns, std::vector<size_t> widths, size_t indent, bool cut = false);

  // Appends the lines of rows [first, last): texts left-aligned, numbers right-aligned, no spaces at the end of a line.
  // A cell wider than its column is cut or moves the rest of its line to the right. Called on several threads.
  void put(const CellTexts& texts, size_t first, size_t last, LineBuffer& lines) const;

 private:
  struct Stretch;
  void put_column(const CellTexts& texts, size_t column, Stretch& stretch) const;
  void put_wide_row(const CellTexts& texts, size_t row, LineBuffer& lines) const;

  std::vector<size_t> widths_, begins_;  // begins_: offset in a line
  std::vector<bool> left_;
  bool cut_;
  size_t indent_, pitch_;  // pitch_: bytes of a whole line
};

}  // namespace prof::analyzer
