// Writes Parquet files and Arrow streams with Arrow C++ (table_plugin.h). A column of a batch becomes an Arrow array
// without a copy, except BOOL. Texts are dictionary arrays: in Parquet's dictionary pages they are written as they are,
// without a hash of every row (5 to 10 ns).
#include "analyzer/parquet/table_plugin.h"

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/chunked_array.h>
#include <arrow/compute/cast.h>
#include <arrow/config.h>
#include <arrow/io/interfaces.h>
#include <arrow/ipc/options.h>
#include <arrow/ipc/writer.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>
#include <parquet/arrow/reader.h>
#include <parquet/arrow/writer.h>
#include <parquet/file_reader.h>
#include <parquet/properties.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <vector>

namespace {

// The file of the caller.
class CallerFile : public arrow::io::OutputStream {
 public:
  CallerFile(prof_table_write write, void* file) : write_(write), file_(file) { set_mode(arrow::io::FileMode::WRITE); }
  arrow::Status Close() override {
    closed_ = true;
    return arrow::Status::OK();
  }
  bool closed() const override { return closed_; }
  arrow::Result<int64_t> Tell() const override { return position_; }
  arrow::Status Write(const void* data, int64_t size) override {
    if (write_(file_, data, static_cast<size_t>(size)) != 0) return arrow::Status::IOError("cannot be written");
    position_ += size;
    return arrow::Status::OK();
  }

 private:
  prof_table_write write_;
  void* file_;
  int64_t position_ = 0;
  bool closed_ = false;
};

std::shared_ptr<arrow::DataType> type_of(const prof_table_column& column) {
  switch (column.type) {
    case PROF_TABLE_REAL: return arrow::float64();
    case PROF_TABLE_BOOL: return arrow::boolean();
    case PROF_TABLE_TEXT:
      return column.encoding == PROF_TABLE_DICTIONARY ? arrow::dictionary(arrow::int64(), arrow::utf8())
                                                      : arrow::utf8();
    default: return arrow::int64();
  }
}

std::shared_ptr<arrow::Buffer> view(const void* bytes, size_t size) {
  return std::make_shared<arrow::Buffer>(static_cast<const uint8_t*>(bytes), static_cast<int64_t>(size));
}

std::shared_ptr<arrow::Buffer> bits_of(const int64_t* values, size_t rows) {
  std::string bits((rows + 7) / 8, '\0');
  for (size_t row = 0; row < rows; ++row) {
    if (values[row] != 0) bits[row / 8] = static_cast<char>(bits[row / 8] | 1 << row % 8);
  }
  return arrow::Buffer::FromString(std::move(bits));
}

arrow::Result<std::shared_ptr<arrow::Buffer>> offsets_32(const int64_t* offsets, size_t count) {
  std::vector<int32_t> narrow(count);
  for (size_t i = 0; i < count; ++i) {
    if (offsets[i] > INT32_MAX) return arrow::Status::CapacityError("the texts of a column exceed 2 GiB in one batch");
    narrow[i] = static_cast<int32_t>(offsets[i]);
  }
  return arrow::Buffer::FromVector(std::move(narrow));
}

// One text a row, for columns without a dictionary.
arrow::Result<std::shared_ptr<arrow::Array>> texts_of_rows(const prof_table_cells& cells, size_t rows,
                                                           std::shared_ptr<arrow::Buffer> valid) {
  std::vector<int64_t> offsets(rows + 1);
  std::string bytes;
  for (size_t row = 0; row < rows; ++row) {
    if (cells.valid == nullptr || (cells.valid[row / 8] >> row % 8 & 1) != 0) {
      const int64_t text = cells.values[row];
      bytes.append(cells.bytes + cells.offsets[text], cells.bytes + cells.offsets[text + 1]);
    }
    offsets[row + 1] = static_cast<int64_t>(bytes.size());
  }
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> ends, offsets_32(offsets.data(), offsets.size()));
  return std::make_shared<arrow::StringArray>(static_cast<int64_t>(rows), ends,
                                              arrow::Buffer::FromString(std::move(bytes)), valid, cells.nulls);
}

