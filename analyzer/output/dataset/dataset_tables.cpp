#include "analyzer/output/dataset/dataset_tables.h"

namespace prof::analyzer::dataset {

namespace {

#define PROF_DATASET_TABLE(table, meaning) constexpr ColumnSchema k_##table[] = {PROF_DATASET_IDENTITY
#define PROF_DATASET_COLUMN(name, type, encoding, null, meaning) \
  {#name, CellType::type, Encoding::encoding, Null::null, meaning},
#define PROF_DATASET_END(table) \
  }                             \
  ;
#include "analyzer/output/dataset/dataset_tables.def"
#undef PROF_DATASET_TABLE
#undef PROF_DATASET_COLUMN
#undef PROF_DATASET_END

constexpr std::array<TableSchema, kTables> kSchemas = {{
#define PROF_DATASET_TABLE(table, meaning) {#table, meaning, k_##table},
#define PROF_DATASET_COLUMN(name, type, encoding, null, meaning)
#define PROF_DATASET_END(table)
#include "analyzer/output/dataset/dataset_tables.def"
#undef PROF_DATASET_TABLE
#undef PROF_DATASET_COLUMN
#undef PROF_DATASET_END
}};

}  // namespace

std::span<const TableSchema, kTables> tables() { return kSchemas; }

}  // namespace prof::analyzer::dataset
