// Which process of which job is a row of a table about? Tables know nothing of the model, so the identity of its
// processes is given to them: Table::name_owners().
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace prof::analyzer {

// Members without a value give empty cells: a rank that is not known, or a row about several processes.
struct RowOwner {
  std::optional<uint32_t> rank;
  std::string host;  // empty: not known
  std::optional<uint32_t> pid;
};

// Which columns are shown beside `pid`?
struct OwnerColumns {
  bool rank = true, host = true;
};

}  // namespace prof::analyzer