arrow::Result<std::shared_ptr<arrow::Array>> array_of(const prof_table_column& column, const prof_table_cells& cells,
                                                      size_t rows) {
  const auto count = static_cast<int64_t>(rows);
  const std::shared_ptr<arrow::Buffer> valid = cells.valid == nullptr ? nullptr : view(cells.valid, (rows + 7) / 8);
  const std::shared_ptr<arrow::Buffer> values = view(cells.values, rows * sizeof(int64_t));
  switch (column.type) {
    case PROF_TABLE_REAL: return std::make_shared<arrow::DoubleArray>(count, values, valid, cells.nulls);
    case PROF_TABLE_BOOL:
      return std::make_shared<arrow::BooleanArray>(count, bits_of(cells.values, rows), valid, cells.nulls);
    case PROF_TABLE_TEXT: {
      if (column.encoding != PROF_TABLE_DICTIONARY) return texts_of_rows(cells, rows, valid);
      ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> ends,
                            offsets_32(cells.offsets, static_cast<size_t>(cells.texts) + 1));
      const auto texts = std::make_shared<arrow::StringArray>(
          cells.texts, ends, view(cells.bytes, static_cast<size_t>(cells.offsets[cells.texts])));
      const auto indices = std::make_shared<arrow::Int64Array>(count, values, valid, cells.nulls);
      return std::make_shared<arrow::DictionaryArray>(type_of(column), indices, texts);
    }
    default: return std::make_shared<arrow::Int64Array>(count, values, valid, cells.nulls);
  }
}

}  // namespace

struct prof_table {
  std::vector<std::string> names;
  std::vector<prof_table_column> columns;
  std::shared_ptr<arrow::Schema> schema;
  std::shared_ptr<CallerFile> file;
  std::unique_ptr<parquet::arrow::FileWriter> parquet;  // null: an Arrow stream
  std::shared_ptr<arrow::ipc::RecordBatchWriter> stream;

  arrow::Status open(int32_t format, const std::shared_ptr<arrow::KeyValueMetadata>& facts) {
    std::vector<std::shared_ptr<arrow::Field>> fields;
    for (const prof_table_column& column : columns)
      fields.push_back(arrow::field(column.name, type_of(column), column.nullable != 0));
    schema = arrow::schema(fields, facts);
    if (format == PROF_TABLE_ARROW_STREAM) {
      arrow::ipc::IpcWriteOptions options = arrow::ipc::IpcWriteOptions::Defaults();
      options.use_threads = false;
      return arrow::ipc::MakeStreamWriter(file, schema, options).Value(&stream);
    }
    parquet::WriterProperties::Builder properties;
    properties.version(parquet::ParquetVersion::PARQUET_2_6);
    properties.data_page_version(parquet::ParquetDataPageVersion::V1);  // every reader has it
    properties.compression(arrow::Compression::ZSTD);
    properties.created_by("prof, with parquet-cpp-arrow " ARROW_VERSION_STRING);
    properties.max_row_group_length(INT64_MAX);  // the caller's batches
    properties.dictionary_pagesize_limit(int64_t{1} << 30);
    properties.disable_dictionary();
    for (const prof_table_column& column : columns) {
      if (column.encoding == PROF_TABLE_DICTIONARY) {
        properties.enable_dictionary(column.name);
      } else if (column.encoding == PROF_TABLE_DELTA) {
        properties.encoding(column.name, parquet::Encoding::DELTA_BINARY_PACKED);
      }
      // Readers skip row groups by numbers; least and greatest texts cost more than they save.
      if (column.type == PROF_TABLE_TEXT) properties.disable_statistics(column.name);
    }
    ARROW_ASSIGN_OR_RAISE(
        parquet, parquet::arrow::FileWriter::Open(*schema, arrow::default_memory_pool(), file, properties.build()));
    return facts->size() == 0 ? arrow::Status::OK() : parquet->AddKeyValueMetadata(facts);
  }

