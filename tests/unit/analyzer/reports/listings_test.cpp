// Tables whose rows are computed when they are read. Cut and sorted, they equal the stored table cut and sorted, in
// every form. Only the rows that are shown are computed, and the cost grows with the input.
#include "analyzer/base/sink.h"
#include "tests/unit/analyzer/analysis/scaling.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>

namespace prof::analyzer {
namespace {

using tests::HandTrace;

std::string written_table(const Table& table, TableFormat format) {
  std::string text;
  Sink sink(&text);
  write_table(table, format, TimeUnit::Auto, sink);
  sink.close();
  return text;
}

// Two processes, four threads and streams. Each step is a range around four launches, a copy and a wait.
void listed_steps(HandTrace& hand, uint32_t count) {
  const uint32_t process = hand.process(200), device = hand.device(process, 0);
  hand.trace.processes[0].executable = "/bin/train", hand.trace.processes[1].executable = "/bin/serve";
  const uint32_t threads[] = {0, hand.thread(0, 501), hand.thread(process, 600), hand.thread(process, 601)};
  const uint32_t streams[] = {0, hand.stream(0, 9), hand.stream(device, 7), hand.stream(device, 9)};
  const std::string_view kernels[] = {"gemm, the large one", "copy \"kernel\"", "reduce"};
  for (uint32_t i = 0; i < count; ++i) {
    const int64_t t = 1000 * int64_t{i};
    const uint32_t at = i % 4, id = 6 * i + 1;
    hand.range(i % 7 == 0 ? "outer" : "step", t, t + 950, RangeKind::Nvtx, threads[at]);
    for (uint32_t k = 0; k < 4; ++k) {
      hand.launch(t + 100 * k, t + 100 * k + 40 + i % 13, id + k, threads[at]);
      hand.kernel(t + 100 * k + 60, t + 100 * k + 90 + 5 * (i % 3), id + k, streams[at], kernels[(i + k) % 3]);
    }
    hand.call("cudaMemcpyAsync", t + 450, t + 470, id + 4, threads[at]);
    hand.copy(t + 480, t + 500 + i % 31, id + 4, 64 * i, 1 | 2 << 8 | 3 << 16, streams[at]);
    hand.call("cudaStreamSynchronize", t + 600, t + 640, 0, threads[at]);
  }
}

struct Listing {
  const char* name;
  Table (*report)(const AnalysisInput&);
  const char* sort;
  const char* text_sort;  // a text column
};
constexpr Listing kListings[] = {
    {"gpu-trace", report_gpu_trace, "-duration", "name"},
    {"api-trace", report_api_trace, "-duration", "name"},
    {"nvtx-trace", report_nvtx_trace, "-end", "name"},
    {"ops-trace", report_ops_trace, "-end", "device_type"},
    {"op-idle-trace", report_op_idle_trace, "-idle", "name"},
    {"idle-gaps", report_idle_gaps, "start", "cause"},
    {"cuda_gpu_trace", report_nsys_cuda_gpu_trace, "-duration", "name"},
    {"cuda_api_trace", report_nsys_cuda_api_trace, "-duration", "-name"},
    {"cuda_kern_exec_trace", report_nsys_cuda_kern_exec_trace, "-total_duration", "kernel_name"},
    {"nvtx_pushpop_trace", report_nsys_nvtx_pushpop_trace, "-range", "name"},
    {"nvtx_gpu_proj_trace", report_nsys_nvtx_gpu_proj_trace, "-range", "name"},
};
constexpr uint32_t kSteps = 5000;  // several blocks of rows

class Listings : public testing::TestWithParam<Listing> {
 protected:
  static HandTrace& hand() {
    static HandTrace trace;
    static const bool made = (listed_steps(trace, kSteps), trace.finish(), true);
    EXPECT_TRUE(made);
    return trace;
  }
  static Table listing() { return GetParam().report({hand().trace, hand().views(), hand().selection, hand().options}); }
  static Table stored() {
    Table table = listing();
    table.store();
    return table;
  }
};

TEST_P(Listings, AreWhatTheStoredTableIsInEveryForm) {
  const Table made = listing(), kept = stored();
  ASSERT_TRUE(made.is_listing());
  ASSERT_FALSE(kept.is_listing());
  ASSERT_GE(made.rows(), kSteps);
  ASSERT_EQ(kept.rows(), made.rows());
  for (const TableFormat format : {TableFormat::Text, TableFormat::Csv, TableFormat::Json})
    EXPECT_TRUE(written_table(made, format) == written_table(kept, format)) << static_cast<int>(format);
}

TEST_P(Listings, CutAreTheFirstRowsOfAll) {
  const std::string all = written_table(listing(), TableFormat::Csv);
  for (const size_t limit : {1, 7, 3000}) {
    Table cut = listing();
    cut.limit(limit);
    ASSERT_EQ(cut.rows(), limit);
    const std::string text = written_table(cut, TableFormat::Csv);
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), static_cast<ptrdiff_t>(limit + 1));
    EXPECT_TRUE(all.starts_with(text)) << "first " << limit;
  }
}

