// Which tables does `prof export --format parquet|arrow` write, and which columns do they have? dataset_tables.def is
// the only list. Offline.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace prof::analyzer::dataset {

// Version of the tables: names, types and meanings. In each file and in table processes.
inline constexpr int kDatasetVersion = 1;

enum class CellType : uint8_t { Int, Real, Bool, Text };
enum class Encoding : uint8_t { Plain, Delta, Few };
enum class Null : uint8_t { Never, Maybe };

struct ColumnSchema {
  std::string_view name;
  CellType type;
  Encoding encoding;
  Null null;
  std::string_view meaning;
};

// The columns of each table as indices: operations::start_ns.
#define PROF_DATASET_TABLE(table, meaning) \
  namespace table {                        \
  enum Column : size_t { PROF_DATASET_IDENTITY
#define PROF_DATASET_COLUMN(name, type, encoding, null, meaning) name,
#define PROF_DATASET_END(table) \
  kColumns                      \
  }                             \
  ;                             \
  }
#include "analyzer/output/dataset/dataset_tables.def"
#undef PROF_DATASET_TABLE
#undef PROF_DATASET_COLUMN
#undef PROF_DATASET_END

inline constexpr size_t kIdentityColumns = processes::pid;

enum class TableId : uint8_t {
#define PROF_DATASET_TABLE(table, meaning) table,
#define PROF_DATASET_COLUMN(name, type, encoding, null, meaning)
#define PROF_DATASET_END(table)
#include "analyzer/output/dataset/dataset_tables.def"
  kCount
#undef PROF_DATASET_TABLE
#undef PROF_DATASET_COLUMN
#undef PROF_DATASET_END
};
inline constexpr size_t kTables = static_cast<size_t>(TableId::kCount);

struct TableSchema {
  std::string_view name, meaning;
  std::span<const ColumnSchema> columns;
};

// In the order of TableId.
std::span<const TableSchema, kTables> tables();
inline const TableSchema& schema_of(TableId table) { return tables()[static_cast<size_t>(table)]; }

}  // namespace prof::analyzer::dataset
