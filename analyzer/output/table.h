// What an analysis answers with: typed columns, no printing. Times are integer nanoseconds; the writers scale them. Cells
// are 8 bytes, so that a table of every GPU operation of a long run still fits.
#pragma once

#include "analyzer/model/strings.h"

#include <cstdint>
#include <functional>
#include <limits>
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
    Row& add(int64_t value);
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

  const std::string& name() const { return name_; }
  const std::string& title() const { return title_; }
  const std::vector<TableColumn>& columns() const { return columns_; }
  size_t rows() const { return columns_.empty() ? 0 : columns_[0].cells.size(); }
  std::string_view text(int64_t cell) const { return texts_[StringId{static_cast<uint32_t>(cell)}]; }
  size_t texts() const { return texts_.size(); }  // cells of texts are smaller
  static double real(int64_t cell);

  // Sorts by the column of that key or title ("-key": descending) and cuts to `limit` rows (0: all). Equal rows keep their
  // order. False: there is no such column.
  bool sort_by(std::string_view key);
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
  std::string name_;
  std::string title_;
  std::vector<TableColumn> columns_;
  StringTable texts_;
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