TEST_P(Listings, SortedAndCutAreTheFirstRowsOfAllSorted) {
  for (const char* key : {GetParam().sort, GetParam().text_sort}) {
    Table sorted = stored(), listed = listing();
    ASSERT_TRUE(sorted.sort_by(key));
    ASSERT_TRUE(listed.sort_by(key));
    const std::string all = written_table(sorted, TableFormat::Csv);
    EXPECT_TRUE(written_table(listed, TableFormat::Csv) == all) << key;
    for (const bool made : {false, true}) {
      Table cut = made ? stored() : listing();
      ASSERT_TRUE(cut.sort_by(key, 100));
      ASSERT_EQ(cut.rows(), 100u);
      EXPECT_TRUE(all.starts_with(written_table(cut, TableFormat::Csv))) << key;
    }
  }
  Table twice = listing();
  ASSERT_TRUE(twice.sort_by(GetParam().sort));
  ASSERT_TRUE(twice.sort_by(GetParam().text_sort));
  Table expected = stored();
  ASSERT_TRUE(expected.sort_by(GetParam().sort));
  ASSERT_TRUE(expected.sort_by(GetParam().text_sort));
  EXPECT_TRUE(written_table(twice, TableFormat::Csv) == written_table(expected, TableFormat::Csv));
}

TEST_P(Listings, GrowWithTheInput) {
  EXPECT_LE(tests::growth(4000, listed_steps,
                          [](const AnalysisInput& input) {
                            ASSERT_GE(written_table(GetParam().report(input), TableFormat::Csv).size(), 4000u);
                          }),
            tests::kMostGrowth);
}

INSTANTIATE_TEST_SUITE_P(All, Listings, testing::ValuesIn(kListings), [](const auto& listing) {
  std::string name = listing.param.name;
  std::erase_if(name, [](char c) { return c == '-' || c == '_'; });
  return name;
});

// A row for each number below `count`; counts the rows that are made.
Table numbers(size_t count, std::atomic<size_t>& made) {
  Table table("n", "N");
  table.add_named_column(ColumnId::count, "A", "a", CellType::Count);
  table.add_named_column(ColumnId::name, "T", "t", CellType::Text);
  table.list(count, [&made](std::span<const uint32_t> rows, Table& into) {
    for (const uint32_t row : rows) into.row().add(row).add(std::string_view(std::to_string(row % 97)));
    made += rows.size();
  });
  return table;
}

TEST(Listing, MakesOnlyWhatIsShown) {
  std::atomic<size_t> made = 0;
  Table table = numbers(1'000'000, made);
  EXPECT_EQ(table.rows(), 1'000'000u);
  table.limit(3);
  EXPECT_EQ(written_table(table, TableFormat::Csv), "A,T\n0,0\n1,1\n2,2\n");
  EXPECT_EQ(made, 3u);
}

TEST(Listing, KeepsTextsApartThatAreNew) {
  std::atomic<size_t> made = 0;
  Table table("n", "N");
  table.add_named_column(ColumnId::name, "T", "t", CellType::Text);
  constexpr uint32_t kRows = 300'000;  // more texts than a block can hold
  table.list(kRows, [](std::span<const uint32_t> rows, Table& into) {
    for (const uint32_t row : rows) into.row().add(std::string_view("text " + std::to_string(row)));
  });
  std::string expected = "T\n";
  for (uint32_t row = 0; row < kRows; ++row) expected += "text " + std::to_string(row) + "\n";
  EXPECT_TRUE(written_table(table, TableFormat::Csv) == expected);
  EXPECT_EQ(made, 0u);
}

TEST(Listing, AnErrorOfARowReachesTheCaller) {
  Table table("n", "N");
  table.add_named_column(ColumnId::count, "A", "a", CellType::Count);
  table.list(100'000, [](std::span<const uint32_t> rows, Table& into) {
    for (const uint32_t row : rows) {
      if (row == 50'000) throw std::runtime_error("row 50000");
      into.row().add(row);
    }
  });
  EXPECT_THROW(written_table(table, TableFormat::Csv), std::runtime_error);
}

