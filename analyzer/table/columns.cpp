#include "analyzer/table/columns.h"

#include <fmt/format.h>

namespace prof::analyzer {

std::string ColumnInfo::title() const {
  if (unit.empty() || name.ends_with(unit)) return std::string(name);
  return fmt::format("{} ({})", name, unit);
}

std::string json_key(std::string_view key, CellType type) {
  return is_time(type) ? fmt::format("{}_ns", key) : std::string(key);
}

}  // namespace prof::analyzer
