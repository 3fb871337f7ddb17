#include "analyzer/output/table.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace prof::analyzer {

Table::Row::~Row() {
  while (column_ < table_.columns_.size()) table_.columns_[column_++].cells.push_back(kEmptyCell);
}

Table::Row& Table::Row::add(int64_t value) {
  table_.columns_.at(column_++).cells.push_back(value);
  return *this;
}

Table::Row& Table::Row::add(double value) { return add(std::bit_cast<int64_t>(value)); }

Table::Row& Table::Row::add(std::string_view text) { return add(static_cast<int64_t>(table_.texts_.intern(text))); }

double Table::real(int64_t cell) { return std::bit_cast<double>(cell); }

bool Table::sort_by(std::string_view key) {
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
  std::vector<uint32_t> order(rows());
  std::iota(order.begin(), order.end(), 0u);
  const auto less = [&](int64_t a, int64_t b) {
    if (a == kEmptyCell || b == kEmptyCell) return a == kEmptyCell && b != kEmptyCell;
    if (column->type == CellType::Text) return text(a) < text(b);
    if (is_real(column->type)) return real(a) < real(b);
    return a < b;
  };
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return descending ? less(column->cells[b], column->cells[a]) : less(column->cells[a], column->cells[b]);
  });
  for (TableColumn& each : columns_) {
    std::vector<int64_t> sorted(order.size());
    for (size_t i = 0; i < order.size(); ++i) sorted[i] = each.cells[order[i]];
    each.cells.swap(sorted);
  }
  return true;
}

void Table::limit(size_t rows) {
  if (rows == 0 || rows >= this->rows()) return;
  for (TableColumn& column : columns_) column.cells.resize(rows);
}

}  // namespace prof::analyzer
