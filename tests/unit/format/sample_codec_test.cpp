// Hardware samples in a record: decoding returns what was encoded, the encoding is small, and bytes that are not
// samples are refused.
#include "preload/format/sample_codec.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace prof::format {
namespace {

struct Read {
  bool ok = false;
  std::vector<SampleSpan> spans;
  std::vector<double> values;  // of all samples, one after another
};

Read read(std::string_view text, uint64_t start, uint32_t metrics) {
  Read to;
  to.ok = read_samples(
      text, start, metrics,
      [&](SampleSpan span) {
        to.spans.push_back(span);
        to.values.resize(to.spans.size() * metrics, -1);
      },
      [&](uint32_t m, uint32_t i, double value) { to.values[i * metrics + m] = value; });
  return to;
}

std::string put(const std::vector<SampleSpan>& spans, const std::vector<double>& values) {
  std::vector<uint8_t> text(kMaxTextBytes + 16);
  const uint8_t* const end = put_samples(text.data(), spans.data(), values.data(), static_cast<uint32_t>(spans.size()),
                                         static_cast<uint32_t>(values.size() / spans.size()));
  return {reinterpret_cast<const char*>(text.data()), static_cast<size_t>(end - text.data())};
}

TEST(Samples, TimesComeOutAsTheyWentInAlsoWhereSomeAreMissingOrLonger) {
  const std::vector<SampleSpan> spans = {{1000, 21000}, {21000, 41001}, {41001, 61001}, {90000, 95000}};
  const Read back = read(put(spans, {1, 2, 3, 4}), 1000, 1);
  ASSERT_TRUE(back.ok);
  for (size_t i = 0; i < spans.size(); ++i) {
    EXPECT_EQ(back.spans[i].start, spans[i].start);
    EXPECT_EQ(back.spans[i].end, spans[i].end);
  }
}

TEST(Samples, CountsThatShareFactorsOfTwoLoseNothing) {
  const std::vector<double> bytes = {0, 32, 96, 335544320, 671088608};  // the last is 20971519 × 32
  const Read back = read(put({{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}}, bytes), 0, 1);
  ASSERT_TRUE(back.ok);
  EXPECT_EQ(back.values, bytes);
}

TEST(Samples, OtherNumbersKeepAMillionthOfTheLargestOfTheirMetric) {
  const std::vector<double> values = {99.875, 1979800123, 1e-9, 0.1, 12345678901, 3e-9, 33.3333333, 1, 2e-9};
  const Read back = read(put({{0, 1}, {1, 2}, {2, 3}}, values), 0, 3);
  ASSERT_TRUE(back.ok);
  const double largest[] = {99.875, 12345678901, 3e-9};
  for (size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(back.values[i], values[i], largest[i % 3] * 1e-6);
}

TEST(Samples, WhatIsNoNumberComesOutAsNone) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinite = std::numeric_limits<double>::infinity();
  const Read back = read(put({{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}}, {nan, 5, infinite, -1, 1e300}), 0, 1);
  ASSERT_TRUE(back.ok);
  EXPECT_EQ(back.values[1], 5);
  for (const size_t i : {0, 2, 3, 4}) EXPECT_TRUE(std::isnan(back.values[i]));
}

TEST(Samples, AsManyAsFitTakeNoMoreThanATextWhateverTheyAre) {
  for (uint32_t metrics = 1; metrics <= kMaxSampledMetrics; ++metrics) {
    const uint32_t count = samples_in_text(metrics);
    ASSERT_GE(count, 1u);
    std::vector<SampleSpan> spans(count);
    std::vector<double> values(size_t{count} * metrics);
    for (uint32_t i = 0; i < count; ++i)
      spans[i] = {i * (uint64_t{1} << 57), i * (uint64_t{1} << 57) + (i % 2 == 0 ? uint64_t{1} << 56 : 1)};
    for (size_t i = 0; i < values.size(); ++i) values[i] = 8999999999999999.0 / static_cast<double>(i + 1);
    EXPECT_LE(put(spans, values).size(), kMaxTextBytes) << metrics;
  }
}

TEST(Samples, ASampleOfTenMetricsOfABusyGpuTakesAboutThirtyBytes) {
  std::vector<SampleSpan> spans;
  std::vector<double> values;
  for (uint64_t i = 0; i < 20; ++i) {
    spans.push_back({i * 200'000, (i + 1) * 200'000});
    for (int m = 0; m < 2; ++m) values.push_back(3.1e8 + 32.0 * static_cast<double>(i * 977 % 4096));
    for (int m = 0; m < 5; ++m) values.push_back(60 + static_cast<double>(i * 31 % 29) / 7);
    for (int m = 0; m < 2; ++m) values.push_back(0);
    values.push_back(1.98e9);
  }
  EXPECT_LE(put(spans, values).size(), 20 * 33u);
}

TEST(Samples, BytesThatAreNoSamplesAreSaidToBeNone) {
  const std::string good = put({{0, 20}, {20, 40}}, {1, 2, 3, 4});
  EXPECT_TRUE(read(good, 0, 2).ok);
  EXPECT_FALSE(read(good, 0, 1).ok);
  EXPECT_FALSE(read(good, 0, 3).ok);
  EXPECT_FALSE(read(good + '\0', 0, 2).ok);
  EXPECT_FALSE(read({}, 0, 2).ok);
  EXPECT_FALSE(read(good, 0, 0).ok);
  EXPECT_FALSE(read(good, 0, kMaxSampledMetrics + 1).ok);
  for (size_t length = 0; length < good.size(); ++length) EXPECT_FALSE(read({good.data(), length}, 0, 2).ok);
  for (size_t at = 0; at < good.size(); ++at) {
    std::string changed = good;
    for (int bit = 0; bit < 8; ++bit) {
      changed[at] = static_cast<char>(good[at] ^ 1 << bit);
      read(changed, 0, 2);  // under a sanitizer: nothing outside of the buffer is read
    }
  }
}

}  // namespace
}  // namespace prof::format
