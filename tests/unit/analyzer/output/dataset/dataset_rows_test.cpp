// The rows of each table of a dataset, without a writer.
#include "analyzer/output/dataset/dataset_rows.h"

#include "tests/unit/analyzer/hand_trace.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace prof::analyzer::dataset {
namespace {

constexpr int64_t kStart = 1'700'000'000'000'000'000;

// Keeps every row.
class Kept : public Target {
 public:
  Kept() {
    for (size_t table = 0; table < kTables; ++table) batches.emplace_back(static_cast<TableId>(table));
  }
  bool wants(TableId) const override { return true; }
  TableBatch& batch(TableId table) override { return batches[static_cast<size_t>(table)]; }
  void full(TableBatch&) override { FAIL() << "no test has so many rows"; }

  // The columns of all rows: "a 1|b -".
  std::string text(TableId table, const std::vector<size_t>& columns) {
    const TableBatch& rows = batch(table);
    std::string text;
    for (size_t row = 0; row < rows.rows(); ++row) {
      for (const size_t column : columns) {
        const Cells& cells = rows[column];
        if (column != columns.front()) text += ' ';
        if (cells.is_null(row)) {
          text += '-';
        } else if (cells.schema().type == CellType::Text) {
          text += cells.text(row);
        } else {
          text += std::to_string(cells.value(row));
        }
      }
      text += '|';
    }
    return text;
  }
  std::vector<TableBatch> batches;
};

bool all_processes(const Identity&) { return true; }

// Rank 1 with two streams and a range, rank 0 without operations.
struct TwoRanks : tests::HandTrace {
  TwoRanks() {
    trace.processes[0].host = "b";
    trace.processes[0].facts = {{"rank", "1"}};
    trace.processes[0].rank = 1;
    process(200);
    trace.processes[1].host = "a";
    trace.processes[1].facts = {{"rank", "0"}};
    trace.processes[1].rank = 0;
    thread(1, 600);
    stream(0, 9);
    range("step", 0, 100, RangeKind::Nvtx);
    launch(10, 20, 1);
    launch(30, 45, 2);
    call("cudaDeviceSynchronize", 5, 8, 0, 1);
    kernel(50, 80, 2, 1, "_Z1fi");
    kernel(25, 65, 1, 0, "_Z1fi");
    copy(90, 95, 0, 4096, 1);
    finish().start_realtime_ns = kStart;
  }
};

TEST(DatasetRows, OperationsAreInOrderOfStartAndHaveTheirLaunch) {
  TwoRanks two;
  Kept kept;
  add_rows(two.trace, kept, all_processes);
  namespace column = operations;
  EXPECT_EQ(kept.text(TableId::operations, {column::rank, column::host, column::stream, column::kind, column::name}),
            "1 b 7 kernel f(int)|1 b 9 kernel f(int)|1 b 7 copy [CUDA memcpy HtoD]|");
  EXPECT_EQ(kept.text(TableId::operations, {column::start_ns, column::duration_ns, column::bytes, column::launch_name,
                                            column::launch_start_ns, column::launch_tid}),
            "1700000000000000025 40 - cudaLaunchKernel 1700000000000000010 500|"
            "1700000000000000050 30 - cudaLaunchKernel 1700000000000000030 500|"
            "1700000000000000090 5 4096 - - -|");
  EXPECT_EQ(kept.text(TableId::operations, {column::range_path, column::stack_id}), "step -|step -|- -|");
}

TEST(DatasetRows, AnOperationsCallAndNameAreRowsOfTheirTables) {
  TwoRanks two;
  Kept kept;
  add_rows(two.trace, kept, all_processes);
  const TableBatch& operations = kept.batch(TableId::operations);
  const TableBatch &calls = kept.batch(TableId::calls), &names = kept.batch(TableId::names);
  const auto row_of = [](const TableBatch& rows, size_t column, int64_t id) {
    for (size_t row = 0; row < rows.rows(); ++row) {
      if (rows[column].value(row) == id) return row;
    }
    ADD_FAILURE() << "no row " << id;
    return size_t{0};
  };
  const size_t call = row_of(calls, dataset::calls::call_id, operations[dataset::operations::call_id].value(0));
  EXPECT_EQ(calls[dataset::calls::start_ns].value(call), kStart + 10);
  const size_t name = row_of(names, dataset::names::name_id, operations[dataset::operations::name_id].value(1));
  EXPECT_EQ(names[dataset::names::mangled].text(name), "_Z1fi");
  EXPECT_EQ(names[dataset::names::short_name].text(name), "f");
  EXPECT_EQ(names.rows(), 2U) << "a name of several operations is one row";
}

TEST(DatasetRows, ProcessesAreInOrderOfTheirRank) {
  TwoRanks two;
  Kept kept;
  add_rows(two.trace, kept, all_processes);
  EXPECT_EQ(kept.text(TableId::processes, {processes::rank, processes::host, processes::pid, processes::device}),
            "0 a 200 -|1 b 100 0|");
  EXPECT_EQ(kept.text(TableId::calls, {calls::rank, calls::name, calls::tid}),
            "0 cudaDeviceSynchronize 600|1 cudaLaunchKernel 500|1 cudaLaunchKernel 500|");
}

TEST(DatasetRows, PiecesOfAGapSumToIt) {
  TwoRanks two;
  Kept kept;
  add_rows(two.trace, kept, all_processes);
  const TableBatch& rows = kept.batch(TableId::gaps);
  ASSERT_GT(rows.rows(), 0U);
  int64_t sum = 0;
  for (size_t row = 0; row < rows.rows(); ++row) {
    EXPECT_EQ(rows[gaps::gap_start_ns].value(row), kStart + 80);
    EXPECT_EQ(rows[gaps::gap_duration_ns].value(row), 10);
    EXPECT_EQ(rows[gaps::next_name].text(row), "[CUDA memcpy HtoD]");
    sum += rows[gaps::duration_ns].value(row);
  }
  EXPECT_EQ(sum, 10);
}

TEST(DatasetRows, AProcessThatIsNotTakenHasNoRows) {
  TwoRanks two;
  Kept kept;
  add_rows(two.trace, kept, [](const Identity& identity) { return identity.rank == 0; });
  EXPECT_EQ(kept.batch(TableId::operations).rows(), 0U);
  EXPECT_EQ(kept.batch(TableId::calls).rows(), 1U);
}

TEST(DatasetRows, TheIdOfAProcessFollowsFromHostRankPidAndStart) {
  TwoRanks first, again;
  const auto id = [](const TwoRanks& of, uint32_t process) {
    return identity_of(of.trace, ProcessId{process}).process_id;
  };
  EXPECT_EQ(id(first, 0), id(again, 0));
  EXPECT_NE(id(first, 0), id(first, 1));
  again.trace.processes[0].host = "c";
  EXPECT_NE(id(first, 0), id(again, 0));
  again.trace.processes[0].host = "b";
  again.trace.start_realtime_ns += 1;
  EXPECT_NE(id(first, 0), id(again, 0));
}

TEST(DatasetRows, CoverageHasCountsLossesAndFacts) {
  TwoRanks two;
  two.trace.processes[0].counters = {{"gpu_dropped", 3, format::Severity::Loss}};
  two.trace.processes[0].damage = {"a.plog: broken (at offset 5)"};
  Kept kept;
  add_rows(two.trace, kept, [](const Identity& identity) { return identity.rank == 1; });
  const std::string text =
      kept.text(TableId::coverage, {coverage::kind, coverage::name, coverage::value, coverage::text});
  EXPECT_NE(text.find("count operations 3 -|"), std::string::npos) << text;
  EXPECT_NE(text.find("loss gpu_dropped 3 -|"), std::string::npos) << text;
  EXPECT_NE(text.find("damage damage - a.plog: broken (at offset 5)|"), std::string::npos) << text;
  EXPECT_NE(text.find("fact rank - 1|"), std::string::npos) << text;
}

TEST(DatasetBatch, ATextOfACacheIsMadeOnceABatch) {
  TableBatch batch(TableId::anchors);
  Cells cells(schema_of(TableId::calls).columns[calls::range_path]);
  TextCache cache;
  int made = 0;
  for (const size_t key : {3, 0, 3, 0}) {
    cells.add_cached(cache, key, [&] {
      ++made;
      return key == 3 ? std::string("three") : std::string();
    });
  }
  EXPECT_EQ(made, 2);
  EXPECT_EQ(cells.text(2), "three");
  EXPECT_TRUE(cells.is_null(1) && cells.is_null(3)) << "an empty text is null";
  EXPECT_EQ(cells.texts().size(), 1U);
}

TEST(DatasetBatch, NullsAreKeptBeforeBetweenAndAfterValues) {
  for (const std::string pattern : {"0", "1", "0000000001", "1000000000001", "00000000", "000000001010", "01"}) {
    Cells cells(schema_of(TableId::calls).columns[calls::bytes]);
    for (const char each : pattern) cells.add_if(each == '1', 7);
    std::string found;
    EXPECT_EQ(cells.rows(), pattern.size());
    for (size_t row = 0; row < cells.rows(); ++row) found += cells.is_null(row) ? '0' : '1';
    EXPECT_EQ(found, pattern);
    cells.complete();
    for (size_t row = 0; row < pattern.size(); ++row) {
      const bool valid = cells.valid() == nullptr || (cells.valid()[row / 8] >> row % 8 & 1) != 0;
      EXPECT_EQ(valid, pattern[row] == '1') << pattern << " row " << row;
      EXPECT_EQ(cells.values()[row], pattern[row] == '1' ? 7 : 0) << pattern << " row " << row;
    }
  }
}

TEST(DatasetBatch, ARowWithoutACellIsRefused) {
  TableBatch batch(TableId::anchors);
  batch[anchors::monotonic_ns].add(5);
  batch.end_row();
  EXPECT_THROW(batch.set_identity({}), std::logic_error);
}

// docs/export.md describes each table by the rows "| `column` | type | meaning |", as dataset_tables.def does.
TEST(DatasetTables, ThePageListsEveryColumn) {
  std::ifstream file(PROF_SOURCE_DIR "/docs/export.md");
  std::stringstream page;
  page << file.rdbuf();
  const std::string text = page.str();
  constexpr std::string_view kTypes[] = {"BIGINT", "DOUBLE", "BOOLEAN", "VARCHAR"};
  for (const TableSchema& table : tables()) {
    std::string wanted = "### " + std::string(table.name) + "\n\nA row is " + std::string(table.meaning) +
                         ".\n\n| column | type | meaning |\n|---|---|---|\n";
    for (size_t i = kIdentityColumns; i < table.columns.size(); ++i) {
      const ColumnSchema& column = table.columns[i];
      wanted.append("| `").append(column.name).append("` | ").append(kTypes[static_cast<size_t>(column.type)]);
      wanted.append(column.null == Null::Maybe ? ", null | " : " | ");
      wanted.append(column.meaning).append(column.meaning.empty() ? "|\n" : " |\n");
    }
    EXPECT_NE(text.find(wanted), std::string::npos) << "docs/export.md should have:\n" << wanted;
  }
}

}  // namespace
}  // namespace prof::analyzer::dataset
