// Columns that name the process of each row, in stored tables and in listings.
#include "analyzer/base/sink.h"
#include "analyzer/table/table.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace prof::analyzer {
namespace {

const auto kOwners = std::make_shared<const std::vector<RowOwner>>(
    std::vector<RowOwner>{{8, "node001", 100}, {0, "node000", 100}, {std::nullopt, "", 7}});

Table stored(std::vector<int64_t> processes) {
  Table table("test", "Test");
  table.add_columns({ColumnId::name, ColumnId::pid, ColumnId::count});
  for (size_t i = 0; i < processes.size(); ++i)
    table.row().add(std::string_view("row")).add(processes[i]).add(static_cast<uint64_t>(i));
  return table;
}
Table listing(const std::vector<int64_t>& processes) {
  Table table = stored({});
  table.list(processes,
             [](int64_t process, Table::Row& row) { row.add(std::string_view("row")).add(process).add(process); });
  return table;
}
std::string csv_of(const Table& table) {
  std::string text;
  Sink sink(&text);
  write_table(table, TableFormat::Csv, TimeUnit::Ns, sink);
  sink.close();
  return text;
}

TEST(RowOwners, AreNamedBeforeThePid) {
  Table table = stored({1, 0, 2, kEmptyCell});
  table.name_owners(kOwners, {});
  EXPECT_EQ(csv_of(table), "Name,Rank,Host,PID,Count\nrow,0,node000,100,0\nrow,8,node001,100,1\nrow,,,7,2\nrow,,,,3\n");
}

TEST(RowOwners, ReplaceOnlyThePidIfNoOtherColumnIsShown) {
  Table table = stored({1, 2});
  table.name_owners(kOwners, {false, false});
  EXPECT_EQ(csv_of(table), "Name,PID,Count\nrow,100,0\nrow,7,1\n");
}

TEST(RowOwners, AreNamedInAListingThatIsSortedByThem) {
  Table table = listing({0, 1, 2, 0});
  table.name_owners(kOwners, {});
  EXPECT_EQ(csv_of(table),
            "Name,Rank,Host,PID,Count\nrow,8,node001,100,0\nrow,0,node000,100,1\nrow,,,7,2\n"
            "row,8,node001,100,0\n");
  ASSERT_TRUE(table.sort_by("host"));
  const std::string sorted =
      "Name,Rank,Host,PID,Count\nrow,,,7,2\nrow,0,node000,100,1\nrow,8,node001,100,0\nrow,8,node001,100,0\n";
  EXPECT_EQ(csv_of(table), sorted);
  table.store();
  EXPECT_EQ(csv_of(table), sorted);
}

TEST(RowOwners, OfAGroupFillRowsWithoutAProcessAndTablesWithoutPids) {
  const RowOwner whole{std::nullopt, "node001", std::nullopt};
  Table table = stored({0, kEmptyCell});
  table.name_owners(kOwners, {}, &whole);
  EXPECT_EQ(csv_of(table), "Name,Rank,Host,PID,Count\nrow,8,node001,100,0\nrow,,node001,,1\n");
  Table sums("test", "Test");
  sums.add_column(ColumnId::count);
  sums.row().add(3u);
  sums.name_owners(kOwners, {}, &whole);
  EXPECT_EQ(csv_of(sums), "Rank,Host,PID,Count\n,node001,,3\n");
}

TEST(RowOwners, RefuseAProcessIdAsTheNumberOfAProcess) {
  Table table = stored({4711});
  EXPECT_THROW(table.name_owners(kOwners, {}), std::logic_error);
}

TEST(TableAppend, JoinsColumnsByKeyAndKeepsTexts) {
  Table table = stored({1});
  Table more("test", "Test");
  more.add_columns({ColumnId::count, ColumnId::kind, ColumnId::name});
  more.row().add(5u).add(std::string_view("new")).add(std::string_view("other"));
  table.append(more);
  EXPECT_EQ(csv_of(table), "Name,PID,Count,Kind\nrow,1,0,\nother,,5,new\n");
}

}  // namespace
}  // namespace prof::analyzer
