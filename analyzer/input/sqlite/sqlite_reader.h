// Reads tables of a SQLite file that another program wrote, possibly of another version, possibly damaged. The file is
// opened read-only and immutable: nothing is locked, created or repaired. Columns are queried from the database; a
// missing column reads as NULL. A table NAME may have a version: NAME_V2, NAME_V3 … Used by the importers of nsys and
// nvprof.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace prof::analyzer {

class SqliteFile {
 public:
  static constexpr int kLongestCell = 16 << 20;
  // Throws InputError if the file cannot be opened or its list of tables is unreadable. Rows with a text of more than
  // `longest_cell` bytes are skipped and counted.
  explicit SqliteFile(const std::string& path, int longest_cell = kLongestCell);

  bool has_table(std::string_view table) const { return columns_.contains(table); }
  bool has_rows(std::string_view table) const;
  // The table of that name with the highest version that has rows: "NVTX_EVENTS" -> "NVTX_EVENTS_V2". If none has rows:
  // that with the highest version; if there is none at all: the name itself.
  std::string versioned(std::string_view name) const;
  // "NVTX_EVENTS_V2" -> "NVTX_EVENTS", 2; a name without a version -> itself, 1.
  static std::pair<std::string_view, uint64_t> name_and_version(std::string_view table);
  bool has_column(std::string_view table, std::string_view column) const;
  std::vector<std::string> tables() const;
  const std::string& path() const { return path_; }
  uint64_t file_bytes() const { return file_bytes_; }
  int longest_cell() const { return longest_cell_; }
  // SQLite's message for the last step that failed.
  std::string error() const { return sqlite3_errmsg(database_.get()); }
  sqlite3* handle() const { return database_.get(); }

 private:
  struct Close {
    void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
  };
  std::string path_;
  int longest_cell_;
  uint64_t file_bytes_ = 0;
  std::unique_ptr<sqlite3, Close> database_;
  std::map<std::string, std::vector<std::string>, std::less<>>
      columns_;  // of each table, without views and virtual tables
};

// The rows of one table in the order of the file, and counts of what could not be used.
class SqliteRows {
 public:
  // `columns`: the functions below refer to them by index. A table that does not exist has no rows. The table may have
  // a version (SqliteFile::versioned).
  SqliteRows(const SqliteFile& file, const std::string& table, std::initializer_list<std::string_view> columns);

  // The next row; false at the end, or if the database is damaged: then problems() reports it.
  bool next();
  uint64_t rows() const { return rows_; }

  // nullopt for NULL. A value that is no 64-bit integer is nullopt, too, and counted.
  std::optional<int64_t> integer(size_t column);
  // The same without counting, for values that set_aside() reports anyway.
  std::optional<int64_t> wanted(size_t column);
  int64_t integer_or(size_t column, int64_t otherwise) { return integer(column).value_or(otherwise); }
  // Like integer(); values that do not fit 32 bits are counted, too.
  uint32_t number(size_t column, uint32_t otherwise = 0);
  double real(size_t column);
  // Valid until next(). Numbers are converted to text, NULL is empty.
  std::string_view text(size_t column);
  bool is_null(size_t column);

  // The row is not used; `why` completes "12 rows skipped: …".
  void set_aside(std::string_view why) {
    constexpr size_t kMostReasons = 32;
    ++rows_aside_;
    ++aside_[std::string(aside_.size() < kMostReasons || aside_.contains(why) ? why : "other reasons")];
  }
  // "TABLE: 3 rows skipped: start is no number" …: one line per kind of problem. Empty if there is none.
  std::vector<std::string> problems() const;
  uint64_t rows_lost() const { return rows_aside_; }  // that set_aside() or the length of a text skipped

 private:
  bool prepare(std::string_view where);
  bool skip_long_row();

  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  const SqliteFile& file_;
  std::string table_;
  std::vector<std::string> names_;
  std::string list_;  // of columns in the query
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  bool has_row_ids_ = false;
  std::optional<int64_t> last_row_id_;
  uint64_t rows_ = 0;
  uint64_t rows_aside_ = 0;
  uint64_t long_rows_ = 0;
  int64_t first_long_row_ = 0;
  std::vector<uint64_t> misread_;  // of each column
  std::map<std::string, uint64_t, std::less<>> aside_;
  std::string broken_;
};

// Whether the file is a database with all of `tables` and at least one table whose name starts with one of `prefixes`.
// False for unreadable files.
bool sqlite_has(const std::string& path, std::string_view first_bytes, std::initializer_list<std::string_view> tables,
                std::initializer_list<std::string_view> prefixes);
// Whether the bytes are those of any SQLite database.
bool is_sqlite(std::string_view first_bytes);

}  // namespace prof::analyzer
