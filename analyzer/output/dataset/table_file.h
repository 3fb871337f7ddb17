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

}  // namespace prof::analyzer::dataset
