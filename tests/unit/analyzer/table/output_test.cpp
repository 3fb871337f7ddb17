// Tables, JSON texts and sinks: exact numbers, valid JSON for any bytes, no partly written file.
#include "analyzer/base/json/json_text.h"
#include "analyzer/base/sink.h"
#include "analyzer/table/cell_text.h"
#include "analyzer/table/table.h"

#include <gtest/gtest.h>
#include <rapidjson/document.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

namespace prof::analyzer {
namespace {

std::string micros(int64_t ns) {
  char text[32];
  return std::string(text, put_micros(text, ns));
}

TEST(JsonText, WritesNanosecondsAsMicrosecondsExactly) {
  EXPECT_EQ(micros(0), "0.000");
  EXPECT_EQ(micros(1), "0.001");
  EXPECT_EQ(micros(1'234'567), "1234.567");
  EXPECT_EQ(micros(-1'050), "-1.050");
  EXPECT_EQ(micros(INT64_MAX), "9223372036854775.807");
}

// Numbers around every power of ten, with both signs.
std::vector<int64_t> telling_numbers() {
  std::vector<int64_t> numbers{0, INT64_MAX, INT64_MIN + 1};
  for (int64_t power = 1; power <= INT64_MAX / 10; power *= 10) {
    for (const int64_t off : {0, 1, 4, 5, 6, 44, 50, 55, 499, 5000, 49'999, 50'000}) {
      for (const int64_t number : {power - off, power + off, 5 * power + off}) {
        numbers.push_back(number);
        numbers.push_back(-number);
      }
    }
  }
  return numbers;
}

TEST(JsonText, WritesDecimalsOfEveryLength) {
  char text[24];
  for (const int64_t number : telling_numbers()) {
    ASSERT_EQ(std::string(text, put_signed(text, number)), std::to_string(number));
    const auto magnitude = static_cast<uint64_t>(number);
    ASSERT_EQ(std::string(text, put_decimal(text, magnitude)), std::to_string(magnitude));
    ASSERT_EQ(decimal_digits(magnitude), std::to_string(magnitude).size());
  }
}

TEST(JsonText, IsValidForAnyBytesAndKeepsWhatIsReadable) {
  EXPECT_EQ(json_string("a\"b\\\x01\xff"), R"("a\"b\\\\x01\\xff")");
  EXPECT_EQ(json_string("µs 漢"), "\"µs 漢\"");
  EXPECT_EQ(json_string("\xed\xa0\x80"), R"("\\xed\\xa0\\x80")");  // a surrogate is not UTF-8
  std::mt19937 random(3);
  for (int i = 0; i < 2000; ++i) {
    std::string text;
    for (auto j = random() % 20; j > 0; --j) text += static_cast<char>(random());
    rapidjson::Document document;
    ASSERT_FALSE(document.Parse<rapidjson::kParseValidateEncodingFlag>(json_string(text)).HasParseError());
  }
}

TEST(Table, ScalesTimesToFiveDigits) {
  EXPECT_EQ(scaled_time(300), "300ns");
  EXPECT_EQ(scaled_time(207'040), "207.04us");
  EXPECT_EQ(scaled_time(35'919'000), "35.919ms");
  EXPECT_EQ(scaled_time(604'780'000), "604.78ms");
  EXPECT_EQ(scaled_time(1'395'610'000), "1.3956s");
}

// Widths of numbers are computed without printing them: for each cell alone, and for all together.
TEST(Table, KnowsHowWideCellsAreAsTheyAreWritten) {
  const std::vector<int64_t> numbers = telling_numbers();
  for (const auto& [unit, commas] : {std::pair{TimeUnit::Auto, false},
                                     {TimeUnit::Ns, false},
                                     {TimeUnit::Us, false},
                                     {TimeUnit::S, false},
                                     {TimeUnit::Auto, true},
                                     {TimeUnit::Ns, true}}) {
    Table table("name", "title");
    table.add_named_column(ColumnId::time, "A time", "time", CellType::Nanoseconds);
    table.add_named_column(ColumnId::count, "A count", "count", CellType::Count);
    table.add_named_column(ColumnId::name, "A text", "text", CellType::Text);
    table.add_named_column(ColumnId::percent, "A ratio", "ratio", CellType::Real, 2);
    table.row();
    for (const int64_t number : numbers) {
      table.row()
          .add(number)
          .add(number)
          .add(std::string_view(std::to_string(number) + "µ"))
          .add(static_cast<double>(number));
    }
    const CellTexts texts(table, unit, {{}, commas});
    for (size_t column = 0; column < table.columns().size(); ++column) {
      size_t widest = 0;
      for (size_t row = 0; row < table.rows(); ++row) {
        CellTexts::Buffer buffer;
        const size_t width = texts.of(row, column, buffer).width;
        widest = std::max(widest, width);
        ASSERT_EQ(texts.widest(column, row, row + 1), width) << "column " << column << ", row " << row;
      }
      EXPECT_EQ(texts.widest(column, 0, table.rows()), widest) << "column " << column;
      EXPECT_EQ(texts.widest(column, 0, 0), 0u);
    }
  }
}

TEST(Table, MakesLinesOfPiecesOfEveryLength) {
  const std::string source(100, 'x');
  LineBuffer line;
  std::string expected;
  for (size_t length = 0; length <= 64; ++length) {
    ((line += std::string_view(source).substr(0, length)) += '|').spaces(length).block_copy({source.data(), length});
    expected += source.substr(0, length) + '|' + std::string(length, ' ') + source.substr(0, length);
  }
  EXPECT_EQ(line.view(), expected);
  line.spaces(40).trim_spaces();
  EXPECT_EQ(line.view(), expected);
  line.clear();
  EXPECT_EQ(line.view(), "");
}

TEST(Table, SortsStablyWithEmptyCellsFirst) {
  Table table("t", "T");
  table.add_named_column(ColumnId::count, "A", "a", CellType::Count);
  table.add_named_column(ColumnId::name, "N", "n", CellType::Text);
  table.row().add(int64_t{2}).add(std::string_view("x"));
  table.row().empty().add(std::string_view("y"));
  table.row().add(int64_t{2}).add(std::string_view("z"));
  table.row().add(int64_t{1});
  ASSERT_TRUE(table.sort_by("a"));
  EXPECT_EQ(table.columns()[0].cells, (std::vector<int64_t>{kEmptyCell, 1, 2, 2}));
  EXPECT_EQ(table.text(table.columns()[1].cells[2]), "x");
  ASSERT_TRUE(table.sort_by("-A"));
  EXPECT_EQ(table.text(table.columns()[1].cells[0]), "x");
  EXPECT_FALSE(table.sort_by("b"));
}

TEST(Table, SortsBySpellingsOfAnotherTool) {
  Table table("t", "T");
  table.add_named_column(ColumnId::count, "A", "a", CellType::Count);
  table.sort_spellings = {{"theirs", "-a"}};
  for (const int64_t value : {1, 3, 2}) table.row().add(value);
  ASSERT_TRUE(table.sort_by("theirs"));
  EXPECT_EQ(table.columns()[0].cells, (std::vector<int64_t>{3, 2, 1}));
  EXPECT_FALSE(table.sort_by("-theirs"));
}

std::string written(const Table& table, TableFormat format) {
  std::string text;
  Sink sink(&text);
  write_table(table, format, TimeUnit::Auto, sink);
  sink.close();
  return text;
}

Table of_names(std::initializer_list<std::string> names) {
  Table table("t", "T");
  table.add_named_column(ColumnId::name, "Name", "name", CellType::Text);
  table.add_named_column(ColumnId::count, "Count", "count", CellType::Count);
  for (const std::string& name : names) table.row().add(std::string_view(name)).add(int64_t{-5});
  return table;
}

TEST(Table, CsvCellsAreNoFormulasAndNumbersRemainNumbers) {
  const Table table = of_names({"=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "=a,\"b\"", "＝1+1", "-5", "+5.25 %",
                                "--", "a=b", "-1e3", "-Wall"});
  EXPECT_EQ(
      written(table, TableFormat::Csv),
      "Name,Count\n'=1+1,-5\n'+cmd|' /C calc'!A0,-5\n'-2+3,-5\n'@SUM(A1),-5\n\"'=a,\"\"b\"\"\",-5\n'＝1+1,-5\n-5,-5\n"
      "+5.25 %,-5\n--,-5\na=b,-5\n-1e3,-5\n'-Wall,-5\n");
  EXPECT_NE(written(table, TableFormat::Json).find("\"name\":\"=1+1\""), std::string::npos);
}

// U+202E turns the direction of the text that follows, U+009B begins a command of the terminal.
TEST(Table, CharactersThatControlOthersAreShownAndJsonKeepsThem) {
  const std::string name = "a\u202eb\u2066c\u009b2J\u2028d\u200fé";
  const Table table = of_names({name});
  for (const TableFormat format : {TableFormat::Text, TableFormat::Csv}) {
    const std::string text = written(table, format);
    EXPECT_NE(text.find("a\\u202eb\\u2066c\\u009b2J\\u2028d\\u200fé"), std::string::npos) << text;
  }
  const std::string json = written(table, TableFormat::Json);
  EXPECT_EQ(json.find("\u202e"), std::string::npos);
  rapidjson::Document document;
  ASSERT_FALSE(document.Parse(json.c_str()).HasParseError());
  EXPECT_EQ(document["rows"][0]["name"].GetString(), name);
}

TEST(Table, LongTextsAreCutAndNoRowIsPaddedToThem) {
  const std::string name = std::string(1 << 20, 'x') + "end";
  Table table = of_names({name, "short"});
  table.coverage = "whole";
  const std::string text = written(table, TableFormat::Text);
  EXPECT_LT(text.size(), 5000u);
  EXPECT_NE(text.find("x…"), std::string::npos);
  for (size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1)
    EXPECT_LE(end - at, kLongestText + 20);
  const size_t row = text.find("short");
  EXPECT_LE(text.find('\n', row) - row, kWidestText + 20);
  const std::string csv = written(table, TableFormat::Csv);
  EXPECT_LT(csv.size(), 40'000u);
  EXPECT_GT(csv.size(), 32'000u);
  EXPECT_NE(written(table, TableFormat::Json).find(name), std::string::npos);
}

TEST(Table, CutsBetweenCharacters) {
  EXPECT_EQ(cut_text("äöü", 3), "äöü");
  EXPECT_EQ(cut_text("äöüß", 3), "äö…");
  EXPECT_EQ(cut_text("abc", 1), "…");
  EXPECT_EQ(cut_text("", 1), "");
}

class SinkTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("sink_test." + std::to_string(getpid()));
    std::filesystem::create_directory(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  size_t files() const {
    return static_cast<size_t>(
        std::distance(std::filesystem::directory_iterator(folder_), std::filesystem::directory_iterator()));
  }
  std::filesystem::path folder_;
};

TEST_F(SinkTest, PutsATextFormInPlaceOfTheColumnsAndLeavesOtherFormats) {
  Table table("t", "T");
  table.add_named_column(ColumnId::count, "A", "a", CellType::Count);
  for (const int64_t value : {1, 2, 3}) table.row().add(value);
  table.notes.push_back("note");
  table.coverage = "whole";
  table.text_form = [](const Table& cut) { return "rows: " + std::to_string(cut.rows()) + "\n"; };
  table.limit(2);
  const auto written = [&](TableFormat format) {
    const std::string path = folder_ / "table";
    Sink sink(path);
    write_table(table, format, TimeUnit::Auto, sink);
    sink.close();
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  };
  EXPECT_EQ(written(TableFormat::Text), "T (t)\nnote\n\nrows: 2\n\nwhole\n");
  EXPECT_EQ(written(TableFormat::Csv), "A\n1\n2\n");
}

TEST_F(SinkTest, CompressesOnAnotherThreadWithoutChangingAByte) {
  const std::string path = folder_ / "out.gz";
  std::string all;
  {
    Sink sink(path, 1);
    for (int64_t i = 0; i < 400'000; ++i) {
      const std::string line = "line " + std::to_string(i * 7919) + "\n";
      sink.write(line);
      all += line;
    }
    sink.close();
  }
  std::string read;
  const gzFile file = gzopen(path.c_str(), "rb");
  char buffer[65536];
  for (int n; (n = gzread(file, buffer, sizeof buffer)) > 0;) read.append(buffer, static_cast<size_t>(n));
  gzclose(file);
  EXPECT_EQ(read, all);
  EXPECT_EQ(files(), 1u);
}

TEST_F(SinkTest, LeavesTheOldFileWhenTheAnswerIsNotFinished) {
  const std::string path = folder_ / "out.json";
  std::ofstream(path) << "old";
  {
    Sink sink(path);
    sink.write("new");
  }
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_EQ(text.str(), "old");
  EXPECT_EQ(files(), 1u);
}

TEST_F(SinkTest, SaysWhatFailed) {
  EXPECT_THROW(Sink((folder_ / "no" / "such").string()), OutputError);
  EXPECT_THROW(Sink(folder_.string()), OutputError);
  Sink full("/dev/full");
  full.write("x");
  EXPECT_THROW(full.close(), OutputError);
}

}  // namespace
}  // namespace prof::analyzer
