// How is a SQLite database written fast and whole? Rows are appended in one transaction without a journal: if something
// fails, the file does not exist. It is written under a temporary name and gets its own in close(), as a Sink's file
// does. For stdout or a device, close() copies the bytes there. Every failure is an OutputError with the name of the
// file and SQLite's message. A table is created with its first row, so no table is empty: readers test whether a table
// exists.
#pragma once

#include "analyzer/base/unfinished_file.h"

#include <sqlite3.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace prof::analyzer {

class DatabaseFile {
 public:
  // "-" is stdout.
  explicit DatabaseFile(const std::string& path);
  ~DatabaseFile();
  DatabaseFile(const DatabaseFile&) = delete;
  DatabaseFile& operator=(const DatabaseFile&) = delete;

  void run(const std::string& sql);
  // All tables must have been destroyed.
  void close();
  uint64_t rows() const { return rows_; }

 private:
  friend class TableRows;
  struct Close {
    void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
  };
  [[noreturn]] void fail() const;

  std::string path_;
  bool copied_ = false;  // to stdout or a device, in close()
  UnfinishedFile temporary_;
  std::unique_ptr<sqlite3, Close> database_;
  uint64_t rows_ = 0;
};

struct SqlColumn {
  std::string_view name, type;  // "start", "INTEGER NOT NULL"
};

struct SqlBytes {
  std::string_view bytes;
};

// One table of any number of columns.
class TableRows {
 public:
  TableRows(const TableRows&) = delete;
  TableRows& operator=(const TableRows&) = delete;
  // The file has the table from now on, also without a row.
  void open() {
    if (statement_ == nullptr) create();
  }

 protected:
  TableRows(DatabaseFile& file, std::string_view name, std::span<const SqlColumn> columns);
  void set(int column, int64_t value) { check(sqlite3_bind_int64(statement_.get(), column, value)); }
  void set(int column, uint64_t value) { set(column, static_cast<int64_t>(value)); }
  void set(int column, uint32_t value) { set(column, static_cast<int64_t>(value)); }
  void set(int column, int value) { set(column, static_cast<int64_t>(value)); }
  void set(int column, double value) { check(sqlite3_bind_double(statement_.get(), column, value)); }
  void set(int column, std::nullopt_t) { check(sqlite3_bind_null(statement_.get(), column)); }
  // A text that is not UTF-8 becomes readable_utf8(): readers refuse it otherwise.
  void set(int column, std::string_view text);
  void set(int column, SqlBytes blob);
  template <class T> void set(int column, const std::optional<T>& value) {
    if (value) {
      set(column, *value);
    } else {
      set(column, std::nullopt);
    }
  }
  void add();

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  void create();
  void check(int status) const {
    if (status != SQLITE_OK) file_.fail();
  }

  DatabaseFile& file_;
  std::string_view name_;
  std::span<const SqlColumn> columns_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

// A table of as many columns as the cells of each row. `columns` must outlive it. Texts must live until add() returns.
template <size_t kColumns> class SqlTable : public TableRows {
 public:
  SqlTable(DatabaseFile& file, std::string_view name, const std::array<SqlColumn, kColumns>& columns)
      : TableRows(file, name, columns) {}

  template <class... Cells>
  requires(sizeof...(Cells) == kColumns) void add(const Cells&... cells) {
    open();
    int column = 0;
    (set(++column, cells), ...);
    TableRows::add();
  }
};

}  // namespace prof::analyzer