TEST(Listing, ProcessesAndRanksLeaveTheirRows) {
  HandTrace hand;
  listed_steps(hand, 100);
  hand.trace.processes[1].rank = 3;
  hand.finish();
  const size_t all = hand.report(report_gpu_trace).rows();
  const auto rows = [&](std::vector<std::string> words, std::vector<uint32_t> ranks) {
    hand.selection = {};
    hand.selection.process_words = std::move(words), hand.selection.ranks = std::move(ranks);
    hand.selection.find_processes(hand.trace);
    return hand.report(report_gpu_trace).rows();
  };
  EXPECT_EQ(rows({"100"}, {}), all / 2);
  EXPECT_EQ(rows({"serve"}, {}), all / 2);
  EXPECT_EQ(hand.report(report_api_trace).rows(), 300u);
  EXPECT_EQ(hand.report(report_nvtx_trace).rows(), 50u);
  EXPECT_EQ(hand.selection.text(), "processes serve");
  EXPECT_EQ(rows({"100", "/bin/serve"}, {}), all);
  EXPECT_EQ(rows({}, {3}), all / 2);
  EXPECT_EQ(hand.selection.text(), "ranks 3");
  EXPECT_EQ(rows({"100"}, {3}), 0u);
  hand.trace.processes[0].host = "a", hand.trace.processes[1].host = "b";
  EXPECT_EQ(rows({"b:200"}, {}), all / 2);
  EXPECT_THROW(rows({"b:100"}, {}), std::runtime_error);
  hand.selection = {};
  hand.selection.hosts = {"a"};
  hand.selection.find_processes(hand.trace);
  EXPECT_EQ(hand.report(report_gpu_trace).rows(), all / 2);
  EXPECT_EQ(hand.selection.text(), "hosts a");
  hand.trace.processes[0].host = hand.trace.processes[1].host = "";
  EXPECT_THROW(rows({"300"}, {}), std::runtime_error);
  EXPECT_THROW(rows({}, {0}), std::runtime_error);
  try {
    rows({"trai"}, {});
    ADD_FAILURE() << "no error";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "no process 'trai' in the input; there are: 100 train, 200 serve rank 3");
  }
}

TEST(Listing, DevicesStreamsAndThreadsThatAreNotInTheInputAreNamedWithThoseThatAre) {
  HandTrace hand;
  listed_steps(hand, 10);
  hand.finish();
  MemoryEvent allocation;
  allocation.device = 7, allocation.bytes = 1;
  hand.trace.memory.push_back(allocation);
  const Trace empty;
  const Trace* trace = &hand.trace;
  const auto error_of = [&](std::vector<uint32_t> devices, std::vector<uint32_t> streams,
                            std::vector<uint32_t> threads) {
    Selection selection;
    selection.devices = std::move(devices), selection.streams = std::move(streams);
    selection.threads = std::move(threads);
    try {
      selection.find_places(*trace);
    } catch (const std::runtime_error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const auto ordinal = hand.trace.devices[0].ordinal, number = hand.trace.streams[0].number;
  EXPECT_EQ(error_of({ordinal, 7}, {number}, {hand.trace.threads[0].tid}), "");
  EXPECT_TRUE(error_of({99}, {}, {}).starts_with("no device 99 in the input; there are: 0")) << error_of({99}, {}, {});
  EXPECT_TRUE(error_of({99}, {}, {}).ends_with(", 7"));  // only an allocation of this device is known
  EXPECT_TRUE(error_of({}, {number, 9999}, {}).starts_with("no stream 9999 in the input; there are: "));
  EXPECT_TRUE(error_of({}, {}, {9999}).starts_with("no thread 9999 in the input; there are: "));
  trace = &empty;
  EXPECT_EQ(error_of({0}, {}, {}), "no device 0 in the input; there are: none");
}

TEST(Listing, AStreamWithoutADeviceBelongsToNoProcess) {
  HandTrace hand;
  listed_steps(hand, 10);
  hand.finish();
  hand.trace.streams.emplace_back().device =
      DeviceId{99};  // as from a log whose definition of the device was unreadable
  EXPECT_EQ(hand.report(report_gpu_trace).rows(), 50u);
  hand.selection.process_words = {"100"};
  hand.selection.find_processes(hand.trace);
  EXPECT_EQ(hand.report(report_gpu_trace).rows(), 30u);
}

// The replay changes only events of the selected process.
TEST(Listing, AProcessIsAskedAboutByItself) {
  HandTrace hand;
  listed_steps(hand, 100);
  hand.finish();
  hand.selection.process_words = {"200"};
  hand.selection.find_processes(hand.trace);
  uint64_t kernels = 0;
  const Table table = hand.report(report_what_if);
  for (size_t row = 0; row < table.rows(); ++row) {
    if (tests::cell_text(table, row, "item") == "kernel") kernels += std::stoull(tests::cell_text(table, row, "count"));
  }
  EXPECT_EQ(kernels, 200u) << "half of the 400";
}

}  // namespace
}  // namespace prof::analyzer
