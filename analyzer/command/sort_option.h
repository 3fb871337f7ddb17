// The message about a --sort COLUMN that a table does not have. Used by `prof report` and `prof diff`.
#pragma once

#include "analyzer/command/nearest.h"
#include "analyzer/output/forms.h"
#include "analyzer/table/table.h"

#include <string>
#include <vector>

namespace prof::analyzer {

inline std::string unknown_column(const Table& table, std::string_view word) {
  std::vector<std::string> keys;
  for (const TableColumn& column : table.columns()) keys.push_back(column.key);
  if (word.starts_with('-')) word.remove_prefix(1);
  return unknown_word("column", word, keys, table.name() + " has " + words_text(keys, "and"));
}

}  // namespace prof::analyzer
