// A flight recorder's log: which blocks may be missing, which records are before the horizon, and how a changing ring
// is copied.
#include "analyzer/base/input_error.h"
#include "analyzer/input/log/build/builder.h"
#include "analyzer/input/log/ring_copy.h"
#include "analyzer/model/coverage.h"
#include "tests/golden/undump_log.h"
#include "tests/unit/analyzer/log_builder.h"

#include <gtest/gtest.h>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <sstream>

namespace prof::tests {
namespace {

using analyzer::DamageKind;
using analyzer::LogFile;

// Blocks 0 … count − 1 of a thread, one call in each. All but the last are sealed; block n is sealed at 1,000 × (n
// + 1).
LogBuilder ring_of(uint32_t thread, uint64_t count, uint64_t horizon) {
  LogBuilder log;
  log.page.ring.bytes = 1 << 20;
  log.page.ring.horizon_tick = horizon;
  for (uint64_t n = 0; n < count; ++n) {
    format::ApiCall call;
    call.end = 1000 * n + 500;
    call.duration = 100;
    call.object = n;
    log.add(thread, call);
    if (n + 1 == count) break;
    log.blocks.back().header.in_call_tick = 1000 * (n + 1);
    log.seal(thread);
  }
  return log;
}

std::vector<uint64_t> sequences(const LogFile& log) {
  std::vector<uint64_t> out;
  for (const analyzer::BlockRef& block : log.blocks()) out.push_back(block.sequence);
  return out;
}

class TempFile {
 public:
  explicit TempFile(const std::vector<uint8_t>& bytes) : fd_(memfd_create("ring", MFD_CLOEXEC)) {
    EXPECT_EQ(write(fd_, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  ~TempFile() { close(fd_); }
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;
  int fd() const { return fd_; }

 private:
  int fd_;
};

TEST(RingLog, MayLackTheFirstBlocksOfAThread) {
  LogBuilder log = ring_of(1, 5, 2000);
  log.blocks.erase(log.blocks.begin(), log.blocks.begin() + 2);
  const auto read = log.open_log();
  EXPECT_TRUE(read->damage().empty());
  EXPECT_EQ(sequences(*read), (std::vector<uint64_t>{2, 3, 4}));
  log.page.ring = {};
  ASSERT_EQ(log.open_log()->damage().size(), 1u) << "in any other log they are missing";
  EXPECT_EQ(log.open_log()->damage()[0].kind, DamageKind::MissingBlocks);
}

TEST(RingLog, LacksABlockOnlyBehindOneThatIsBeforeTheHorizon) {
  LogBuilder log = ring_of(1, 5, 2000);
  log.blocks.erase(log.blocks.begin() + 1);  // 0 was sealed at 1,000, 1 at 2,000: after a kill only 0 remained
  auto read = log.open_log();
  EXPECT_TRUE(read->damage().empty());
  EXPECT_EQ(sequences(*read), (std::vector<uint64_t>{2, 3, 4}));
  log = ring_of(1, 5, 2000);
  log.blocks.erase(log.blocks.begin() + 3);  // 2 was sealed at 3,000
  read = log.open_log();
  ASSERT_EQ(read->damage().size(), 1u);
  EXPECT_EQ(read->damage()[0].kind, DamageKind::MissingBlocks);
}

TEST(RingLog, DefinitionsAreNeverMissing) {
  LogBuilder log = ring_of(1, 2, 2000);
  format::ApiDef api;
  api.name = "cuInit";
  log.define(api);
  log.blocks.back().header.sequence = 1;
  ASSERT_EQ(log.open_log()->damage().size(), 1u);
}

TEST(RingLog, ABlockThatWasAboutToBeUsedAgainHoldsNothing) {
  LogBuilder log = ring_of(1, 4, 1000);
  log.blocks[0].header.magic = format::kBlockGoneMagic;
  const auto read = log.open_log();
  EXPECT_TRUE(read->damage().empty());
  EXPECT_EQ(read->unused_blocks(), 1u);
  EXPECT_EQ(sequences(*read), (std::vector<uint64_t>{1, 2, 3}));
  log.page.ring = {};
  EXPECT_EQ(log.open_log()->damage()[0].kind, DamageKind::BadMagic);
}

std::unique_ptr<analyzer::Trace> model_of_ring(LogBuilder log) {
  std::vector<std::unique_ptr<LogFile>> logs;
  logs.push_back(log.open_log());
  return analyzer::build_trace(std::move(logs));
}

using Changes = std::vector<std::pair<std::string, std::string>>;

// A log of tests/golden/check_ring with some texts replaced.
std::vector<uint8_t> golden(const std::string& name, const Changes& changes) {
  std::ifstream stream(std::string(PROF_SOURCE_DIR) + "/tests/golden/check_ring/" + name + ".log.txt");
  std::ostringstream read;
  read << stream.rdbuf();
  std::string text = read.str();
  for (const auto& [from, to] : changes) {
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    if (at != std::string::npos) text.replace(at, from.size(), to);
  }
  std::vector<uint8_t> whole;
  EXPECT_EQ(undump_log(text, whole), "");
  EXPECT_GT(whole.size(), format::kBlocksOffset);
  return whole;
}

std::string coverage_of(const std::string& name, const Changes& changes) {
  std::vector<std::unique_ptr<LogFile>> logs;
  logs.push_back(LogFile::from_memory(golden(name, changes), name).log);
  const std::string line = coverage_line(*analyzer::build_trace(std::move(logs)));
  const std::string head = "coverage: ";
  EXPECT_EQ(line.substr(0, head.size()), head);
  return line.substr(head.size(), line.find("; lost") - head.size());
}

TEST(RingLog, ALaunchThatWasLongUnderWayDoesNotMakeOthersInternal) {
  // 12 entered the driver before 16 and returned after the horizon. 16 had returned before the horizon.
  EXPECT_EQ(
      coverage_of("ring",
                  {{"1998000:18", "1998000:12"},
                   {"start=1999000 duration=3000 correlation=16", "start=2006000 duration=3000 correlation=16"}}),
      "launches 3, with GPU time 2 (GPU record overwritten 1); GPU operations 3, with launch 2, launch overwritten 1");
}

TEST(RingLog, AnOperationWhoseCallWasOnItsWayIsNotInternal) {
  const Changes later = {{" 2050500:20", ""}};  // the last launch's
  const std::string pending =
      "launches 3, with GPU time 1 (GPU record overwritten 1, pending 1); GPU operations 3, with launch 1, launch "
      "overwritten 1, call pending 1";
  EXPECT_EQ(coverage_of("copy", later), pending);
  Changes killed = later;
  killed.push_back({"page finished=9000000\n", ""});
  EXPECT_EQ(coverage_of("ring", killed), pending);
  EXPECT_NE(coverage_of("ring", later).find("internal 1"), std::string::npos)
      << "of a recording that was closed nothing is on its way";
  const Changes early = {{" 2050500:20", ""}, {"start=2053000", "start=2030000"}};
  EXPECT_NE(coverage_of("copy", early).find("internal 1"), std::string::npos) << "it began before that launch";
}

TEST(RingLog, IsShownFromItsHorizonOn) {
  const auto trace = model_of_ring(ring_of(1, 5, 2400));  // calls from 400 to 500, 1,400 to 1,500, 2,400 to 2,500 …
  ASSERT_EQ(trace->host.size(), 3u);
  EXPECT_EQ(trace->host[0].begin_ns, 0);
  EXPECT_EQ(trace->host[0].end_ns, 100);
  EXPECT_EQ(trace->processes[0].coverage.before_horizon, 2u);
  const auto cut = model_of_ring(ring_of(1, 5, 2450));
  EXPECT_EQ(cut->host[0].begin_ns, 0) << "the call that was under way begins with it";
  EXPECT_EQ(cut->host[0].end_ns, 50);
}

TEST(RingLog, KeepsNamesAndOriginsOfGraphsAmongItsDefinitions) {
  LogBuilder log = ring_of(1, 5, 2000);
  log.blocks.erase(log.blocks.begin(), log.blocks.begin() + 2);
  format::ResourceName name;
  name.time = 10;
  name.what = format::NamedKind::Event;
  name.object = 0x77;
  name.name = "ready";
  log.define(name);
  // The thread that captured has no other record.
  log.define(format::ThreadDef{format::ThreadOrdinal{9}, 4711, 20, "capturer"}, 9);
  log.define(format::GraphNode{30, 0, uint64_t{7} << 32 | 1, {}, {}}, 9);
  log.define(format::GraphMade{40, format::GraphOrigin::Instantiated, 8, 7, 0, 0}, 9);
  std::vector<std::unique_ptr<LogFile>> logs;
  logs.push_back(log.open_log());
  const auto trace = analyzer::build_trace(std::move(logs), {});
  ASSERT_EQ(trace->given_names.size(), 1u);
  EXPECT_EQ(trace->text(trace->given_names[0].name), "ready");
  ASSERT_EQ(trace->graph_nodes.size(), 1u);
  EXPECT_EQ(trace->graph_nodes[0].node, uint64_t{7} << 32 | 1);
  EXPECT_EQ(trace->graph_nodes[0].call, analyzer::kNone) << "the call itself was overwritten";
  EXPECT_EQ(trace->thread(trace->graph_nodes[0].thread).tid, 4711u);
  EXPECT_EQ(trace->thread(trace->graph_nodes[0].thread).name, "capturer");
  ASSERT_EQ(trace->graphs_made.size(), 1u);
  EXPECT_EQ(trace->graphs_made[0].from, 7u);
  EXPECT_TRUE(trace->processes[0].damage.empty());
}

TEST(RingLog, KeepsWhatTiesClocksOfTheProgramToItsOwnAmongItsDefinitions) {
  LogBuilder log = ring_of(1, 5, 2000);
  const auto own = format::StampClock::kFirstProgramClock;
  format::NvtxDeferred mark;
  mark.time = 4700;
  mark.style = 2;
  mark.clock = own;
  mark.begin = 1500;
  mark.text = "by a clock of its own";
  log.add(1, mark);
  log.blocks.erase(log.blocks.begin(), log.blocks.begin() + 2);
  log.define(format::NvtxClockDef{own, {}, 1 << 24, 0, 0, 0, 0, 0});
  log.define(format::NvtxSyncPoint{10, own, format::StampClock::Tick, 0, 1000, 0});
  log.define(format::NvtxSyncPoint{20, own, format::StampClock::Tick, 1000, 3000, 0});
  std::vector<std::unique_ptr<LogFile>> logs;
  logs.push_back(log.open_log());
  const auto trace = analyzer::build_trace(std::move(logs), {});
  ASSERT_EQ(trace->marks.size(), 1u);
  EXPECT_EQ(trace->marks[0].begin_ns, 4000 - 2000) << "from the horizon on";
  EXPECT_EQ(trace->processes[0].nvtx_times_unknown, 0u);
}

TEST(RingLog, ACopyIsAWholeLogMarkedAsOne) {
  const TempFile file(ring_of(1, 5, 0).bytes());
  std::vector<uint8_t> copy;
  std::string why;
  ASSERT_TRUE(analyzer::copy_ring(file.fd(), copy, why)) << why;
  const analyzer::LogOpenResult opened = LogFile::from_memory(analyzer::as_closed_log(copy, 77), "copy");
  ASSERT_TRUE(opened);
  EXPECT_TRUE(opened.log->damage().empty());
  EXPECT_EQ(sequences(*opened.log), (std::vector<uint64_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(opened.log->counter_page().finished, 77u);
  EXPECT_EQ(opened.log->counter_page().ring.copied_ns, 77u);
}

// Blocks of a copy are read one after another. Changes of the ring in the meantime appear as gaps.
TEST(RingLog, ACopyHoldsOneRunOfEachThread) {
  const auto copied = [](LogBuilder log) {
    const TempFile file(log.bytes());
    std::vector<uint8_t> copy;
    std::string why;
    EXPECT_TRUE(analyzer::copy_ring(file.fd(), copy, why)) << why;
    return sequences(*LogFile::from_memory(analyzer::as_closed_log(copy, 1), "copy").log);
  };
  LogBuilder overwritten = ring_of(1, 6, 2000);  // 0 was read before it and 1 were reused
  overwritten.blocks.erase(overwritten.blocks.begin() + 1);
  EXPECT_EQ(copied(overwritten), (std::vector<uint64_t>{2, 3, 4, 5}));
  LogBuilder late = ring_of(1, 6, 2000);  // 4 was opened at a place that had already been read
  late.blocks.erase(late.blocks.begin() + 4);
  EXPECT_EQ(copied(late), (std::vector<uint64_t>{0, 1, 2, 3}));
  LogBuilder open = ring_of(1, 6, 2000);  // 2 was open when it was read, and has grown since
  open.blocks[2].header.flags = 0;
  std::fill_n(open.blocks[2].header.crc, 4, 0u);
  EXPECT_EQ(copied(open), (std::vector<uint64_t>{0, 1, 2}));
}

TEST(RingLog, ACopyLeavesOutWhatIsBehindTheCommitOfAnOpenBlock) {
  LogBuilder log = ring_of(1, 1, 0);
  log.blocks[0].payload[format::kPayloadBytes - 1] = 7;
  const TempFile file(log.bytes());
  std::vector<uint8_t> copy;
  std::string why;
  ASSERT_TRUE(analyzer::copy_ring(file.fd(), copy, why)) << why;
  EXPECT_EQ(copy.back(), 0);
}

TEST(RingLog, OfAFileThatIsTooShortThereIsNoCopy) {
  const TempFile file({1, 2, 3});
  std::vector<uint8_t> copy;
  std::string why;
  EXPECT_FALSE(analyzer::copy_ring(file.fd(), copy, why));
  EXPECT_NE(why, "");
}

// Reads and copies a ring with arbitrary bytes and builds a model of it: no crash, and no row that the log does not
// contain.
std::vector<uint8_t> golden_ring() { return golden("ring", {}); }

TEST(RingLog, AHorizonThatIsNoTimeIsSaidAndNotBelieved) {
  std::vector<uint8_t> bytes = golden_ring();
  const uint64_t never = INT64_MAX;
  std::memcpy(bytes.data() + format::kCounterPageOffset + offsetof(format::CounterPage, ring) +
                  offsetof(format::RingWords, horizon_tick),
              &never, sizeof never);
  std::vector<std::unique_ptr<LogFile>> logs;
  logs.push_back(LogFile::from_memory(bytes, "hostile").log);
  const auto trace = analyzer::build_trace(std::move(logs), {.workers = 1, .progress = {}});
  ASSERT_EQ(trace->processes.size(), 1u);
  const std::vector<std::string>& damage = trace->processes[0].damage;
  EXPECT_TRUE(std::any_of(damage.begin(), damage.end(),
                          [](const std::string& text) { return text.find("is no time") != std::string::npos; }));
  EXPECT_FALSE(trace->host.empty()) << "what is there is shown";
}

TEST(RingLog, AnyByteOfItMayBeAnything) {
  const std::vector<uint8_t> whole = golden_ring();
  std::mt19937_64 random(20261122);
  uint64_t built = 0;
  for (int round = 0; round < 3000; ++round) {
    std::vector<uint8_t> bytes = whole;
    for (uint64_t changes = 1 + random() % 6; changes != 0; --changes) {
      // The counter page's words, block headers, records; single bytes and whole words.
      const uint64_t block = format::kBlocksOffset + random() % 5 * format::kBlockBytes;
      const uint64_t at = random() % 3 == 0   ? format::kCounterPageOffset + random() % 96
                          : random() % 2 == 0 ? block + random() % 64
                                              : block + random() % 400;
      const uint64_t value = random() % 2 == 0 ? random() : ~uint64_t{0} >> (random() % 64);
      std::memcpy(bytes.data() + at, &value, random() % 2 == 0 ? 1 : 8);
    }
    {
      const TempFile file(bytes);
      std::vector<uint8_t> copy;
      std::string why;
      analyzer::copy_ring(file.fd(), copy, why);
    }
    std::vector<std::unique_ptr<LogFile>> logs;
    logs.push_back(LogFile::from_memory(bytes, "hostile").log);
    if (logs.back() == nullptr) continue;
    try {
      const auto trace = analyzer::build_trace(std::move(logs), {.workers = 1, .progress = {}});
      ++built;
      EXPECT_LE(trace->host.size(), 400u);
      EXPECT_FALSE(coverage_line(*trace).empty());
    } catch (const analyzer::InputError&) {}
  }
  EXPECT_GT(built, 1000u);
}

}  // namespace
}  // namespace prof::tests
