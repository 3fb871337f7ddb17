// One table in one file: a Parquet file, or a stream of Arrow. Its bytes go through a Sink, so the file has its name
// only when it is complete. Every failure is an OutputError with the name of the file.
#pragma once

#include "analyzer/base/sink.h"
#include "analyzer/output/dataset/plugin_library.h"
#include "analyzer/output/dataset/table_batch.h"

#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace prof::analyzer::dataset {

class TableFile {
 public:
  // `path`: "-" is stdout.
  TableFile(const std::string& path, TableId table, prof_table_format format);
  ~TableFile();
  TableFile(const TableFile&) = delete;
  TableFile& operator=(const TableFile&) = delete;

  // Writes all rows and removes them from the batch.
  void write(TableBatch& batch);
  void close();
  uint64_t bytes() const { return bytes_; }
  uint64_t rows() const { return rows_; }
  const std::string& path() const { return sink_.path(); }

 private:
  static int take_bytes(void* file, const void* bytes, size_t size);
  void check(bool failed, const prof_table_error& error) const;

  Sink sink_;
  uint64_t bytes_ = 0, rows_ = 0;
  std::exception_ptr failure_;  // of the Sink
  prof_table* table_ = nullptr;
};

// Columns of a Parquet file of a dataset, batch by batch. Failures are OutputErrors with the name of the file.
class TableReader {
 public:
  // Throws also if the file is of another version of the tables, or has not these columns.
  TableReader(const std::string& path, TableId table, std::vector<size_t> columns);
  ~TableReader();
  TableReader(const TableReader&) = delete;
  TableReader& operator=(const TableReader&) = delete;

  // False: there are no more rows.
  bool next();
  size_t rows() const { return rows_; }
  // `column`: an index of the list of the constructor.
  bool is_null(size_t column, size_t row) const {
    const uint8_t* const valid = cells_[column].valid;
    return valid != nullptr && (valid[row / 8] >> row % 8 & 1) == 0;
  }
  int64_t number(size_t column, size_t row) const { return cells_[column].values[row]; }  // null: 0
  std::string_view text(size_t column, size_t row) const {                                // null: empty
    const prof_table_cells& cells = cells_[column];
    return {cells.bytes + cells.offsets[row], static_cast<size_t>(cells.offsets[row + 1] - cells.offsets[row])};
  }

 private:
  [[noreturn]] void fail(std::string_view why) const;

  const std::string path_;
  prof_table_file* file_ = nullptr;
  std::vector<prof_table_cells> cells_;
  size_t rows_ = 0;
};

}  // namespace prof::analyzer::dataset
