// Rows of one table, column by column, until they are written. Knows no file format. A batch becomes one row group of
// Parquet or one record batch of Arrow. Texts are numbered: each row has the index of its text.
//
//   batch[operations::start_ns].add(5);
//   batch[operations::name].add_cached(cache, key, [&] { return text; });  // the text is made once a batch
//   batch.end_row();
#pragma once

#include "analyzer/output/dataset/dataset_tables.h"

#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace prof::analyzer::dataset {

// Indices of texts of one column by a small number that the caller chose. It is valid for one batch.
class TextCache {
 private:
  friend class Cells;
  std::vector<int32_t> index_of_key_;
  uint64_t batch_ = 0;
};

class Cells {
 public:
  explicit Cells(const ColumnSchema& schema) : schema_(&schema) {}

  void add(int64_t value) { put(value); }
  void add(uint64_t value) { put(static_cast<int64_t>(value)); }
  void add(uint32_t value) { put(static_cast<int64_t>(value)); }
  void add(int value) { put(static_cast<int64_t>(value)); }
  void add(bool value) { put(value ? 1 : 0); }
  void add(double value) { put(std::bit_cast<int64_t>(value)); }
  template <class T> void add(const std::optional<T>& value) {
    if (value) {
      add(*value);
    } else {
      add_null();
    }
  }
  template <class T> void add_if(bool known, T value) {
    if (known) {
      add(value);
    } else {
      add_null();
    }
  }
  void add_null() {
    ++nulls_;
    if (values_.empty()) return;  // as long as there is no value, the nulls are only counted
    if (valid_.empty()) valid_.assign(values_.size() / 8 + 1, 0xff);
    put_bit(false);
    values_.push_back(0);
  }
  // Bytes that are not UTF-8 are written as in all output of prof. An empty text is null where the column may be null.
  void add_text(std::string_view text);
  template <class Make> void add_cached(TextCache& cache, size_t key, Make&& make) {
    if (cache.batch_ != batch_) {
      cache.index_of_key_.assign(cache.index_of_key_.size(), kUnknown);
      cache.batch_ = batch_;
    }
    if (key >= cache.index_of_key_.size()) cache.index_of_key_.resize(key + 1, kUnknown);
    int32_t& known = cache.index_of_key_[key];
    if (known == kUnknown) known = index_of(make());
    add_index(known);
  }

  const ColumnSchema& schema() const { return *schema_; }
  size_t rows() const { return values_.empty() ? nulls_ : values_.size(); }
  size_t nulls() const { return nulls_; }
  bool is_null(size_t row) const { return nulls_ != 0 && (values_.empty() || (valid_[row / 8] >> row % 8 & 1) == 0); }
  int64_t value(size_t row) const { return values_[row]; }  // Bool: 0 or 1; Text: the index of the text
  double real(size_t row) const { return std::bit_cast<double>(values_[row]); }
  std::string_view text(size_t row) const { return texts_[static_cast<size_t>(values_[row])]; }

  // Of all rows. Call it before values() and valid().
  void complete() {
    if (values_.empty()) make_nulls();
  }
  const int64_t* values() const { return values_.data(); }
  // One bit a row, the lowest first, 1: there is a value. Null if every row has one.
  const uint8_t* valid() const { return nulls_ == 0 ? nullptr : valid_.data(); }
  const std::vector<std::string_view>& texts() const { return texts_; }

 private:
  friend class TableBatch;
  static constexpr int32_t kUnknown = -2, kNullText = -1;
  void put(int64_t value) {
    if (nulls_ != 0) {
      complete();
      put_bit(true);
    }
    values_.push_back(value);
  }
  void put_bit(bool bit) {
    const size_t row = values_.size();
    if (row / 8 >= valid_.size()) valid_.push_back(0xff);
    if (!bit) valid_[row / 8] = static_cast<uint8_t>(valid_[row / 8] & ~(1U << row % 8));
  }
  void add_index(int32_t index) {
    if (index == kNullText) {
      add_null();
    } else {
      put(index);
    }
  }
  int32_t index_of(std::string_view text);
  void make_nulls();
  void clear();

  const ColumnSchema* schema_;
  std::vector<int64_t> values_;
  std::vector<uint8_t> valid_;
  size_t nulls_ = 0;
  uint64_t batch_ = 1;
  std::unordered_map<std::string, int32_t> index_of_text_;
  std::vector<std::string_view> texts_;  // keys of index_of_text_
};

struct Identity {
  std::optional<int64_t> rank;
  std::string host;
  int64_t process_id = 0;
};

class TableBatch {
 public:
  explicit TableBatch(TableId id);

  TableId id() const { return id_; }
  Cells& operator[](size_t column) { return cells_[column]; }
  const Cells& operator[](size_t column) const { return cells_[column]; }
  size_t columns() const { return cells_.size(); }
  size_t rows() const { return rows_; }
  // Every column but those of the identity has got a cell.
  void end_row() { ++rows_; }
  // The rows since the last call are of this process. Throws std::logic_error if a row lacks cells.
  void set_identity(const Identity& identity);
  void clear();

 private:
  TableId id_;
  std::vector<Cells> cells_;
  size_t rows_ = 0;
};

}  // namespace prof::analyzer::dataset
