#include "analyzer/input/sqlite/sqlite_reader.h"

#include "analyzer/base/input_error.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace prof::analyzer {

namespace {

// A file name as a URI: characters with a meaning in URIs are written as %XX.
std::string uri_of(const std::string& path) {
  std::string uri = path.starts_with('/') ? "file://" : "file:";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
                       byte == '/' || byte == '.' || byte == '_' || byte == '-';
    uri += plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return uri + "?mode=ro&immutable=1";
}

std::string quoted(std::string_view name) {
  std::string text = "\"";
  for (const char c : name) text += c == '"' ? std::string("\"\"") : std::string(1, c);
  return text + '"';
}

std::string_view column_text(sqlite3_stmt* statement, int column) {
  const unsigned char* const text = sqlite3_column_text(statement, column);
  const int bytes = sqlite3_column_bytes(statement, column);
  return text == nullptr ? std::string_view()
                         : std::string_view(reinterpret_cast<const char*>(text), static_cast<size_t>(bytes));
}

}  // namespace

SqliteFile::SqliteFile(const std::string& path, int longest_cell) : path_(path), longest_cell_(longest_cell) {
  struct stat info {};
  if (stat(path.c_str(), &info) == 0) file_bytes_ = static_cast<uint64_t>(info.st_size);
  sqlite3* database = nullptr;
  const int opened = sqlite3_open_v2(uri_of(path).c_str(), &database, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr);
  database_.reset(database);
  if (opened != SQLITE_OK) {
    throw InputError(fmt::format("{}: the database cannot be opened: {}", path,
                                 database == nullptr ? "out of memory" : sqlite3_errmsg(database)));
  }
  // The schema is part of the input: it must not make SQLite run functions or use unlimited memory. With a "writable"
  // schema SQLite reads what remains of a truncated file, and of a partly damaged list of tables.
  sqlite3_db_config(database, SQLITE_DBCONFIG_WRITABLE_SCHEMA, 1, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_limit(database, SQLITE_LIMIT_LENGTH, longest_cell);
  sqlite3_stmt* statement = nullptr;
  const char* const query =
      "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c "
      "WHERE m.type = 'table' AND m.sql NOT LIKE 'CREATE VIRTUAL%'";
  int step = sqlite3_prepare_v2(database, query, -1, &statement, nullptr);
  while (step == SQLITE_OK || step == SQLITE_ROW) {
    step = sqlite3_step(statement);
    if (step == SQLITE_ROW) columns_[std::string(column_text(statement, 0))].emplace_back(column_text(statement, 1));
  }
  const std::string problem = step == SQLITE_DONE ? "" : sqlite3_errmsg(database);
  sqlite3_finalize(statement);
  if (step != SQLITE_DONE)
    throw InputError(fmt::format("{}: the database's list of tables cannot be read: {}", path, problem));
}

bool SqliteFile::has_column(std::string_view table, std::string_view column) const {
  const auto found = columns_.find(table);
  return found != columns_.end() &&
         std::find(found->second.begin(), found->second.end(), column) != found->second.end();
}

bool SqliteFile::has_rows(std::string_view table) const {
  if (!has_table(table)) return false;
  sqlite3_stmt* statement = nullptr;
  const std::string query = fmt::format("SELECT 1 FROM {} LIMIT 1", quoted(table));
  const bool found = sqlite3_prepare_v2(handle(), query.c_str(), -1, &statement, nullptr) == SQLITE_OK &&
                     sqlite3_step(statement) == SQLITE_ROW;
  sqlite3_finalize(statement);
  return found;
}

std::pair<std::string_view, uint64_t> SqliteFile::name_and_version(std::string_view table) {
  const size_t at = table.rfind("_V");
  uint64_t version = 0;
  if (at == std::string_view::npos || at == 0) return {table, 1};
  const char* const end = table.data() + table.size();
  const auto [after, error] = std::from_chars(table.data() + at + 2, end, version);
  if (error != std::errc() || after != end) return {table, 1};
  return {table.substr(0, at), version};
}

std::string SqliteFile::versioned(std::string_view name) const {
  std::string best(name);
  std::pair<bool, uint64_t> best_rank;
  for (auto table = columns_.lower_bound(name); table != columns_.end() && table->first.starts_with(name); ++table) {
    const auto [base, version] = name_and_version(table->first);
    if (base != name) continue;
    const std::pair<bool, uint64_t> rank{has_rows(table->first), version};
    if (rank <= best_rank) continue;
    best = table->first;
    best_rank = rank;
  }
  return best;
}

std::vector<std::string> SqliteFile::tables() const {
  std::vector<std::string> names;
  for (const auto& [name, columns] : columns_) names.push_back(name);
  return names;
}

SqliteRows::SqliteRows(const SqliteFile& file, const std::string& table,
                       std::initializer_list<std::string_view> columns)
    : file_(file), table_(file.versioned(table)), names_(columns.begin(), columns.end()), misread_(columns.size()) {
  if (!file.has_table(table_)) return;
  for (const std::string& name : names_) {
    if (!list_.empty()) list_ += ", ";
    list_ += file.has_column(table_, name) ? quoted(name) : "NULL";
  }
  has_row_ids_ = !file.has_column(table_, "rowid");
  if (has_row_ids_ && prepare("")) return;
  has_row_ids_ = false;  // WITHOUT ROWID
  if (!prepare("")) broken_ = file.error();
}

bool SqliteRows::prepare(std::string_view where) {
  const std::string query =
      fmt::format("SELECT {}{} FROM {}{}", list_, has_row_ids_ ? ", rowid" : "", quoted(table_), where);
  sqlite3_stmt* statement = nullptr;
  const bool prepared = sqlite3_prepare_v2(file_.handle(), query.c_str(), -1, &statement, nullptr) == SQLITE_OK;
  statement_.reset(statement);
  return prepared;
}

// After a row that has a text longer than the limit: continues at the row after it.
bool SqliteRows::skip_long_row() {
  if (!has_row_ids_) return false;
  const std::string after = last_row_id_ ? fmt::format(" WHERE rowid > {}", *last_row_id_) : "";
  const std::string query = fmt::format("SELECT min(rowid) FROM {}{}", quoted(table_), after);
  sqlite3_stmt* statement = nullptr;
  const bool found = sqlite3_prepare_v2(file_.handle(), query.c_str(), -1, &statement, nullptr) == SQLITE_OK &&
                     sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_type(statement, 0) == SQLITE_INTEGER;
  const int64_t row = found ? sqlite3_column_int64(statement, 0) : 0;
  sqlite3_finalize(statement);
  if (!found) return false;
  last_row_id_ = row;
  if (long_rows_++ == 0) first_long_row_ = row;
  ++rows_aside_;
  return prepare(fmt::format(" WHERE rowid > {} ORDER BY rowid", row));
}

bool SqliteRows::next() {
  if (statement_ == nullptr || !broken_.empty()) return false;
  int step = sqlite3_step(statement_.get());
  while (step == SQLITE_TOOBIG && skip_long_row()) step = sqlite3_step(statement_.get());
  if (step == SQLITE_ROW) {
    if (has_row_ids_) last_row_id_ = sqlite3_column_int64(statement_.get(), static_cast<int>(names_.size()));
    // Pages of a damaged file may point to each other in cycles.
    if (++rows_ <= file_.file_bytes()) return true;
    broken_ = "it has more rows than the file has bytes";
  } else if (step != SQLITE_DONE) {
    broken_ = file_.error();
  }
  return false;
}

bool SqliteRows::is_null(size_t column) {
  return sqlite3_column_type(statement_.get(), static_cast<int>(column)) == SQLITE_NULL;
}

std::optional<int64_t> SqliteRows::integer(size_t column) {
  const std::optional<int64_t> value = wanted(column);
  if (!value && !is_null(column)) ++misread_[column];
  return value;
}

std::optional<int64_t> SqliteRows::wanted(size_t column) {
  const int at = static_cast<int>(column);
  switch (sqlite3_column_type(statement_.get(), at)) {
    case SQLITE_INTEGER: return sqlite3_column_int64(statement_.get(), at);
    case SQLITE_NULL: return std::nullopt;
    case SQLITE_FLOAT: {
      constexpr double kExact = 9007199254740992.0;  // integers are exact up to 2^53
      const double value = sqlite3_column_double(statement_.get(), at);
      if (std::fabs(value) <= kExact && std::floor(value) == value) return static_cast<int64_t>(value);
      break;
    }
    case SQLITE_TEXT: {
      const std::string_view text = column_text(statement_.get(), at);
      int64_t value = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
      if (error == std::errc() && end == text.data() + text.size() && !text.empty()) return value;
      break;
    }
    default: break;
  }
  return std::nullopt;
}

uint32_t SqliteRows::number(size_t column, uint32_t otherwise) {
  const std::optional<int64_t> value = integer(column);
  if (!value) return otherwise;
  if (*value >= 0 && *value <= UINT32_MAX) return static_cast<uint32_t>(*value);
  ++misread_[column];
  return otherwise;
}

double SqliteRows::real(size_t column) { return sqlite3_column_double(statement_.get(), static_cast<int>(column)); }

std::string_view SqliteRows::text(size_t column) { return column_text(statement_.get(), static_cast<int>(column)); }

std::vector<std::string> SqliteRows::problems() const {
  std::vector<std::string> lines;
  const auto rows = [](uint64_t count) { return fmt::format("{} row{}", count, count == 1 ? "" : "s"); };
  if (!broken_.empty())
    lines.push_back(fmt::format("{}: damaged after {}: {}; the rest of the table is not read", table_,
                                rows(std::min(rows_, file_.file_bytes())), broken_));
  if (long_rows_ != 0)
    lines.push_back(fmt::format("{}: {} skipped: a text in it is longer than {} bytes (the first is row {})", table_,
                                rows(long_rows_), file_.longest_cell(), first_long_row_));
  for (const auto& [why, count] : aside_) lines.push_back(fmt::format("{}: {} skipped: {}", table_, rows(count), why));
  for (size_t i = 0; i < names_.size(); ++i) {
    if (misread_[i] != 0)
      lines.push_back(fmt::format("{}: {} with a '{}' that is no number in range, read as not known", table_,
                                  rows(misread_[i]), names_[i]));
  }
  return lines;
}

bool is_sqlite(std::string_view first_bytes) { return first_bytes.starts_with("SQLite format 3"); }

bool sqlite_has(const std::string& path, std::string_view first_bytes, std::initializer_list<std::string_view> tables,
                std::initializer_list<std::string_view> prefixes) {
  if (!is_sqlite(first_bytes)) return false;
  try {
    const SqliteFile file(path);
    const std::vector<std::string> names = file.tables();
    return std::all_of(tables.begin(), tables.end(),
                       [&](std::string_view table) { return file.has_table(file.versioned(table)); }) &&
           std::any_of(names.begin(), names.end(), [&](const std::string& name) {
             return std::any_of(prefixes.begin(), prefixes.end(),
                                [&](std::string_view prefix) { return name.starts_with(prefix); });
           });
  } catch (const InputError&) {
    return false;
  }
}

}  // namespace prof::analyzer
