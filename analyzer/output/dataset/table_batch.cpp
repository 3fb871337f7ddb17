#include "analyzer/output/dataset/table_batch.h"

#include "analyzer/base/json/json_text.h"

#include <fmt/format.h>

#include <stdexcept>

namespace prof::analyzer::dataset {

void Cells::add_text(std::string_view text) { add_index(index_of(text)); }

int32_t Cells::index_of(std::string_view text) {
  if (text.empty() && schema_->null == Null::Maybe) return kNullText;
  const auto [found, added] =
      index_of_text_.try_emplace(readable_utf8(text), static_cast<int32_t>(index_of_text_.size()));
  if (added) texts_.emplace_back(found->first);
  return found->second;
}

void Cells::make_nulls() {
  values_.assign(nulls_, 0);
  valid_.assign(nulls_ / 8, 0);
  valid_.push_back(static_cast<uint8_t>(0xff << nulls_ % 8));
}

void Cells::clear() {
  values_.clear();
  valid_.clear();
  nulls_ = 0;
  ++batch_;
  texts_.clear();
  index_of_text_.clear();
}

TableBatch::TableBatch(TableId id) : id_(id) {
  for (const ColumnSchema& column : schema_of(id).columns) cells_.emplace_back(column);
}

void TableBatch::set_identity(const Identity& identity) {
  for (size_t row = cells_[processes::rank].rows(); row < rows_; ++row) {
    cells_[processes::rank].add(identity.rank);
    cells_[processes::process_id].add(identity.process_id);
  }
  if (cells_[processes::host].rows() < rows_) {
    const int32_t host = cells_[processes::host].index_of(identity.host);
    while (cells_[processes::host].rows() < rows_) cells_[processes::host].add_index(host);
  }
  for (const Cells& cells : cells_) {
    const bool wrong = cells.rows() != rows_ || (cells.nulls() != 0 && cells.schema().null == Null::Never);
    if (wrong) throw std::logic_error(fmt::format("column {} has cells of other rows", cells.schema().name));
  }
}

void TableBatch::clear() {
  for (Cells& cells : cells_) cells.clear();
  rows_ = 0;
}

}  // namespace prof::analyzer::dataset
