// Rows as lines with aligned columns: how a cell is printed in its field, and how a cell is printed that does not fit.
#include "analyzer/table/aligned_rows.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace prof::analyzer {
namespace {

Table table_of_three() {
  Table table("t", "T");
  table.add_named_column(ColumnId::count, "N", "n", CellType::Count);
  table.add_named_column(ColumnId::name, "Name", "name", CellType::Text);
  table.add_named_column(ColumnId::time, "Time", "time", CellType::Nanoseconds);
  return table;
}

std::string lines_of(const Table& table, std::vector<size_t> widths, size_t indent, CellLook look = {}) {
  const CellTexts texts(table, TimeUnit::Auto, std::move(look));
  const AlignedRows rows(table.columns(), std::move(widths), indent);
  LineBuffer lines;
  rows.put(texts, 0, table.rows(), lines);
  return std::string(lines.view());
}

TEST(AlignedRows, PutTextsToTheLeftAndNumbersToTheRightAndEndWhereTheLastCellEnds) {
  Table table = table_of_three();
  table.row().add(int64_t{7}).add(std::string_view("ab")).add(int64_t{1'234'567});
  table.row().add(int64_t{-1234}).add(std::string_view("a longer name")).add(int64_t{5});
  table.row().empty().add(std::string_view("x ")).empty();
  table.row();
  EXPECT_EQ(lines_of(table, {6, 13, 9}, 1),
            "      7  ab              1.2346ms\n"
            "  -1234  a longer name        5ns\n"
            "         x\n"
            "\n");
}

TEST(AlignedRows, MoveTheRestOfALineWhereACellDoesNotFit) {
  Table table = table_of_three();
  table.row().add(int64_t{12345}).add(std::string_view("abc")).add(int64_t{1});
  table.row().add(int64_t{1}).add(std::string_view("abcdef")).add(int64_t{1});
  table.row().add(int64_t{1}).add(std::string_view("abc")).add(int64_t{1});
  EXPECT_EQ(lines_of(table, {3, 4, 4}, 0),
            "12345  abc    1ns\n"
            "  1  abcdef   1ns\n"
            "  1  abc    1ns\n");
}

TEST(AlignedRows, CountCharactersNotBytes) {
  Table table = table_of_three();
  table.row().add(int64_t{1}).add(std::string_view("µs")).add(int64_t{2});
  table.row().add(int64_t{1}).add(std::string_view("us")).add(int64_t{2});
  EXPECT_EQ(lines_of(table, {1, 4, 3}, 0), "1  µs    2ns\n1  us    2ns\n");
}

TEST(AlignedRows, PutCommasBetweenThousands) {
  Table table = table_of_three();
  for (const int64_t count : {0L, 999L, 1000L, 1'234'567L, -1'234'567L}) table.row().add(count);
  EXPECT_EQ(lines_of(table, {10, 1, 1}, 0, {{}, true}), "         0\n       999\n     1,000\n 1,234,567\n-1,234,567\n");
  EXPECT_EQ(lines_of(table, {8, 1, 1}, 0, {{}, true}), "       0\n     999\n   1,000\n1,234,567\n-1,234,567\n");
}

TEST(AlignedRows, AreTheSameHoweverManyAreMadeAtOnce) {
  Table table = table_of_three();
  const std::string name(70, 'n');
  for (int64_t i = 0; i < 300; ++i)
    table.row().add(i * i * i).add(std::string_view(name).substr(0, static_cast<size_t>(i % 71))).add(i << (i % 60));
  const CellTexts texts(table, TimeUnit::Auto);
  const AlignedRows rows(table.columns(), {9, 40, 8}, 2);
  LineBuffer whole, singly;
  rows.put(texts, 0, table.rows(), whole);
  for (size_t row = 0; row < table.rows(); ++row) rows.put(texts, row, row + 1, singly);
  EXPECT_EQ(whole.view(), singly.view());
}

}  // namespace
}  // namespace prof::analyzer
