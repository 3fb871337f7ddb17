// What a prof and a process of different versions make of each other's requests.
#include "preload/format/control_words.h"

#include "preload/format/option_values.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string_view>

namespace prof::format {
namespace {

using option::HostRate;

TEST(ControlWords, ARequestHasItsNumberItsCommandAndItsRate) {
  for (const std::string_view text : {"off", "1", "99", "2000", "starved", "starved:2000"}) {
    HostRate rate;
    ASSERT_TRUE(HostRate::read(text, {}, rate)) << text;
    const uint32_t request = control_request(0xffff, ControlCommand::Samples, rate.word());
    EXPECT_EQ(number_of_request(request), 0xffffu);
    EXPECT_EQ(command_of_request(request), ControlCommand::Samples);
    EXPECT_EQ(HostRate::of_word(rate_of_request(request)), rate) << text;
  }
}

TEST(ControlWords, NumbersBeginAgainAndDifferFromTheLastOne) {
  const uint32_t last = control_request(0xffff, ControlCommand::Stop);
  EXPECT_NE(control_request(number_of_request(last) + 1, ControlCommand::Stop), last);
}

TEST(ControlWords, AStartOrStopOfVersion1IsReadAsSuch) {
  for (const uint32_t number : {1u, 15u, 255u, 256u, 0xffffffu}) {
    EXPECT_EQ(command_of_request(number << 8 | 1), ControlCommand::Start);
    EXPECT_EQ(command_of_request(number << 8 | 2), ControlCommand::Stop);
  }
}

TEST(ControlWords, AProcessOfVersion1ReadsAStartOrStopAsSuch) {
  const auto command_of_version_1 = [](uint32_t request) { return request & 0xff; };
  EXPECT_EQ(command_of_version_1(control_request(7, ControlCommand::Start)), 1u);
  EXPECT_EQ(command_of_version_1(control_request(7, ControlCommand::Stop)), 2u);
}

TEST(ControlWords, AProfOfVersion1SeesThatTheProcessListens) {
  ControlWords words{};
  words.version = kControlVersion;
  words.samples = 99;
  uint32_t version_of_version_1 = 0;
  __builtin_memcpy(&version_of_version_1, &words, sizeof version_of_version_1);
  EXPECT_NE(version_of_version_1, 0u);
  EXPECT_EQ(offsetof(ControlWords, request), 8u);
}

}  // namespace
}  // namespace prof::format
