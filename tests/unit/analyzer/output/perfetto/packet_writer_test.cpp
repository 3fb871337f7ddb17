// What do slices, instants and counters become, and in which order? The packets are read back with protozero.
#include "analyzer/output/perfetto/packet_writer.h"

#include "analyzer/output/perfetto/perfetto_fields.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <protozero/pbf_reader.hpp>

#include <algorithm>
#include <functional>
#include <map>

namespace prof::analyzer {
namespace {

namespace field = perfetto;

// Every event as "begin 10 on 2": its type, its absolute time and its track.
std::vector<std::string> events_of(const std::string& text) {
  constexpr const char* kTypes[] = {"?", "begin", "end", "instant", "counter"};
  std::vector<std::string> events;
  std::map<std::pair<uint64_t, uint64_t>, int64_t> clocks;  // by sequence and clock
  std::map<uint64_t, std::pair<uint64_t, uint64_t>> defaults;
  protozero::pbf_reader trace(text);
  while (trace.next(field::trace::kPacket)) {
    protozero::pbf_reader packet = trace.get_message();
    uint64_t sequence = 0, clock = 0, time = 0, track = 0, type = 0;
    bool is_event = false;
    while (packet.next()) {
      switch (packet.tag()) {
        case field::packet::kTimestamp: time = packet.get_uint64(); break;
        case field::packet::kSequence: sequence = packet.get_uint32(); break;
        case field::packet::kClock: clock = packet.get_uint32(); break;
        case field::packet::kDefaults: {
          protozero::pbf_reader all = packet.get_message();
          while (all.next()) {
            if (all.tag() == field::defaults::kClock) {
              defaults[sequence].second = all.get_uint32();
            } else {
              protozero::pbf_reader of_event = all.get_message();
              while (of_event.next(field::defaults::kTrack)) defaults[sequence].first = of_event.get_uint64();
            }
          }
          break;
        }
        case field::packet::kTrackEvent: {
          is_event = true;
          protozero::pbf_reader event = packet.get_message();
          while (event.next()) {
            if (event.tag() == field::event::kType) {
              type = event.get_uint32();
            } else if (event.tag() == field::event::kTrack) {
              track = event.get_uint64();
            } else {
              event.skip();
            }
          }
          break;
        }
        default: packet.skip();
      }
    }
    if (!is_event) continue;
    if (clock == 0) clock = defaults[sequence].second;
    if (track == 0) track = defaults[sequence].first;
    auto now = static_cast<int64_t>(time);
    if (clock >= field::snapshot::kFirstOwnClock) now = clocks[{sequence, clock}] += now;
    events.push_back(fmt::format("{} {} on {}", kTypes[type], now, track));
  }
  return events;
}

std::string written(const std::function<void(PacketWriter&)>& write) {
  std::string text;
  Sink sink(&text);
  PacketWriter packets(sink);
  write(packets);
  packets.finish();
  sink.close();
  return text;
}

using Written = std::vector<std::string>;

TEST(PacketWriter, EndsComeBeforeBeginsOfTheSameMomentAndInnerEndsBeforeOuterOnes) {
  const std::string text = written([](PacketWriter& packets) {
    const auto track = packets.add_track(0, "a", 0);
    packets.slice(track, 0, 10, {});
    packets.slice(track, 0, 4, {});
    packets.slice(track, 4, 10, {});
    packets.slice(track, 10, 10, {});
    packets.slice(track, 10, 12, {});
  });
  EXPECT_EQ(events_of(text), (Written{"begin 0 on 1", "begin 0 on 1", "end 4 on 1", "begin 4 on 1", "end 10 on 1",
                                      "end 10 on 1", "begin 10 on 1", "end 10 on 1", "begin 10 on 1", "end 12 on 1"}));
}

TEST(PacketWriter, ASliceThatDoesNotNestOrComesTooLateIsOnAnExtraLane) {
  const std::string text = written([](PacketWriter& packets) {
    const auto track = packets.add_track(0, "a", 0);
    packets.slice(track, 0, 10, {});
    packets.slice(track, 5, 15, {});
    packets.slice(track, 20, 30, {});
    packets.slice(track, 2, 4, {});
  });
  EXPECT_EQ(events_of(text), (Written{"begin 0 on 1", "begin 5 on 2", "end 10 on 1", "begin 20 on 1", "begin 2 on 3",
                                      "end 30 on 1", "end 15 on 2", "end 4 on 3"}));
}

TEST(PacketWriter, ManyEventsOfATrackMakeItTheDefaultAndTimesStayExact) {
  Written wanted;
  const std::string text = written([&](PacketWriter& packets) {
    const auto a = packets.add_track(0, "a", 0), b = packets.add_track(0, "b", 0);
    for (const auto track : {a, b, a}) {
      for (int64_t i = 0; i < 20; ++i) {
        const int64_t time = (track == b ? 500 : 0) + (wanted.size() >= 80 ? 7'000'000'000 : 0) + i * 10;
        packets.slice(track, time, time + 3, {});
        wanted.push_back(fmt::format("begin {} on {}", time, track));
        wanted.push_back(fmt::format("end {} on {}", time + 3, track));
      }
    }
  });
  Written got = events_of(text);
  std::sort(got.begin(), got.end());
  std::sort(wanted.begin(), wanted.end());
  EXPECT_EQ(got, wanted);
  EXPECT_LT(text.size(), wanted.size() * 13) << "bytes a packet";
}

TEST(PacketWriter, WithoutFreeClocksAndForEventsOutOfOrderTimesAreAbsolute) {
  Written wanted;
  const std::string text = written([&](PacketWriter& packets) {
    for (int64_t i = 0; i < 100; ++i) {
      const auto track = packets.add_track(0, "a", 0);
      packets.slice(track, 1000 + i, 2000 + i, {});
      packets.instant(track, 700, {});
      packets.instant(track, 600, {});
      for (const std::string_view what : {"begin {} on {}", "end {} on {}", "instant {} on {}", "instant {} on {}"}) {
        const bool begin = what[0] == 'b', end = what[0] == 'e';
        wanted.push_back(fmt::format(fmt::runtime(what), begin ? 1000 + i : end ? 2000 + i : 700, track));
      }
      wanted.back() = fmt::format("instant 600 on {}", track);
    }
  });
  Written got = events_of(text);
  std::sort(got.begin(), got.end());
  std::sort(wanted.begin(), wanted.end());
  EXPECT_EQ(got, wanted);
}

TEST(PacketWriter, ACounterIsASequenceOfItsOwn) {
  const std::string text = written([](PacketWriter& packets) {
    const auto counter = packets.add_counter(0, "busy", "%");
    packets.count(counter, 100, 7);
    packets.real(counter, 150, 0.5);
    packets.count(counter, 120, 8);
  });
  EXPECT_EQ(events_of(text), (Written{"counter 100 on 1", "counter 150 on 1", "counter 120 on 1"}));
}

}  // namespace
}  // namespace prof::analyzer
