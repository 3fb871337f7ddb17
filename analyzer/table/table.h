// What an analysis answers with: typed columns, no printing. Times are integer nanoseconds; the writers scale them. The rows
// are stored, or made when they are read: a listing of every event of a long run would not fit.
#pragma once

#include "analyzer/base/strings.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace prof::analyzer {

// MeanNanoseconds: a time with parts of ns, as means have them; a double like Real.
enum class CellType { Text, Count, Nanoseconds, Real, MeanNanoseconds };

inline bool is_time(CellType type) { return type == CellType::Nanoseconds || type == CellType::MeanNanoseconds; }
inline bool is_real(CellType type) { return type == CellType::Real || type == CellType::MeanNanoseconds; }

struct TableColumn {
  std::string title;  // "Start"; csv and fixed units add " (ns)"
  std::string key;    // "start"; json and csv of times add "_ns"
  CellType type = CellType::Count;
  int decimals = 1;  // of Real
  std::vector<int64_t> cells;
};

inline constexpr int64_t kEmptyCell = std::numeric_limits<int64_t>::min();

class Table {
 public:
  Table(std::string name, std::string title) : name_(std::move(name)), title_(std::move(title)) {}

  void add_column(std::string title, std::string key, CellType type, int decimals = 1) {
    columns_.push_back({std::move(title), std::move(key), type, decimals, {}});
  }
  // Cells of one row, left to right; what is left out at the end is empty.
  class Row {
   public:
    explicit Row(Table& table) : table_(table) {}
    Row(const Row&) = delete;
    Row& operator=(const Row&) = delete;
    ~Row();
    Row& add(int64_t value) {
      table_.columns_.at(column_++).cells.push_back(value);
      return *this;
    }
    Row& add(uint64_t value) { return add(static_cast<int64_t>(value)); }
    Row& add(uint32_t value) { return add(static_cast<int64_t>(value)); }
    Row& add(double value);
    Row& add(std::string_view text);
    Row& empty() { return add(kEmptyCell); }

   private:
    Table& table_;
    size_t column_ = 0;
  };
  Row row() { return Row(*this); }

  // Rows that are made when they are read. `make` appends those of these numbers, all below `count`, to a table with the same
  // columns, in the order of the numbers. Several threads call it, as long as this object lives.
  using MakeRows = std::function<void(std::span<const uint32_t> numbers, Table& into)>;
  void list(size_t count, MakeRows make);
  // One row for each item: add(item, row) adds its cells.
  template <class Item, class Add> void list(std::vector<Item> items, Add add) {
    const auto kept = std::make_shared<const std::vector<Item>>(std::move(items));
    list(kept->size(), [kept, add = std::move(add)](std::span<const uint32_t> numbers, Table& into) {
      for (const uint32_t number : numbers) {
        Row row = into.row();
        add((*kept)[number], row);
      }
    });
  }
  bool is_listing() const { return make_ != nullptr; }
  // Of a listing: an empty table with its columns, and rows [first, last) appended to such a table.
  Table blank() const;
  void make_rows(size_t first, size_t last, Table& into) const;
  void clear_rows();  // texts stay
  // Makes the rows of a listing and keeps them.
  void store();

  const std::string& name() const { return name_; }
  const std::string& title() const { return title_; }
  const std::vector<TableColumn>& columns() const { return columns_; }
  size_t rows() const { return make_ ? listed_ : columns_.empty() ? 0 : columns_[0].cells.size(); }
  std::string_view text(int64_t cell) const { return texts_[StringId{static_cast<uint32_t>(cell)}]; }
  size_t texts() const { return texts_.size(); }  // cells of texts are smaller
  static double real(int64_t cell);

  // Sorts by the column of that key or title ("-key": descending) and cuts to `limit` rows (0: all). Equal rows keep their
  // order. False: there is no such column.
  bool sort_by(std::string_view key, size_t limit = 0);
  void limit(size_t rows);

  bool nsys_look = false;            // the text form is laid out as `nsys stats` does, notes below the rows
  std::vector<std::string> notes;    // header lines: window, selection, definitions
  std::vector<std::string> footers;  // lines below the rows: totals, a summary
  std::string coverage;              // last line

  // Where another tool prints this table in a layout of its own: makes that text of the table as sorted and cut. The text
  // form prints it between notes and coverage instead of the columns.
  std::function<std::string(const Table&)> text_form;
  // That tool's spellings of sort keys and what they mean here: {"cuda_time_total", "-device_time"}.
  std::vector<std::pair<std::string, std::string>> sort_spellings;
  size_t text_limit = 0;  // most rows of the text form unless --limit says otherwise; 0: all

 private:
  std::vector<int64_t> listed_cells(const TableColumn& column);

  std::string name_;
  std::string title_;
  std::vector<TableColumn> columns_;
  StringTable texts_;
  MakeRows make_;                // of a listing
  size_t listed_ = 0;            // its rows
  std::vector<uint32_t> order_;  // their numbers as sorted; empty: 0, 1, 2 …
};

enum class TimeUnit { Auto, Ns, Us, Ms, S };
enum class TableFormat { Text, Csv, Json };

class Sink;

// Text: aligned, with title, notes and coverage. CSV: titles and rows only, times in ns unless a unit is given.
// JSON: one object with the rows as objects, times in ns.
void write_table(const Table& table, TableFormat format, TimeUnit unit, Sink& sink);

// 1234567 -> "1.2346ms": five significant digits, whole ns below 1 us: nvprof's rule.
std::string scaled_time(int64_t ns);
// The value in that unit with three decimals (ns: none); Auto is scaled_time.
std::string time_in(int64_t ns, TimeUnit unit);
// The same of a time with parts of ns: one decimal in ns.
std::string mean_time_in(double ns, TimeUnit unit);

}  // namespace prof::analyzer
