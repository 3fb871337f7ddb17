// Peaks of GPUs: every number of the table is recomputed from units, clock and rate of its architecture. Also: which
// row a device gets, and rows added by the user.
#include "analyzer/analysis/cost/device_peaks.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <stdexcept>

namespace prof::analyzer {
namespace {

// Operations per clock and unit, in the order of PeakType, for each architecture: FMA units × 2.
using Rates = std::array<double, kPeakTypes>;
const std::map<std::string, Rates> kRates{{"volta", {64, 0, 128, 0, 1024, 0, 0, 512, 0}},
                                          {"turing", {4, 0, 128, 0, 1024, 0, 0, 2048, 0}},
                                          {"ga102 professional", {8, 0, 256, 512, 1024, 1024, 0, 2048, 0}},
                                          {"ga100", {64, 128, 128, 1024, 2048, 2048, 0, 4096, 0}},
                                          {"ga102 a40", {4, 0, 256, 512, 1024, 1024, 0, 2048, 0}},
                                          {"ada halved", {4, 0, 256, 256, 512, 512, 1024, 1024, 0}},
                                          {"ada professional", {4, 0, 256, 512, 1024, 1024, 2048, 2048, 0}},
                                          {"ga102 geforce", {4, 0, 256, 256, 512, 512, 0, 2048, 0}},
                                          {"geforce with fp8", {4, 0, 256, 256, 512, 512, 1024, 2048, 0}},
                                          {"hopper", {128, 256, 256, 2048, 4096, 4096, 8192, 8192, 0}},
                                          {"hopper without fp64", {4, 0, 256, 2048, 4096, 4096, 8192, 8192, 0}},
                                          {"hopper for export", {0, 0, 0, 512, 1024, 1024, 2048, 2048, 0}},
                                          {"blackwell ultra", {4, 4, 256, 4096, 8192, 8192, 16384, 0, 49152}},
                                          {"blackwell", {128, 128, 256, 4096, 8192, 8192, 16384, 16384, 32768}},
                                          {"cdna2", {128, 256, 128, 0, 1024, 1024, 0, 1024, 0}},
                                          {"cdna3", {128, 256, 256, 1024, 2048, 2048, 4096, 4096, 0}}};

const std::map<std::string, std::string> kArchitectures{{"NVIDIA V100 SXM2 16GB", "volta"},
                                                        {"NVIDIA V100 SXM2 32GB", "volta"},
                                                        {"NVIDIA V100 PCIe 16GB", "volta"},
                                                        {"NVIDIA V100 PCIe 32GB", "volta"},
                                                        {"NVIDIA T4", "turing"},
                                                        {"NVIDIA A10", "ga102 professional"},
                                                        {"NVIDIA A40", "ga102 a40"},
                                                        {"NVIDIA A100 SXM 40GB", "ga100"},
                                                        {"NVIDIA A100 SXM 80GB", "ga100"},
                                                        {"NVIDIA A100 PCIe 40GB", "ga100"},
                                                        {"NVIDIA A100 PCIe 80GB", "ga100"},
                                                        {"NVIDIA L4", "ada professional"},
                                                        {"NVIDIA L40", "ada halved"},
                                                        {"NVIDIA L40S", "ada professional"},
                                                        {"NVIDIA GeForce RTX 3090", "ga102 geforce"},
                                                        {"NVIDIA GeForce RTX 4090", "geforce with fp8"},
                                                        {"NVIDIA GeForce RTX 5090", "geforce with fp8"},
                                                        {"NVIDIA H100 SXM", "hopper"},
                                                        {"NVIDIA H100 PCIe", "hopper"},
                                                        {"NVIDIA H100 NVL", "hopper"},
                                                        {"NVIDIA H200", "hopper"},
                                                        {"NVIDIA H200 NVL", "hopper"},
                                                        {"NVIDIA H20", "hopper for export"},
                                                        {"NVIDIA H20 141GB", "hopper for export"},
                                                        {"NVIDIA H800 SXM", "hopper without fp64"},
                                                        {"NVIDIA GH200 96GB", "hopper"},
                                                        {"NVIDIA GH200 144GB", "hopper"},
                                                        {"NVIDIA B100", "blackwell"},
                                                        {"NVIDIA B300", "blackwell ultra"},
                                                        {"NVIDIA B200", "blackwell"},
                                                        {"NVIDIA GB200", "blackwell"},
                                                        {"AMD Instinct MI210", "cdna2"},
                                                        {"AMD Instinct MI250X (one of two dies)", "cdna2"},
                                                        {"AMD Instinct MI300A", "cdna3"},
                                                        {"AMD Instinct MI300X", "cdna3"},
                                                        {"AMD Instinct MI325X", "cdna3"}};

Device device(std::string name, std::vector<std::pair<std::string, uint64_t>> properties = {}) {
  Device made;
  made.name = std::move(name);
  made.properties = std::move(properties);
  return made;
}

std::string peaks_error(std::string_view text) {
  DeviceTable table;
  try {
    table.add_rows(text, "my.rows");
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST(Devices, EachPeakIsUnitsTimesRateTimesClock) {
  const DeviceTable table;
  for (const DevicePeaks& row : table.rows()) {
    ASSERT_TRUE(kArchitectures.contains(row.name)) << row.name;
    const Rates& rates = kRates.at(kArchitectures.at(row.name));
    for (size_t type = 0; type < kPeakTypes; ++type) {
      // Tensor cores run at their own clock. Hopper's and CDNA's double-precision tensor cores run at the clock of the
      // ordinary units.
      const bool ordinary = type <= static_cast<size_t>(PeakType::Fp32);
      const double mhz = ordinary ? row.mhz : row.tensor_mhz;
      const double worked_out = row.units * rates[type] * mhz / 1e6;
      const double allowed = row.approximate ? 0.03 : 0.011;
      const double rounding = 0.051;  // numbers are published with one decimal
      EXPECT_NEAR(row.tera[type], worked_out, allowed * worked_out + (worked_out > 0 && worked_out < 10 ? rounding : 0))
          << row.name << " " << peak_type_name(static_cast<PeakType>(type));
    }
    EXPECT_GT(row.bandwidth_gbs, 0) << row.name;
    EXPECT_FALSE(row.link.empty()) << row.name;
    EXPECT_FALSE(row.date.empty()) << row.name;
  }
  EXPECT_EQ(table.rows().size(), kArchitectures.size());
}

// Width of the bus in bits × transfers per second, for devices whose memory is documented that way.
TEST(Devices, BandwidthIsBusWidthTimesDataRate) {
  const DeviceTable table;
  const struct {
    const char* name;
    double bits, giga_transfers;
  } kMemories[] = {{"NVIDIA V100 SXM2 16GB", 4096, 1.756},
                   {"NVIDIA T4", 256, 10},
                   {"NVIDIA A10", 384, 12.5},
                   {"NVIDIA A100 SXM 40GB", 5120, 2.43},
                   {"NVIDIA A100 SXM 80GB", 5120, 3.186},
                   {"NVIDIA L4", 192, 12.5},
                   {"NVIDIA A40", 384, 14.5},
                   {"NVIDIA L40", 384, 18},
                   {"NVIDIA L40S", 384, 18},
                   {"NVIDIA GeForce RTX 3090", 384, 19.5},
                   {"NVIDIA GeForce RTX 4090", 384, 21},
                   {"NVIDIA GeForce RTX 5090", 512, 28},
                   {"NVIDIA H100 SXM", 5120, 5.237},
                   {"AMD Instinct MI210", 4096, 3.2},
                   {"AMD Instinct MI300X", 8192, 5.2},
                   {"AMD Instinct MI325X", 8192, 5.9},
                   {"NVIDIA B200", 8192, 7.5}};
  for (const auto& memory : kMemories) {
    const DevicePeaks found = table.of(device({}), memory.name);
    EXPECT_NEAR(found.bandwidth_gbs, memory.bits / 8 * memory.giga_transfers, 0.01 * found.bandwidth_gbs)
        << memory.name;
  }
}

TEST(Devices, NamesOfDriversFindTheirRow) {
  const DeviceTable table;
  const std::map<std::string, std::string> expected{{"NVIDIA H100 80GB HBM3", "NVIDIA H100 SXM"},
                                                    {"NVIDIA H100 PCIe", "NVIDIA H100 PCIe"},
                                                    {"NVIDIA H100 NVL", "NVIDIA H100 NVL"},
                                                    {"NVIDIA H200", "NVIDIA H200"},
                                                    {"NVIDIA H200 NVL", "NVIDIA H200 NVL"},
                                                    {"NVIDIA A100-SXM4-80GB", "NVIDIA A100 SXM 80GB"},
                                                    {"A100-SXM4-40GB", "NVIDIA A100 SXM 40GB"},
                                                    {"NVIDIA A100-PG509-200", "NVIDIA A100 SXM 40GB"},
                                                    {"NVIDIA A100-PCIE-40GB", "NVIDIA A100 PCIe 40GB"},
                                                    {"NVIDIA A100 80GB PCIe", "NVIDIA A100 PCIe 80GB"},
                                                    {"Tesla V100-SXM2-32GB", "NVIDIA V100 SXM2 32GB"},
                                                    {"Tesla V100-SXM2-16GB", "NVIDIA V100 SXM2 16GB"},
                                                    {"Tesla V100-PCIE-16GB", "NVIDIA V100 PCIe 16GB"},
                                                    {"NVIDIA A40", "NVIDIA A40"},
                                                    {"NVIDIA L40", "NVIDIA L40"},
                                                    {"NVIDIA H20", "NVIDIA H20"},
                                                    {"NVIDIA H20-3e", "NVIDIA H20 141GB"},
                                                    {"NVIDIA H800", "NVIDIA H800 SXM"},
                                                    {"NVIDIA B300 SXM6 AC", "NVIDIA B300"},
                                                    {"Tesla T4", "NVIDIA T4"},
                                                    {"NVIDIA L4", "NVIDIA L4"},
                                                    {"NVIDIA L40S", "NVIDIA L40S"},
                                                    {"NVIDIA GeForce RTX 4090", "NVIDIA GeForce RTX 4090"},
                                                    {"NVIDIA B200", "NVIDIA B200"},
                                                    {"NVIDIA GB200", "NVIDIA GB200"},
                                                    {"AMD Instinct MI300X", "AMD Instinct MI300X"},
                                                    {"AMD MI300X", "AMD Instinct MI300X"},
                                                    {"AMD INSTINCT MI300X", "AMD Instinct MI300X"},
                                                    {"AMD Instinct MI250X", "AMD Instinct MI250X (one of two dies)"}};
  for (const auto& [name, row] : expected) {
    const DevicePeaks found = table.of(device(name));
    EXPECT_EQ(found.origin, PeakOrigin::Table) << name;
    EXPECT_EQ(found.name, row) << name;
  }
  for (const char* const other : {"NVIDIA GeForce RTX 4090 Laptop GPU", "NVIDIA H100 80GB HBM3 MIG 1g.10gb",
                                  "NVIDIA L20", "NVIDIA GH200", "AMD Radeon Graphics", ""})
    EXPECT_FALSE(table.of(device(other)).known()) << other;
}

TEST(Devices, MemoryIsThatOfTheName) {
  const DeviceTable table;
  for (const auto& [name, gb] : std::map<std::string, double>{{"Tesla V100-SXM2-16GB", 16},
                                                              {"Tesla V100-SXM2-32GB", 32},
                                                              {"Tesla V100-PCIE-16GB", 16},
                                                              {"Tesla V100-PCIE-32GB", 32},
                                                              {"NVIDIA A100-PCIE-40GB", 40}})
    EXPECT_DOUBLE_EQ(table.of(device(name)).memory_gb, gb) << name;
}

TEST(Devices, NoTwoRowsShareAName) {
  std::set<std::string> seen;
  const DeviceTable table;
  for (const DevicePeaks& row : table.rows()) EXPECT_TRUE(seen.insert(device_key(row.name)).second) << row.name;
}

TEST(Devices, BareNamesAreGuessedOnlyWhereOneGpuIsLeft) {
  const DeviceTable table;
  const DevicePeaks sxm = table.of(device("NVIDIA H100", {{"numSms", 132}, {"totalGlobalMem", 85'018'279'936}}));
  EXPECT_EQ(sxm.origin, PeakOrigin::Guessed);
  EXPECT_EQ(sxm.name, "NVIDIA H100 SXM");
  EXPECT_EQ(table.of(device("NVIDIA H100", {{"numSms", 114}, {"totalGlobalMem", 85'000'000'000}})).name,
            "NVIDIA H100 PCIe");
  const DevicePeaks large = table.of(device("NVIDIA H100", {{"numSms", 132}, {"totalGlobalMem", 101'997'215'744}}));
  EXPECT_FALSE(large.known());
  EXPECT_NE(large.reason, "");
}

TEST(Devices, ASliceOfAGpuDoesNotGetThePeaksOfTheWhole) {
  const DevicePeaks slice = DeviceTable().of(device("NVIDIA H100 80GB HBM3", {{"numSms", 16}}));
  EXPECT_FALSE(slice.known());
  EXPECT_EQ(slice.reason, "'NVIDIA H100 80GB HBM3' with 16 SMs is not the GPU of the table, which has 132");
}

TEST(Devices, UnknownGpusAreComputedFromWhatTheTraceSays) {
  // 100 SMs at 1 GHz of compute capability 9.0: 100 · 4096 · 10^9 = 409.6 TFLOP/s fp16.
  const DevicePeaks peaks =
      DeviceTable().of(device("NVIDIA H777", {{"numSms", 100},
                                              {"computeMajor", 9},
                                              {"computeMinor", 0},
                                              {"clockRateHz", 1'000'000'000},
                                              {"memoryBandwidthBytesPerSecond", 2'000'000'000'000}}));
  EXPECT_EQ(peaks.origin, PeakOrigin::Computed);
  EXPECT_DOUBLE_EQ(peaks.peak(PeakType::Fp16), 409.6);
  EXPECT_DOUBLE_EQ(peaks.peak(PeakType::Tf32), 204.8);
  EXPECT_DOUBLE_EQ(peaks.peak(PeakType::Fp32), 25.6);
  EXPECT_DOUBLE_EQ(peaks.peak(PeakType::Fp8), 0);
  EXPECT_DOUBLE_EQ(peaks.bandwidth_gbs, 2000);
  // GeForce's tensor cores run at half of that with the full-precision accumulator.
  const DevicePeaks geforce = DeviceTable().of(
      device("NVIDIA GeForce RTX 9999",
             {{"numSms", 10}, {"computeMajor", 8}, {"computeMinor", 9}, {"clockRateHz", 1'000'000'000}}));
  EXPECT_DOUBLE_EQ(geforce.peak(PeakType::Bf16), 5.12);
  EXPECT_DOUBLE_EQ(geforce.bandwidth_gbs, 0);
  // Before 8.0 tensor cores have fp16 only.
  const DevicePeaks older = DeviceTable().of(device(
      "NVIDIA T777", {{"numSms", 10}, {"computeMajor", 7}, {"computeMinor", 5}, {"clockRateHz", 1'000'000'000}}));
  EXPECT_DOUBLE_EQ(older.peak(PeakType::Fp16), 10.24);
  EXPECT_DOUBLE_EQ(older.peak(PeakType::Bf16), 0);
  EXPECT_DOUBLE_EQ(older.peak(PeakType::Tf32), 0);
  // Another vendor's version 9.0 gives no operations per clock.
  const DevicePeaks other =
      DeviceTable().of(device("AMD X777", {{"numSms", 100},
                                           {"computeMajor", 9},
                                           {"computeMinor", 0},
                                           {"clockRateHz", 1'000'000'000},
                                           {"memoryBandwidthBytesPerSecond", 2'000'000'000'000}}));
  EXPECT_DOUBLE_EQ(other.peak(PeakType::Fp16), 0);
  EXPECT_DOUBLE_EQ(other.bandwidth_gbs, 2000);
  // Without a clock there are no peaks.
  EXPECT_FALSE(DeviceTable().of(device("NVIDIA H777", {{"numSms", 100}, {"computeMajor", 9}})).known());
}

// A log of libprof has the clock, and the memory's clock with the width of its bus.
TEST(Devices, BandwidthIsComputedFromTheMemorysClockAndBus) {
  const std::vector<std::pair<std::string, uint64_t>> properties{{"numSms", 160},
                                                                 {"computeMajor", 10},
                                                                 {"computeMinor", 7},
                                                                 {"clockRateHz", 2'000'000'000},
                                                                 {"memoryClockRateHz", 4'000'000'000},
                                                                 {"memoryBusWidthBits", 8192}};
  // 2 words per clock · 1024 bytes · 4 GHz
  const DevicePeaks peaks = DeviceTable().of(device("NVIDIA X777", properties));
  EXPECT_EQ(peaks.origin, PeakOrigin::Computed);
  EXPECT_DOUBLE_EQ(peaks.bandwidth_gbs, 8192);
  EXPECT_DOUBLE_EQ(peaks.peak(PeakType::Fp16), 0);  // rates of 10.7 are unknown
  EXPECT_EQ(peaks.reason,
            "'NVIDIA X777' is not in the table of devices; the operations a clock of its SMs are not known, only its "
            "bandwidth is");
}

TEST(Devices, RowsOfTheUserComeFirst) {
  DeviceTable table;
  table.add_rows("# mine\n\nNVIDIA H200: bf16=700 bandwidth=4300\nAbacus: fp32=0.001\r\n", "my.rows");
  const DevicePeaks mine = table.of(device("NVIDIA H200"));
  EXPECT_EQ(mine.origin, PeakOrigin::User);
  EXPECT_DOUBLE_EQ(mine.peak(PeakType::Bf16), 700);
  EXPECT_DOUBLE_EQ(mine.bandwidth_gbs, 4300);
  EXPECT_EQ(mine.link, "my.rows:3");
  EXPECT_DOUBLE_EQ(table.of(device("abacus")).peak(PeakType::Fp32), 0.001);
  EXPECT_EQ(table.of(device("abacus")).reason, "");
  EXPECT_DOUBLE_EQ(table.of(device("anything"), "Abacus").peak(PeakType::Fp32), 0.001);
  EXPECT_THROW(table.of(device("anything"), "Nothing"), std::runtime_error);
}

TEST(Devices, WhatAUsersRowLacksIsOfTheTableAndSaysSo) {
  DeviceTable table;
  table.add_rows("NVIDIA H200: bf16=700 fp16=700 fp32=50 fp64_matrix=60 tf32=400 int8=1500\n", "measured",
                 PeakOrigin::Measured);
  const DevicePeaks mine = table.of(device("NVIDIA H200"));
  EXPECT_EQ(mine.origin, PeakOrigin::Measured);
  EXPECT_DOUBLE_EQ(mine.peak(PeakType::Bf16), 700);
  EXPECT_DOUBLE_EQ(mine.peak(PeakType::Fp8), 1979);
  EXPECT_DOUBLE_EQ(mine.peak(PeakType::Fp64), 33.5);
  EXPECT_DOUBLE_EQ(mine.peak(PeakType::Fp4), 0);  // the table has none either
  EXPECT_DOUBLE_EQ(mine.bandwidth_gbs, 4800);
  EXPECT_EQ(mine.units, 132u);
  EXPECT_EQ(mine.reason, "fp64, fp8, bandwidth: of NVIDIA H200 (table)");
  EXPECT_EQ(table.of(device("else"), "H200").reason,
            "taken as NVIDIA H200 because --device-as says so; fp64, fp8, bandwidth: of NVIDIA H200 (table)");
  // A GPU that the table does not have: the peaks come from the properties in the trace.
  table.add_rows("NVIDIA H777: fp16=300\n", "more");
  const DevicePeaks other = table.of(
      device("NVIDIA H777",
             {{"numSms", 100}, {"computeMajor", 9}, {"clockRateHz", 1'000'000'000}, {"memoryBusWidthBits", 4096}}));
  EXPECT_DOUBLE_EQ(other.peak(PeakType::Fp16), 300);
  EXPECT_DOUBLE_EQ(other.peak(PeakType::Bf16), 409.6);
  EXPECT_EQ(other.reason,
            "fp32, tf32, bf16: of NVIDIA H777 (computed); 'NVIDIA H777' is not in the table of devices; computed from "
            "SMs, clock and compute capability");
}

TEST(Devices, AnUnreadableRowNamesItsLine) {
  EXPECT_EQ(peaks_error("A: fp16=1\nB fp16=1"),
            "my.rows:2: no name with a colon after it; a row is: NAME: key=value …");
  EXPECT_EQ(peaks_error("A:"), "my.rows:1: no number after the name; a row is: NAME: key=value …");
  EXPECT_EQ(peaks_error("A: fp16"), "my.rows:1: 'fp16' is not key=value; a row is: NAME: key=value …");
  EXPECT_NE(peaks_error("A: speed=3").find("my.rows:1: 'speed' is none of fp64, "), std::string::npos);
  for (const char* const bad : {"A: fp16=-1", "A: fp16=0", "A: fp16=nan", "A: fp16=inf", "A: fp16=1x", "A: fp16="})
    EXPECT_NE(peaks_error(bad).find("a number above 0"), std::string::npos) << bad;
  EXPECT_NE(peaks_error("A: fp16=1\na: fp16=2").find("my.rows:2: 'a' is there already: my.rows:1"), std::string::npos);
}

}  // namespace
}  // namespace prof::analyzer