  arrow::Status write(const prof_table_cells* cells, size_t rows) {
    if (parquet) ARROW_RETURN_NOT_OK(parquet->NewRowGroup());
    std::vector<std::shared_ptr<arrow::Array>> arrays;
    for (size_t i = 0; i < columns.size(); ++i) {
      ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Array> array, array_of(columns[i], cells[i], rows));
      if (parquet) {
        ARROW_RETURN_NOT_OK(parquet->WriteColumnChunk(*array));
      } else {
        arrays.push_back(std::move(array));
      }
    }
    if (parquet) return arrow::Status::OK();
    return stream->WriteRecordBatch(*arrow::RecordBatch::Make(schema, static_cast<int64_t>(rows), std::move(arrays)));
  }

  arrow::Status close() { return parquet ? parquet->Close() : stream->Close(); }
};

namespace {

// Calls `step`, which returns a Status. parquet-cpp also throws.
template <class Step> int guarded(prof_table_error* error, Step&& step) {
  std::string text;
  try {
    const arrow::Status status = step();
    if (status.ok()) return 0;
    text = status.ToString();
  } catch (const std::exception& exception) {
    text = exception.what();
  }
  const size_t size = std::min(text.size(), sizeof(error->text) - 1);
  std::memcpy(error->text, text.data(), size);
  error->text[size] = '\0';
  return 1;
}

prof_table* open_table(int32_t format, const prof_table_column* columns, size_t column_count,
                       const prof_table_fact* facts, size_t fact_count, prof_table_write write, void* file,
                       prof_table_error* error) {
  std::unique_ptr<prof_table> table;
  const int failed = guarded(error, [&] {
    table = std::make_unique<prof_table>();
    for (size_t i = 0; i < column_count; ++i) table->names.emplace_back(columns[i].name);
    table->columns.assign(columns, columns + column_count);
    for (size_t i = 0; i < column_count; ++i) table->columns[i].name = table->names[i].c_str();
    const auto metadata = std::make_shared<arrow::KeyValueMetadata>();
    for (size_t i = 0; i < fact_count; ++i) metadata->Append(facts[i].key, facts[i].value);
    table->file = std::make_shared<CallerFile>(write, file);
    return table->open(format, metadata);
  });
  return failed != 0 ? nullptr : table.release();
}

int write_rows(prof_table* table, const prof_table_cells* cells, size_t rows, prof_table_error* error) {
  return guarded(error, [&] { return table->write(cells, rows); });
}

int close_table(prof_table* table, prof_table_error* error) {
  return guarded(error, [&] { return table->close(); });
}

void free_table(prof_table* table) { delete table; }

}  // namespace

struct prof_table_file {
  std::vector<int32_t> types;
  std::vector<int> indices;
  std::string fact;
  std::unique_ptr<parquet::arrow::FileReader> parquet;
  std::unique_ptr<arrow::RecordBatchReader> batches;
  std::shared_ptr<arrow::RecordBatch> batch;  // what the cells are views of
  // Of the present batch, by column.
  std::vector<std::vector<int64_t>> numbers, offsets;
  std::vector<std::vector<uint8_t>> valid;

  arrow::Status open(const char* path, const prof_table_column* columns, size_t count, const char* key) {
    parquet::ReaderProperties properties;
    properties.enable_buffered_stream();  // else the columns of a row group are in memory as they are in the file
    std::unique_ptr<parquet::ParquetFileReader> file =
        parquet::ParquetFileReader::OpenFile(path, /*memory_map=*/false, properties);
    const auto facts = file->metadata()->key_value_metadata();
    if (facts != nullptr && key != nullptr && facts->Contains(key)) {
      ARROW_ASSIGN_OR_RAISE(fact, facts->Get(key));
    }
    parquet::ArrowReaderProperties how(/*use_threads=*/false);
    ARROW_ASSIGN_OR_RAISE(parquet,
                          parquet::arrow::FileReader::Make(arrow::default_memory_pool(), std::move(file), how));
    std::shared_ptr<arrow::Schema> schema;
    ARROW_RETURN_NOT_OK(parquet->GetSchema(&schema));
    for (size_t i = 0; i < count; ++i) {
      const int at = schema->GetFieldIndex(columns[i].name);
      if (at < 0) return arrow::Status::Invalid("no column ", columns[i].name);
      const arrow::Type::type wanted = columns[i].type == PROF_TABLE_INT    ? arrow::Type::INT64
                                       : columns[i].type == PROF_TABLE_BOOL ? arrow::Type::BOOL
                                                                            : arrow::Type::STRING;
      if (schema->field(at)->type()->id() != wanted)
        return arrow::Status::Invalid("column ", columns[i].name, " is ", schema->field(at)->type()->ToString());
      indices.push_back(at);
      types.push_back(columns[i].type);
    }
    std::vector<int> groups(static_cast<size_t>(parquet->num_row_groups()));
    for (size_t i = 0; i < groups.size(); ++i) groups[i] = static_cast<int>(i);
    numbers.resize(count), offsets.resize(count), valid.resize(count);
    return parquet->GetRecordBatchReader(groups, indices).Value(&batches);
  }

