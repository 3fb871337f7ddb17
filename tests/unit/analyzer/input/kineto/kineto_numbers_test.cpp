// Which texts are numbers, and what happens to the others?
#include "analyzer/input/kineto/kineto_numbers.h"

#include <gtest/gtest.h>

#include <string_view>

namespace prof::analyzer {
namespace {

KinetoEvent at(std::string_view ts, std::string_view dur = "") {
  KinetoEvent event;
  event.ts = ts;
  event.has_ts = true;
  event.dur = dur;
  event.has_dur = !dur.empty();
  return event;
}

TEST(KinetoNumbers, CountWhatIsNoNumberAndUseTheDefault) {
  KinetoTally tally;
  KinetoEvent event;
  EXPECT_EQ(read_number(event, KinetoArgument::Bytes, tally, 3), 3u);
  EXPECT_EQ(tally.set_aside(KinetoAside::BadNumber), 0u);
  event.set(KinetoArgument::Bytes, "many");
  EXPECT_EQ(read_number(event, KinetoArgument::Bytes, tally, 3), 3u);
  EXPECT_EQ(read_signed(event, KinetoArgument::Bytes, tally, -4), -4);
  EXPECT_EQ(tally.set_aside(KinetoAside::BadNumber), 2u);
  event.set(KinetoArgument::Bytes, "4294967298");
  EXPECT_EQ(read_id(event, KinetoArgument::Bytes, tally), 2u);
  event.set(KinetoArgument::WaitOnEvent, "-1");
  EXPECT_EQ(read_optional_id(event, KinetoArgument::WaitOnEvent, tally), 0u);
  EXPECT_EQ(tally.set_aside(KinetoAside::BadNumber), 2u);
}

TEST(KinetoNumbers, TakeTheDeviceFromThePidWhereThatIsNone) {
  KinetoTally tally;
  KinetoEvent event;
  event.pid = "3";
  EXPECT_EQ(read_device(event, tally), 3u);
  event.pid = "54321";
  EXPECT_EQ(read_device(event, tally), 0u);
  event.pid = "python";
  EXPECT_EQ(read_device(event, tally), 0u);
  event.set(KinetoArgument::DeviceOrdinal, "5");
  EXPECT_EQ(read_device(event, tally), 5u);
}

TEST(KinetoNumbers, KnowNumbersOfStreams) {
  uint32_t number = 0;
  EXPECT_TRUE(read_stream_number("7", number));
  EXPECT_EQ(number, 7u);
  EXPECT_FALSE(read_stream_number("-1", number));
  EXPECT_FALSE(read_stream_number("4294967295", number));
  EXPECT_FALSE(read_stream_number("default", number));
  EXPECT_EQ(number_after("Stream #14(Compute)", "Stream #"), 14u);
  EXPECT_FALSE(number_after("Stream #x", "Stream #"));
  EXPECT_FALSE(number_after("CPU Thread 3", "Stream #"));
}

TEST(KinetoNumbers, ReadTimesToTheNanosecond) {
  KinetoTally tally;
  KinetoTimes times;
  ASSERT_TRUE(read_times(at("4393112270693.328", "2.5"), true, tally, times));
  EXPECT_EQ(times.begin_ns, 4393112270693328);
  EXPECT_EQ(times.end_ns, 4393112270695828);
  ASSERT_TRUE(read_times(at("5", "2.5"), false, tally, times));
  EXPECT_EQ(times.end_ns, 5000);
  ASSERT_TRUE(read_times(at("5", "-2"), true, tally, times));
  EXPECT_EQ(times.end_ns, 3000);
}

TEST(KinetoNumbers, SetEventsWithoutAUsableTimeAside) {
  KinetoTally tally;
  KinetoTimes times;
  EXPECT_FALSE(read_times(KinetoEvent(), true, tally, times));
  EXPECT_FALSE(read_times(at("noon"), true, tally, times));
  EXPECT_EQ(tally.set_aside(KinetoAside::NoTime), 2u);
  EXPECT_FALSE(read_times(at("1e30"), true, tally, times));
  EXPECT_FALSE(read_times(at("1", "7566917863418487.639"), true, tally, times));
  EXPECT_EQ(tally.set_aside(KinetoAside::FarTime), 2u);
  EXPECT_TRUE(read_times(at("1"), true, tally, times));
  EXPECT_EQ(tally.set_aside(KinetoAside::NoDuration), 1u);
  EXPECT_EQ(times.end_ns, 1000);
}

}  // namespace
}  // namespace prof::analyzer
