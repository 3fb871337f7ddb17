// Which key, title, unit, type and meaning does every table use for a ColumnId? This is the catalogue of columns. Its
// rows are in columns.def, and no other code names a column.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

namespace prof::analyzer {

// MeanNanoseconds: a time with fractions of ns, such as a mean. It is a double, like Real.
enum class CellType { Text, Count, Nanoseconds, Real, MeanNanoseconds };

inline bool is_time(CellType type) { return type == CellType::Nanoseconds || type == CellType::MeanNanoseconds; }
inline bool is_real(CellType type) { return type == CellType::Real || type == CellType::MeanNanoseconds; }

// Version of the keys and types in JSON. Raise it when a key gets another name, type or meaning, and list the change in
// CHANGELOG.md. A new key does not raise it.
inline constexpr int kTableSchemaVersion = 3;

enum class ColumnId : uint16_t {
#define PROF_COLUMN(id, title, unit, type, decimals, meaning) id,
#define PROF_TOOL_COLUMN(tool, id, key, title, type, decimals, meaning) id,
#include "analyzer/table/columns.def"
#undef PROF_COLUMN
#undef PROF_TOOL_COLUMN
};

struct ColumnInfo {
  ColumnId id;
  std::string_view tool;  // nsys or nvprof, if the title is theirs; empty: ours
  std::string_view key;   // "start"; json and csv of times add "_ns"
  std::string_view name;  // of our columns: the title without its unit
  std::string_view unit;
  CellType type;
  int decimals;  // of Real
  std::string_view meaning;

  std::string title() const;  // "Busy (%)"; csv and fixed units add " (ns)" to times
};

namespace columns {
// If the id would be a C++ keyword, it ends with an underscore, which the key does not have.
constexpr std::string_view key_of(std::string_view id) {
  if (id.ends_with('_')) id.remove_suffix(1);
  return id;
}
}  // namespace columns

inline constexpr ColumnInfo kColumns[] = {
#define PROF_COLUMN(id, title, unit, type, decimals, meaning) \
  {ColumnId::id, "", columns::key_of(#id), title, unit, CellType::type, decimals, meaning},
#define PROF_TOOL_COLUMN(tool, id, key, title, type, decimals, meaning) \
  {ColumnId::id, #tool, key, title, "", CellType::type, decimals, meaning},
#include "analyzer/table/columns.def"
#undef PROF_COLUMN
#undef PROF_TOOL_COLUMN
};

constexpr const ColumnInfo& column_info(ColumnId id) { return kColumns[static_cast<size_t>(id)]; }

// The key in JSON. The key of a time ends with "_ns".
std::string json_key(std::string_view key, CellType type);

}  // namespace prof::analyzer
