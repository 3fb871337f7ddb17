// The result of an analysis: typed columns, without printing. Times are integer nanoseconds; writers scale them. Rows
// are stored, or created when they are read, because a listing of every event of a long run would not fit in memory.
#pragma once

#include "analyzer/base/strings.h"
#include "analyzer/table/columns.h"
#include "analyzer/table/row_owner.h"

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace prof::analyzer {

struct TableColumn {
  ColumnId id;
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

  // Columns of the catalogue (columns.h), left to right.
  void add_column(ColumnId id);
  void add_columns(std::initializer_list<ColumnId> ids);
  void add_column(ColumnId id, int decimals);   // Real, with other decimals than the catalogue
  void add_column(ColumnId id, CellType type);  // if an option determines the type: --metric bytes
  // A column whose title and key come from the data: a hardware counter, one side of a comparison. `id` defines its
  // meaning.
  void add_named_column(ColumnId id, std::string title, std::string key);
  void add_named_column(ColumnId id, std::string title, std::string key, CellType type, int decimals = 1);
  // Cells of one row, left to right. Cells that are omitted at the end are empty.
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
    // The value, or an empty cell where there is none.
    template <class Value> Row& add(const std::optional<Value>& value) { return value ? add(*value) : empty(); }
    template <class Value> Row& add_if(bool known, Value value) { return known ? add(value) : empty(); }
    Row& add_text(std::string_view text) { return text.empty() ? empty() : add(text); }
    // The cell of column `pid`: the number of the process in the model, see name_owners().
    template <class Process> Row& add_owner(Process process) { return add(static_cast<int64_t>(process)); }
    // `part` in percent of the whole; an empty cell where the whole is 0 or less.
    template <class Part, class Whole> Row& add_percent(Part part, Whole whole) {
      if (whole <= 0) return empty();
      return add(100 * static_cast<double>(part) / static_cast<double>(whole));
    }

   private:
    Table& table_;
    size_t column_ = 0;
  };
  Row row() { return Row(*this); }

  // Rows that are created when they are read. `make` appends the rows with these numbers, all below `count`, in this
  // order to a table with the same columns. Several threads call it while this object exists.
  using MakeRows = std::function<void(std::span<const uint32_t> numbers, Table& into)>;
  void list(size_t count, MakeRows make);
  // One row per item: add(item, row) adds its cells.
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
  // For a listing: an empty table with the same columns, and a function that appends rows [first, last) to such a
  // table.
  Table blank() const;
  void make_rows(size_t first, size_t last, Table& into) const;
  void clear_rows();  // texts remain
  // Creates the rows of a listing and stores them.
  void store();

  // Which process is each row of? Reports fill column `pid` with the number of a process in the model. name_owners()
  // replaces these numbers by process ids, and adds the columns `rank` and `host` before `pid`, as far as `shown`
  // says. `whole` is the owner of rows without a process: rows about several. A table without column `pid` gets the
  // columns of `whole` as its first ones if `whole` is given. Must be called once, after the last row. Throws
  // std::logic_error if a cell is not the number of a process.
  void name_owners(std::shared_ptr<const std::vector<RowOwner>> owners, OwnerColumns shown,
                   const RowOwner* whole = nullptr);
  bool has_column(ColumnId id) const;
  // Adds a column with one value in every row, at position `at`. Not for a listing.
  void insert_column(size_t at, ColumnId id, int64_t value);
  // Adds the rows of a table that has no listing. Columns are matched by key; cells of others are empty.
  void append(const Table& other);

  const std::string& name() const { return name_; }
  const std::string& title() const { return title_; }
  const std::vector<TableColumn>& columns() const { return columns_; }
  size_t rows() const { return make_ ? listed_ : columns_.empty() ? 0 : columns_[0].cells.size(); }
  std::string_view text(int64_t cell) const { return texts_[StringId{static_cast<uint32_t>(cell)}]; }
  size_t texts() const { return texts_.size(); }  // text cells are ids below it
  static double real(int64_t cell);

  // Sorts by the column with that key or title ("-key": descending) and cuts to `limit` rows (0: all). Equal rows keep
  // their order. False: no such column.
  bool sort_by(std::string_view key, size_t limit = 0);
  void limit(size_t rows);

  bool nsys_look = false;            // text form in the layout of `nsys stats`, notes below the rows
  std::vector<std::string> notes;    // header lines: window, selection, definitions
  std::vector<std::string> footers;  // lines below the rows: totals, a summary
  std::string coverage;              // last line
  // Small tables that belong to this one, such as the verdicts of a gate. JSON has each as a list of its name, and the
  // text form prints it above the coverage line; CSV has only the rows of this table.
  std::vector<Table> parts;

  // If another tool prints this table in a layout of its own: returns that text of the sorted and cut table. The text
  // form prints it between notes and coverage instead of the columns.
  std::function<std::string(const Table&)> text_form;
  // That tool's names of sort keys and their equivalents here: {"cuda_time_total", "-device_time"}.
  std::vector<std::pair<std::string, std::string>> sort_spellings;
  size_t text_limit = 0;  // maximum number of rows of the text form without --limit; 0: all

 private:
  struct NamedOwners {
    std::shared_ptr<const std::vector<RowOwner>> owners;  // null: the cells of column `pid` are process ids
    OwnerColumns shown;
    RowOwner whole;
    size_t at = 0;  // position of the first of these columns
  };

  std::vector<int64_t> listed_cells(const TableColumn& column);
  std::vector<TableColumn> owner_columns(OwnerColumns shown) const;
  void fill_owner_columns(const NamedOwners& named, std::vector<TableColumn>& added, size_t first_row);

  std::string name_;
  std::string title_;
  std::vector<TableColumn> columns_;
  StringTable texts_;
  MakeRows make_;                // of a listing
  NamedOwners named_;            // of a listing
  size_t listed_ = 0;            // number of rows of a listing
  std::vector<uint32_t> order_;  // row numbers in sorted order; empty: 0, 1, 2 …
};

enum class TimeUnit { Auto, Ns, Us, Ms, S };
enum class TableFormat { Text, Csv, Json };

class Sink;

// Text: aligned, with title, notes and coverage. CSV: titles and rows only, times in ns unless a unit is given. JSON:
// one object with the rows as objects, times in ns.
void write_table(const Table& table, TableFormat format, TimeUnit unit, Sink& sink);

// 1234567 -> "1.2346ms": five significant digits, integer ns below 1 us. This is nvprof's rule.
std::string scaled_time(int64_t ns);
// The value in that unit with three decimals (ns: none). Auto is scaled_time().
std::string time_in(int64_t ns, TimeUnit unit);
// The same for a time with fractions of ns: one decimal in ns.
std::string mean_time_in(double ns, TimeUnit unit);

}  // namespace prof::analyzer
