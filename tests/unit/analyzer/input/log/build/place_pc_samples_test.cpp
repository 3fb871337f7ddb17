// PC samples: by process and time, with the names of their log; records that cannot be read are counted.
#include "analyzer/input/log/build/builder.h"
#include "tests/unit/analyzer/log_builder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace prof::analyzer {
namespace {

using format::PcSamples;
using tests::LogBuilder;

format::StringPart text(uint32_t id, std::string_view text) {
  format::StringPart part;
  part.id = format::StringId{id}, part.total_bytes = text.size(), part.text = text;
  return part;
}

// Context 1 has three reasons, the second without a name. Cubin 1 is kept, cubin 2 is not. Ticks are ns.
class PcSampledLog {
 public:
  explicit PcSampledLog(std::string_view reasons = "lines\n\nof reasons") {
    log_.define(text(1, reasons));
    log_.define(text(2, "_Z4workv"));
    format::ContextDef context;
    context.id = format::ContextId{1};
    log_.define(context);
    log_.define(format::StallReasonsDef{format::ContextId{1}, format::StringId{1}});
    log_.define(format::CubinDef{format::CubinId{1}, 0xabc, 500, 1});
    log_.define(format::CubinDef{format::CubinId{2}, 0xdef, 600, 0});
  }
  void batch(uint64_t time, uint32_t context, uint32_t period, uint64_t total, uint64_t dropped, uint64_t non_user,
             uint32_t flags = 0) {
    log_.add(3, format::PcBatch{time, format::ContextId{context}, period, total, dropped, non_user, flags});
  }
  void samples(uint64_t time, uint32_t context, uint32_t cubin, uint32_t period, const std::vector<uint64_t>& places,
               const std::vector<uint64_t>& samples, uint32_t flags = 0) {
    PcSamples record;
    record.time = time, record.context = format::ContextId{context}, record.cubin = format::CubinId{cubin};
    record.function = format::StringId{2}, record.period = period, record.flags = flags;
    record.places = {places.data(), nullptr, static_cast<uint32_t>(places.size())};
    record.samples = {samples.data(), nullptr, static_cast<uint32_t>(samples.size())};
    log_.add(3, record);
  }
  std::unique_ptr<Trace> build() {
    log_.seal_all();
    std::vector<std::unique_ptr<LogFile>> logs;
    logs.push_back(log_.open_log());
    return build_trace(std::move(logs));
  }

