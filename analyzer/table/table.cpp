#include "analyzer/table/table.h"

#include "analyzer/base/parallel.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <stdexcept>

namespace prof::analyzer {

namespace {

constexpr size_t kInBlock = 4096;

}  // namespace

void Table::add_column(ColumnId id) { add_column(id, column_info(id).decimals); }

void Table::add_columns(std::initializer_list<ColumnId> ids) {
  for (const ColumnId id : ids) add_column(id);
}

void Table::add_column(ColumnId id, int decimals) {
  const ColumnInfo& info = column_info(id);
  add_named_column(id, info.title(), std::string(info.key), info.type, decimals);
}

void Table::add_column(ColumnId id, CellType type) {
  const ColumnInfo& info = column_info(id);
  add_named_column(id, info.title(), std::string(info.key), type, info.decimals);
}

void Table::add_named_column(ColumnId id, std::string title, std::string key) {
  const ColumnInfo& info = column_info(id);
  add_named_column(id, std::move(title), std::move(key), info.type, info.decimals);
}

void Table::add_named_column(ColumnId id, std::string title, std::string key, CellType type, int decimals) {
  columns_.push_back({id, std::move(title), std::move(key), type, decimals, {}});
}

Table::Row::~Row() {
  while (column_ < table_.columns_.size()) table_.columns_[column_++].cells.push_back(kEmptyCell);
}

Table::Row& Table::Row::add(double value) { return add(std::bit_cast<int64_t>(value)); }

Table::Row& Table::Row::add(std::string_view text) {
  // Often the text is that of the previous row.
  const std::vector<int64_t>& above = table_.columns_.at(column_).cells;
  if (!above.empty() && above.back() != kEmptyCell && table_.text(above.back()) == text) return add(above.back());
  return add(static_cast<int64_t>(table_.texts_.intern(text)));
}

double Table::real(int64_t cell) { return std::bit_cast<double>(cell); }

void Table::list(size_t count, MakeRows make) {
  make_ = std::move(make);
  listed_ = count;
}

Table Table::blank() const {
  Table empty(name_, title_);
  for (const TableColumn& column : columns_)
    empty.add_named_column(column.id, column.title, column.key, column.type, column.decimals);
  return empty;
}

void Table::make_rows(size_t first, size_t last, Table& into) const {
  std::vector<TableColumn> added;
  const size_t before = into.columns_[0].cells.size();
  if (named_.owners != nullptr) {
    // The rows are made without the columns that name their owners.
    const auto from = into.columns_.begin() + static_cast<ptrdiff_t>(named_.at);
    const auto to = from + named_.shown.rank + named_.shown.host;
    added.assign(std::make_move_iterator(from), std::make_move_iterator(to));
    into.columns_.erase(from, to);
  }
  if (!order_.empty()) {
    make_({order_.data() + first, last - first}, into);
  } else {
    std::vector<uint32_t> numbers(last - first);
    std::iota(numbers.begin(), numbers.end(), static_cast<uint32_t>(first));
    make_(numbers, into);
  }
  if (named_.owners != nullptr) into.fill_owner_columns(named_, added, before);
}

std::vector<TableColumn> Table::owner_columns(OwnerColumns shown) const {
  Table columns("", "");
  if (shown.rank) columns.add_column(ColumnId::rank);
  if (shown.host) columns.add_column(ColumnId::host);
  return std::move(columns.columns_);
}

// Fills the cells of `added` and of column `pid` from row `first_row` on, and inserts `added` before it.
void Table::fill_owner_columns(const NamedOwners& named, std::vector<TableColumn>& added, size_t first_row) {
  std::vector<int64_t>& pids = columns_[named.at].cells;
  int64_t of = kEmptyCell, rank = kEmptyCell, host = kEmptyCell, pid = kEmptyCell;
  const auto name = [&](const RowOwner& owner) {
    rank = owner.rank ? int64_t{*owner.rank} : kEmptyCell;
    host = owner.host.empty() ? kEmptyCell : static_cast<int64_t>(texts_.intern(owner.host));
    pid = owner.pid ? int64_t{*owner.pid} : kEmptyCell;
  };
  name(named.whole);
  for (size_t row = first_row; row < pids.size(); ++row) {
    if (pids[row] != of) {
      of = pids[row];
      const bool known = of >= 0 && of < static_cast<int64_t>(named.owners->size());
      if (!known && of != kEmptyCell) throw std::logic_error("column pid of " + name_ + " has no number of a process");
      name(known ? (*named.owners)[static_cast<size_t>(of)] : named.whole);
    }
    pids[row] = pid;
    size_t column = 0;
    if (named.shown.rank) added[column++].cells.push_back(rank);
    if (named.shown.host) added[column].cells.push_back(host);
  }
  columns_.insert(columns_.begin() + static_cast<ptrdiff_t>(named.at), std::make_move_iterator(added.begin()),
                  std::make_move_iterator(added.end()));
}

bool Table::has_column(ColumnId id) const {
  return std::any_of(columns_.begin(), columns_.end(), [&](const TableColumn& column) { return column.id == id; });
}

void Table::name_owners(std::shared_ptr<const std::vector<RowOwner>> owners, OwnerColumns shown,
                        const RowOwner* whole) {
  NamedOwners named{std::move(owners), shown, whole == nullptr ? RowOwner() : *whole, 0};
  if (!has_column(ColumnId::pid)) {
    if (whole == nullptr) return;
    store();
    insert_column(0, ColumnId::pid, kEmptyCell);
  }
  while (columns_[named.at].id != ColumnId::pid) ++named.at;
  std::vector<TableColumn> added = owner_columns(shown);
  if (!is_listing()) return fill_owner_columns(named, added, 0);
  columns_.insert(columns_.begin() + static_cast<ptrdiff_t>(named.at), added.begin(), added.end());
  named_ = std::move(named);
}

void Table::insert_column(size_t at, ColumnId id, int64_t value) {
  const size_t count = rows();
  add_column(id);
  columns_.back().cells.assign(count, value);
  std::rotate(columns_.begin() + static_cast<ptrdiff_t>(at), columns_.end() - 1, columns_.end());
}

void Table::append(const Table& other) {
  const size_t before = rows(), more = other.rows();
  for (const TableColumn& column : other.columns_) {
    const auto found =
        std::find_if(columns_.begin(), columns_.end(), [&](const TableColumn& each) { return each.key == column.key; });
    TableColumn& to = found != columns_.end()
                          ? *found
                          : columns_.emplace_back(TableColumn{column.id, column.title, column.key, column.type,
                                                              column.decimals, std::vector(before, kEmptyCell)});
    for (const int64_t cell : column.cells) {
      const bool is_text = column.type == CellType::Text && cell != kEmptyCell;
      to.cells.push_back(is_text ? static_cast<int64_t>(texts_.intern(other.text(cell))) : cell);
    }
  }
  for (TableColumn& column : columns_) column.cells.resize(before + more, kEmptyCell);
}

void Table::clear_rows() {
  for (TableColumn& column : columns_) column.cells.clear();
}

void Table::store() {
  if (!make_) return;
  make_rows(0, listed_, *this);
  make_ = nullptr;
  named_ = {};
  order_.clear();
}

// The cells of all rows of a listing. Cells of other columns are discarded.
std::vector<int64_t> Table::listed_cells(const TableColumn& column) {
  const auto at = static_cast<size_t>(&column - columns_.data());
  std::vector<int64_t> cells;
  cells.reserve(listed_);
  parallel_in_order((listed_ + kInBlock - 1) / kInBlock, [&] { return blank(); },
                    [&](Table& block, size_t i) {
                      block.clear_rows();
                      make_rows(i * kInBlock, std::min(listed_, (i + 1) * kInBlock), block);
                    },
                    [&](Table& block, size_t) {
                      for (const int64_t cell : block.columns_[at].cells) {
                        const bool is_text = column.type == CellType::Text && cell != kEmptyCell;
                        cells.push_back(is_text ? static_cast<int64_t>(texts_.intern(block.text(cell))) : cell);
                      }
                    });
  return cells;
}

bool Table::sort_by(std::string_view key, size_t limit) {
  for (const auto& [spelling, meaning] : sort_spellings) {
    if (spelling != key) continue;
    key = meaning;
    break;
  }
  const bool descending = !key.empty() && key.front() == '-';
  if (descending) key.remove_prefix(1);
  const auto column = std::find_if(columns_.begin(), columns_.end(), [&](const TableColumn& c) {
    return c.key == key || c.title == key || (is_time(c.type) && c.key + "_ns" == key);
  });
  if (column == columns_.end()) return false;
  std::vector<int64_t> made;
  if (make_) made = listed_cells(*column);
  const std::vector<int64_t>& cells = make_ ? made : column->cells;
  const auto less = [&](int64_t a, int64_t b) {
    if (a == kEmptyCell || b == kEmptyCell) return a == kEmptyCell && b != kEmptyCell;
    if (column->type == CellType::Text) return text(a) < text(b);
    if (is_real(column->type)) return real(a) < real(b);
    return a < b;
  };
  const auto before = [&](uint32_t a, uint32_t b) {
    const int64_t first = cells[descending ? b : a], second = cells[descending ? a : b];
    return less(first, second) || (a < b && !less(second, first));
  };
  std::vector<uint32_t> order(rows());
  std::iota(order.begin(), order.end(), 0u);
  if (limit != 0 && limit < order.size()) {
    std::partial_sort(order.begin(), order.begin() + static_cast<ptrdiff_t>(limit), order.end(), before);
    order.resize(limit);
  } else {
    std::sort(order.begin(), order.end(), before);
  }
  if (make_) {
    for (uint32_t& number : order) number = order_.empty() ? number : order_[number];
    order_ = std::move(order);
    listed_ = order_.size();
    return true;
  }
  for (TableColumn& each : columns_) {
    std::vector<int64_t> sorted(order.size());
    for (size_t i = 0; i < order.size(); ++i) sorted[i] = each.cells[order[i]];
    each.cells.swap(sorted);
  }
  return true;
}

void Table::limit(size_t rows) {
  if (rows == 0 || rows >= this->rows()) return;
  listed_ = rows;
  for (TableColumn& column : columns_) column.cells.resize(std::min(rows, column.cells.size()));
}

}  // namespace prof::analyzer
