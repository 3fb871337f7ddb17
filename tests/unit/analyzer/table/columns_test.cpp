// The catalogue of columns: one key has one title and one meaning.
#include "analyzer/table/columns.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>

namespace prof::analyzer {
namespace {

TEST(Columns, AKeyHasOneTitleAndAMeaning) {
  std::map<std::string_view, std::string> titles;
  for (const ColumnInfo& column : kColumns) {
    EXPECT_FALSE(column.meaning.empty()) << column.key;
    EXPECT_TRUE(column.meaning.ends_with('.')) << column.key;
    EXPECT_FALSE(column.title().empty()) << column.key;
    EXPECT_EQ(column.key.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_"), std::string_view::npos);
    EXPECT_EQ(&column, &column_info(column.id));
    if (!column.tool.empty()) continue;
    EXPECT_TRUE(titles.emplace(column.key, column.title()).second) << "two rows with the key " << column.key;
  }
  EXPECT_EQ(column_info(ColumnId::pid).title(), "PID");
  EXPECT_EQ(column_info(ColumnId::busy_percent).title(), "Busy (%)");
  EXPECT_EQ(column_info(ColumnId::gb_per_s).title(), "GB/s");
  EXPECT_EQ(column_info(ColumnId::short_).key, "short");
}

}  // namespace
}  // namespace prof::analyzer