  arrow::Status read(prof_table_cells* cells, size_t* rows) {
    do {
      ARROW_RETURN_NOT_OK(batches->ReadNext(&batch));
    } while (batch != nullptr && batch->num_rows() == 0);
    *rows = batch == nullptr ? 0 : static_cast<size_t>(batch->num_rows());
    for (size_t i = 0; i < types.size() && *rows != 0; ++i) {
      // Batches have the columns in the order of the file.
      const size_t place =
          static_cast<size_t>(std::count_if(indices.begin(), indices.end(), [&](int at) { return at < indices[i]; }));
      fill(i, *batch->column(static_cast<int>(place)), *rows, cells[i]);
    }
    return arrow::Status::OK();
  }

 private:
  void fill(size_t i, const arrow::Array& array, size_t rows, prof_table_cells& cells) {
    numbers[i].assign(rows, 0);
    valid[i].assign((rows + 7) / 8, 0xff);
    offsets[i].clear();
    cells = {numbers[i].data(), nullptr, array.null_count(), nullptr, nullptr, 0};
    if (array.null_count() != 0) cells.valid = valid[i].data();
    for (size_t row = 0; row < rows; ++row) {
      const auto at = static_cast<int64_t>(row);
      if (array.IsNull(at)) {
        valid[i][row / 8] = static_cast<uint8_t>(valid[i][row / 8] & ~(1U << row % 8));
        continue;
      }
      if (types[i] == PROF_TABLE_INT) numbers[i][row] = static_cast<const arrow::Int64Array&>(array).Value(at);
      if (types[i] == PROF_TABLE_BOOL)
        numbers[i][row] = static_cast<const arrow::BooleanArray&>(array).Value(at) ? 1 : 0;
      if (types[i] == PROF_TABLE_TEXT) numbers[i][row] = at;
    }
    if (types[i] != PROF_TABLE_TEXT) return;
    const auto& texts = static_cast<const arrow::StringArray&>(array);
    for (size_t row = 0; row <= rows; ++row) offsets[i].push_back(texts.value_offset(static_cast<int64_t>(row)));
    cells.offsets = offsets[i].data();
    const std::shared_ptr<arrow::Buffer> bytes = texts.value_data();
    cells.bytes = bytes == nullptr ? "" : reinterpret_cast<const char*>(bytes->data());
    cells.texts = static_cast<int64_t>(rows);
  }
};

namespace {

prof_table_file* open_file(const char* path, const prof_table_column* columns, size_t column_count, const char* key,
                           const char** fact, prof_table_error* error) {
  std::unique_ptr<prof_table_file> file;
  const int failed = guarded(error, [&] {
    file = std::make_unique<prof_table_file>();
    return file->open(path, columns, column_count, key);
  });
  if (failed != 0) return nullptr;
  if (fact != nullptr) *fact = file->fact.empty() ? nullptr : file->fact.c_str();
  return file.release();
}

int read_rows(prof_table_file* file, prof_table_cells* cells, size_t* rows, prof_table_error* error) {
  return guarded(error, [&] { return file->read(cells, rows); });
}

void close_file(prof_table_file* file) { delete file; }

constexpr prof_table_plugin kPlugin = {PROF_TABLE_PLUGIN_VERSION,
                                       ARROW_VERSION_STRING,
                                       open_table,
                                       write_rows,
                                       close_table,
                                       free_table,
                                       open_file,
                                       read_rows,
                                       close_file};

}  // namespace

extern "C" __attribute__((visibility("default"))) const prof_table_plugin* get_prof_table_plugin(void) {
  return &kPlugin;
}