 private:
  LogBuilder log_;
};

std::vector<std::string> rows_text(const Trace& trace) {
  std::vector<std::string> text;
  const PcSampleTable& rows = trace.pc_samples;
  for (size_t i = 0; i < rows.size(); ++i) {
    text.push_back(fmt::format("{}+{} '{}' {} of {:x}{}, {} cycles", trace.text(rows.function[i]), rows.offset[i],
                               trace.text(rows.reason[i]), rows.samples[i], rows.cubins[rows.cubin[i]].crc,
                               rows.ambiguous[i] != 0 ? " ambiguous" : "", rows.cycles(i)));
  }
  return text;
}

TEST(PlacePcSamples, KeepsTheirOrderNamesAndPeriods) {
  PcSampledLog log;
  log.batch(2000, 1, 10, 30, 4, 5);
  log.samples(2000, 1, 1, 10, {PcSamples::place(16, 0), PcSamples::place(16, 1), PcSamples::place(1 << 20, 2)},
              {9, 8, 4});
  log.batch(3000, 1, 11, 7, 0, 0);
  log.samples(3000, 1, 2, 11, {PcSamples::place(32, 2)}, {7}, format::kPcAmbiguous);
  const std::unique_ptr<Trace> trace = log.build();
  EXPECT_EQ(rows_text(*trace), (std::vector<std::string>{
                                   "_Z4workv+16 'lines' 9 of abc, 9216 cycles",
                                   "_Z4workv+16 '' 8 of abc, 8192 cycles",
                                   "_Z4workv+1048576 'of reasons' 4 of abc, 4096 cycles",
                                   "_Z4workv+32 'of reasons' 7 of def ambiguous, 14336 cycles",
                               }));
  ASSERT_EQ(trace->pc_samples.batches.size(), 2u);
  EXPECT_EQ(trace->pc_samples.batches[1].period, 11u);
  EXPECT_TRUE(coverage_line(*trace).ends_with(
      "; PC samples 37, with instruction 28 (without cubin 7), of other kernels 5, dropped 4"))
      << coverage_line(*trace);
}

TEST(PlacePcSamples, CountASampleOnceThoughTheHardwareCountsItAgainIfNothingWasIssued) {
  PcSampledLog log("wait_not_issued\nwait\nselected\nbarrier_not_issued\nbarrier");
  log.batch(2000, 1, 10, 20, 0, 0);
  log.samples(2000, 1, 1, 10,
              {PcSamples::place(16, 0), PcSamples::place(16, 1), PcSamples::place(16, 2), PcSamples::place(32, 0),
               PcSamples::place(32, 1), PcSamples::place(32, 3)},
              {5, 9, 3, 6, 6, 2});
  log.samples(2000, 1, 1, 10, {PcSamples::place(32, 4)}, {2});  // the same samples of 32, in the next record
  const std::unique_ptr<Trace> trace = log.build();
  EXPECT_EQ(rows_text(*trace), (std::vector<std::string>{
                                   "_Z4workv+16 'wait' 9 of abc, 9216 cycles",
                                   "_Z4workv+16 'selected' 3 of abc, 3072 cycles",
                                   "_Z4workv+32 'wait' 6 of abc, 6144 cycles",
                                   "_Z4workv+32 'barrier' 0 of abc, 0 cycles",
                                   "_Z4workv+32 'barrier' 2 of abc, 2048 cycles",
                               }));
  const Column<uint32_t>& not_issued = trace->pc_samples.not_issued;
  EXPECT_EQ(std::vector<uint32_t>(not_issued.begin(), not_issued.end()), (std::vector<uint32_t>{5, 0, 6, 2, 0}));
  EXPECT_NE(coverage_line(*trace).find("PC samples 20, with instruction 20"), std::string::npos);
}

TEST(PlacePcSamples, CountsRecordsThatCannotBeRead) {
  PcSampledLog log;
  log.batch(2000, 9, 10, 30, 0, 0);                                            // an unknown context
  log.samples(2000, 9, 1, 10, {1}, {1});                                       // the same
  log.samples(2000, 1, 1, 64, {1}, {1});                                       // no period
  log.samples(2000, 1, 1, 10, {1, 2}, {1});                                    // lists of different lengths
  log.samples(2000, 1, 1, 10, {PcSamples::place(uint64_t{1} << 32, 0)}, {1});  // an offset that no function has
  log.samples(2000, 1, 1, 10, {1, 2}, {UINT32_MAX, 1});                        // more samples than a row holds
  log.samples(2000, 1, 7, 10, {PcSamples::place(0, 63)}, {3});                 // an unknown cubin and reason: kept
  log.batch(2000, 1, 10, 100, 0, 0, format::kPcBufferFull);
  const std::unique_ptr<Trace> trace = log.build();
  EXPECT_EQ(rows_text(*trace), std::vector<std::string>{"_Z4workv+0 '' 3 of 0, 3072 cycles"});
  EXPECT_EQ(trace->processes[0].coverage.pc_samples_unreadable, 6u);
  EXPECT_TRUE(trace->pc_samples.batches[0].buffer_full);
  EXPECT_NE(coverage_line(*trace).find("PC samples 100, with instruction 3 (without cubin 3), without instruction 97, "
                                       "unreadable records 6"),
            std::string::npos)
      << coverage_line(*trace);
}

}  // namespace
}  // namespace prof::analyzer
