// Times of JSON traces are exact: integer nanoseconds from the digits, in whatever form.
#include "analyzer/base/json/json_decimal.h"

#include <gtest/gtest.h>

#include <optional>

namespace prof::analyzer {
namespace {

std::optional<int64_t> ns(std::string_view text) {
  int64_t value = 0;
  if (micros_to_ns(text, value) != DecimalResult::Ok) return std::nullopt;
  return value;
}

DecimalResult result(std::string_view text) {
  int64_t value = 0;
  return micros_to_ns(text, value);
}

TEST(JsonDecimal, TurnsMicrosecondsIntoNanosecondsDigitByDigit) {
  EXPECT_EQ(ns("4393112270693.328"), 4393112270693328);
  EXPECT_EQ(ns("1682725898236567"), 1682725898236567000);
  EXPECT_EQ(ns("1682725898236567.001"), 1682725898236567001);  // a double would give …567.000
  EXPECT_EQ(ns("0"), 0);
  EXPECT_EQ(ns("0.5"), 500);
  EXPECT_EQ(ns("68.0"), 68000);
  EXPECT_EQ(ns("-0.25"), -250);
  EXPECT_EQ(ns("-12"), -12000);
  EXPECT_EQ(ns("007.1"), 7100);
}

TEST(JsonDecimal, ReadsExponents) {
  EXPECT_EQ(ns("1.5e3"), 1500000);
  EXPECT_EQ(ns("1.5E+3"), 1500000);
  EXPECT_EQ(ns("25e-1"), 2500);
  EXPECT_EQ(ns("1e-3"), 1);
  EXPECT_EQ(ns("1.682725898236567001e15"), 1682725898236567001);
  EXPECT_EQ(ns("0e999999999999"), 0);
  EXPECT_EQ(ns("1e-999999999999"), 0);
}

TEST(JsonDecimal, RoundsWhatIsShorterThanANanosecond) {
  EXPECT_EQ(ns("0.0004"), 0);
  EXPECT_EQ(ns("0.0005"), 1);
  EXPECT_EQ(ns("-0.0005"), -1);
  EXPECT_EQ(ns("1.2344999999999999999999999"), 1234);
  EXPECT_EQ(ns("1.23450000000000000000"), 1235);
}

TEST(JsonDecimal, RefusesWhatIsNoNumberOrTooFar) {
  for (const char* text : {"", "-", ".", "abc", "1.2.3", "1e", "1e+", "12x", "NaN", "Infinity", "null", "0x10"})
    EXPECT_EQ(result(text), DecimalResult::NotANumber) << text;
  EXPECT_EQ(ns("4611686018427387.903"), (int64_t{1} << 62) - 1);
  for (const char* text : {"4611686018427387.904", "-4611686018427387.904", "7566917863418487.639", "1e300",
                           "99999999999999999999999999", "1e18446744073709551617"})
    EXPECT_EQ(result(text), DecimalResult::OutOfRange) << text;
}

TEST(JsonDecimal, ReadsIntegersOfAllForms) {
  int64_t value = 0;
  EXPECT_EQ(to_int64("-1", value), DecimalResult::Ok);
  EXPECT_EQ(value, -1);
  EXPECT_EQ(to_int64("0x7f", value), DecimalResult::Ok);
  EXPECT_EQ(value, 127);
  EXPECT_EQ(to_int64("13.0", value), DecimalResult::Ok);
  EXPECT_EQ(value, 13);
  EXPECT_EQ(to_int64("-9223372036854775808", value), DecimalResult::Ok);
  EXPECT_EQ(value, INT64_MIN);
  EXPECT_EQ(to_int64("9223372036854775808", value), DecimalResult::OutOfRange);
  EXPECT_EQ(to_int64("1.5", value), DecimalResult::NotANumber);
  uint64_t natural = 0;
  EXPECT_EQ(to_uint64("18446744073709551615", natural), DecimalResult::Ok);
  EXPECT_EQ(natural, UINT64_MAX);
  EXPECT_EQ(to_uint64("18446744073709551616", natural), DecimalResult::OutOfRange);
  EXPECT_EQ(to_uint64("-1", natural), DecimalResult::OutOfRange);
  EXPECT_EQ(to_uint64("0xffffffffffffffff1", natural), DecimalResult::NotANumber);
}

}  // namespace
}  // namespace prof::analyzer
