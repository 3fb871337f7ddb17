#include "analyzer/output/dataset/table_file.h"

#include <fmt/format.h>

#include <string_view>
#include <vector>

namespace prof::analyzer::dataset {

namespace {

int32_t type_of(CellType type) {
  switch (type) {
    case CellType::Int: return PROF_TABLE_INT;
    case CellType::Real: return PROF_TABLE_REAL;
    case CellType::Bool: return PROF_TABLE_BOOL;
    case CellType::Text: return PROF_TABLE_TEXT;
  }
  return PROF_TABLE_INT;
}

int32_t encoding_of(Encoding encoding) {
  switch (encoding) {
    case Encoding::Plain: return PROF_TABLE_PLAIN;
    case Encoding::Delta: return PROF_TABLE_DELTA;
    case Encoding::Few: return PROF_TABLE_DICTIONARY;
  }
  return PROF_TABLE_PLAIN;
}

// The texts of a column, one after the other.
struct Texts {
  std::vector<int64_t> offsets{0};
  std::string bytes;
  explicit Texts(const Cells& cells) {
    for (const std::string_view text : cells.texts()) {
      bytes += text;
      offsets.push_back(static_cast<int64_t>(bytes.size()));
    }
  }
};

}  // namespace

TableFile::TableFile(const std::string& path, TableId table, prof_table_format format) : sink_(path) {
  const TableSchema& schema = schema_of(table);
  std::vector<std::string> names;
  std::vector<prof_table_column> columns;
  for (const ColumnSchema& column : schema.columns) names.emplace_back(column.name);
  for (size_t i = 0; i < names.size(); ++i) {
    const ColumnSchema& column = schema.columns[i];
    columns.push_back(
        {names[i].c_str(), type_of(column.type), encoding_of(column.encoding), column.null == Null::Maybe ? 1 : 0});
  }
  const std::string name(schema.name), version = std::to_string(kDatasetVersion);
  const prof_table_fact facts[] = {
      {"prof.table", name.c_str()}, {"prof.schema_version", version.c_str()}, {"prof.version", PROF_VERSION}};
  prof_table_error error{};
  table_ =
      table_plugin().open(format, columns.data(), columns.size(), facts, std::size(facts), take_bytes, this, &error);
  check(table_ == nullptr, error);
}

TableFile::~TableFile() {
  if (table_ != nullptr) table_plugin().free(table_);
}

int TableFile::take_bytes(void* file, const void* bytes, size_t size) {
  TableFile& self = *static_cast<TableFile*>(file);
  if (self.failure_) return 1;
  try {
    self.sink_.write({static_cast<const char*>(bytes), size});
  } catch (...) {
    self.failure_ = std::current_exception();
    return 1;
  }
  self.bytes_ += size;
  return 0;
}

void TableFile::check(bool failed, const prof_table_error& error) const {
  if (failure_) std::rethrow_exception(failure_);
  if (failed)
    throw OutputError(
        fmt::format("{}: cannot be written: {}", path() == "-" ? "stdout" : path(), std::string_view(error.text)));
}

void TableFile::write(TableBatch& batch) {
  std::vector<Texts> texts;
  std::vector<prof_table_cells> columns;
  texts.reserve(batch.columns());
  for (size_t i = 0; i < batch.columns(); ++i) {
    Cells& cells = batch[i];
    cells.complete();
    const Texts& of_column = texts.emplace_back(cells);
    columns.push_back({cells.values(), cells.valid(), static_cast<int64_t>(cells.nulls()), of_column.offsets.data(),
                       of_column.bytes.data(), static_cast<int64_t>(cells.texts().size())});
  }
  prof_table_error error{};
  check(table_plugin().write(table_, columns.data(), batch.rows(), &error) != 0, error);
  rows_ += batch.rows();
  batch.clear();
}

void TableFile::close() {
  prof_table_error error{};
  check(table_plugin().close(table_, &error) != 0, error);
  sink_.close();
}

TableReader::TableReader(const std::string& path, TableId table, std::vector<size_t> columns)
    : path_(path), cells_(columns.size()) {
  std::vector<std::string> names;
  std::vector<prof_table_column> wanted;
  for (const size_t column : columns) names.emplace_back(schema_of(table).columns[column].name);
  for (size_t i = 0; i < columns.size(); ++i)
    wanted.push_back({names[i].c_str(), type_of(schema_of(table).columns[columns[i]].type), 0, 0});
  prof_table_error error{};
  const char* version = nullptr;
  file_ = table_plugin().open_file(path.c_str(), wanted.data(), wanted.size(), "prof.schema_version", &version, &error);
  if (file_ == nullptr) fail(std::string_view(error.text));
  if (version == nullptr || std::to_string(kDatasetVersion) != version) {
    const std::string found = version == nullptr ? "none" : version;
    table_plugin().close_file(file_);
    fail(fmt::format("its version of the tables is {}, not {}", found, kDatasetVersion));
  }
}

TableReader::~TableReader() { table_plugin().close_file(file_); }

bool TableReader::next() {
  prof_table_error error{};
  if (table_plugin().read(file_, cells_.data(), &rows_, &error) != 0) fail(std::string_view(error.text));
  return rows_ != 0;
}

void TableReader::fail(std::string_view why) const {
  throw OutputError(fmt::format("{}: cannot be read as a table of this prof: {}", path_, why));
}

}  // namespace prof::analyzer::dataset
