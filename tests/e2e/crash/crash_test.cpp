// Does a log contain every record whose call had returned, however the process ended? Runs load_program.cpp under
// libprof.so on the simulated GPU, ends it at a random moment, reads the log as prof does, and compares it with the
// counts that the program kept in a file. Each thread's marks and launches must be there in their order, none missing
// and none wrong.
//   crash_test WAY COUNT [SEED]      WAY: kill, ring, live, or an END of load_program.cpp
// ring: killed while the log is a ring of 1 MiB that goes round: what a thread did last must be there, nothing missing
// between. live: that ring is read while it goes round, before it is killed: as it was when reading began, or later.
// oom: killed by the kernel, because its control group has no memory left; status 77 where no such group can be made.
// Half of the runs collect GPU times; there every launch must have its GPU record or be counted as pending.
#include "analyzer/input/importer.h"
#include "analyzer/input/log/log_decode.h"
#include "analyzer/input/log/log_health.h"
#include "analyzer/model/coverage.h"
#include "tests/e2e/crash/load.h"
#include "tests/e2e/crash/memory_group.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace prof::test {
namespace {

namespace fs = std::filesystem;
using analyzer::RecordPlace;

struct ThreadRecords {
  uint64_t thread = ~0ull;  // number of the load's thread, known from its first mark
  uint64_t marks = 0, launches = 0;
};

// The records of a log, and the contradictions in it.
struct Reading {
  static constexpr bool kSeldom = true;
  bool ring = false;                          // the first records of a thread are overwritten
  std::map<uint32_t, ThreadRecords> threads;  // by ordinal
  std::set<uint64_t> configs, labels, used_configs, used_labels;
  std::vector<std::string> wrong;

  void expect_defined(const char* what, const std::set<uint64_t>& used, const std::set<uint64_t>& defined) {
    for (const uint64_t id : used) {
      if (!defined.contains(id)) wrong.push_back(fmt::format("{} {} is not defined", what, id));
    }
  }
  void operator()(const format::NvtxMark& mark, RecordPlace place) {
    ThreadRecords& of = threads[place.block->thread];
    // A definition that arrives while the log is closed is refused and counted; the mark then contains its text itself.
    if (mark.label != format::LabelId{} || mark.text.empty()) used_labels.insert(format::as_u64(mark.label));
    if (of.thread == ~0ull) {
      of.thread = thread_of(mark.payload);
      if (ring) of.marks = of.launches = number_of(mark.payload);
    }
    if (mark.payload != payload_of(of.thread, of.marks) || of.launches != of.marks)
      wrong.push_back(fmt::format("mark {:x} after {} marks and {} launches", mark.payload, of.marks, of.launches));
    ++of.marks;
  }
  void operator()(const format::KernelLaunch& launch, RecordPlace place) {
    ThreadRecords& of = threads[place.block->thread];
    used_configs.insert(format::as_u64(launch.config));
    if (ring && of.thread == ~0ull) return;  // of the overwritten mark
    if (launch.result != 0 || of.marks != of.launches + 1)
      wrong.push_back(fmt::format("launch {} after {} marks", of.launches, of.marks));
    ++of.launches;
  }
  void operator()(const format::ConfigDef& config, RecordPlace) { configs.insert(format::as_u64(config.id)); }
  void operator()(const format::NvtxLabelDef& label, RecordPlace) { labels.insert(format::as_u64(label.id)); }
};

struct Totals {
  uint64_t runs = 0, before_the_log = 0, with_gpu_times = 0;
  uint64_t returned = 0, recorded = 0, missing = 0, counted = 0, misread = 0;
  uint64_t launches_with_gpu_time = 0, launches_pending = 0;
  uint64_t live = 0;    // how often a ring was read while it was written
  uint64_t rounds = 0;  // logs with overwritten records
};

class Counters {
 public:
  explicit Counters(const std::string& path) : path_(path) {
    const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || ftruncate(fd, kBytes) != 0) throw std::runtime_error(path + ": cannot be made");
    returned_ = static_cast<Returned*>(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
    close(fd);
  }
  ~Counters() { munmap(returned_, kBytes); }
  Counters(const Counters&) = delete;
  Counters& operator=(const Counters&) = delete;
  const Returned& of(uint64_t thread) const { return returned_[thread]; }
  bool any() const {
    for (unsigned t = 0; t < kLoadThreads; ++t) {
      if (of(t).marks.load(std::memory_order_acquire) != 0) return true;
    }
    return false;
  }

 private:
  static constexpr size_t kBytes = kLoadThreads * sizeof(Returned);
  std::string path_;
  Returned* returned_ = nullptr;
};

struct Programs {
  std::string load, libprof, sim;
};

pid_t start(const Programs& programs, const std::string& folder, bool gpu, bool ring, const MemoryGroup* group,
            const std::vector<std::string>& arguments) {
  const pid_t child = fork();
  if (child != 0) return child;
  if (group != nullptr && !group->enter()) _exit(95);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  const int quiet = open("/dev/null", O_WRONLY);
  dup2(quiet, STDERR_FILENO);
  setenv("LD_PRELOAD", programs.libprof.c_str(), 1);
  setenv("LD_LIBRARY_PATH", programs.sim.c_str(), 1);
  setenv("PROF_CUPTI", (programs.sim + "/libcupti.so.13").c_str(), 1);
  setenv("PROF_OUTPUT", folder.c_str(), 1);
  setenv("PROF_GPU", gpu ? "on" : "off", 1);
  setenv("PROF_FLUSH", "0.02", 1);
  setenv("SIM_CLOCK", "real", 1);
  if (ring) setenv("PROF_RING", "1M", 1);
  if (arguments[1] == "stop") setenv("PROF_START", "profiler", 1);
  std::vector<char*> argv{const_cast<char*>(programs.load.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  execv(argv[0], argv.data());
  _exit(96);
}

// Waits until a random moment of the process: sometimes during its start, otherwise under load.
void wait_and_kill(pid_t child, const Counters& counters, std::mt19937_64& random) {
  const bool early = random() % 10 == 0;
  for (int tries = 0; !early && !counters.any() && tries < 100'000; ++tries) usleep(100);
  usleep(static_cast<useconds_t>(random() % (early ? 15'000 : 40'000)));
  kill(child, SIGKILL);
}

// Waits until the log in that folder is a ring with overwritten records.
void wait_for_ring(const std::string& folder) {
  for (int tries = 0; tries < 3000; ++tries, usleep(10'000)) {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
      format::CounterPage page{};
      const int fd = entry.path().extension() == ".plog" ? open(entry.path().c_str(), O_RDONLY) : -1;
      if (fd < 0) continue;
      const bool read = pread(fd, &page, sizeof page, format::kCounterPageOffset) == static_cast<ssize_t>(sizeof page);
      close(fd);
      if (read && page.ring.blocks != 0) return;
    }
  }
}

// GPU times: every launch has one or is pending. If the process exits in order while its threads go on, each of them
// may be inside a launch at the moment when collecting ends.
void judge_gpu_times(const std::string& path, bool in_order, Totals& totals, Reading& reading) {
  const auto trace = analyzer::read_trace({path}, {.workers = 1, .progress = {}});
  analyzer::Coverage all;
  for (const analyzer::Process& process : trace->processes) all.add(process.coverage);
  const uint64_t pending = all.launches_without[static_cast<size_t>(analyzer::LaunchReason::Pending)];
  const uint64_t off = all.launches_without[static_cast<size_t>(analyzer::LaunchReason::NotCollected)];
  totals.launches_with_gpu_time += all.launches_with_gpu_time;
  totals.launches_pending += pending;
  const uint64_t gone = all.launches_without[static_cast<size_t>(analyzer::LaunchReason::Overwritten)];
  const uint64_t told = all.launches_with_gpu_time + pending + off + gone;
  if (told > all.launches || all.launches - told > (in_order ? kLoadThreads : 0))
    reading.wrong.push_back("launches that are neither timed nor pending: " + analyzer::coverage_line(*trace));
}

void judge(const std::string& path, const std::string& way, const Counters& counters, bool gpu, Totals& totals,
           Reading& reading) {
  const analyzer::LogOpenResult opened = analyzer::LogFile::open(path);
  if (!opened) {
    // Killed before the header was complete: no call of a thread can have returned.
    if (counters.any()) reading.wrong.push_back(opened.error.text(path));
    ++totals.before_the_log;
    return;
  }
  const analyzer::LogHealth health = analyzer::examine_log(*opened.log);
  totals.rounds += opened.log->counter_page().ring.blocks != 0 ? 1 : 0;
  for (const analyzer::Damage& damage : health.damage) reading.wrong.push_back(damage.what);
  for (const analyzer::BlockRef& block : opened.log->blocks()) decode_block(*opened.log, block, reading);
  uint64_t counted = opened.log->counter("after_exit").value_or(0);
  if (counted != 0) reading.used_configs.erase(0);  // its definition was refused while the log was closed
  reading.expect_defined("config", reading.used_configs, reading.configs);
  reading.expect_defined("label", reading.used_labels, reading.labels);
  // Calls that the recorder itself counted as refused: those of threads that go on while the process exits.
  totals.counted += counted;
  ThreadRecords recorded[kLoadThreads];
  for (const auto& [ordinal, records] : reading.threads) {
    if (records.thread < kLoadThreads) recorded[records.thread] = records;
  }
  const auto compare = [&](const char* what, uint64_t in_log, uint64_t made, uint64_t returned) {
    totals.returned += returned;
    totals.recorded += in_log;
    const uint64_t absent = returned > in_log ? returned - in_log : 0;
    const uint64_t known = std::min(absent, counted);
    counted -= known;
    totals.missing += absent - known;
    if (absent > known) reading.wrong.push_back(fmt::format("{} of {} {} are missing", absent - known, returned, what));
    if (in_log > made + 1) reading.wrong.push_back(fmt::format("{} {}, made {}", in_log, what, made));
  };
  const bool stopped = way == "stop";
  for (unsigned t = 0; t < kLoadThreads; ++t) {
    const Returned& of = counters.of(t);
    compare("marks", recorded[t].marks, of.marks, stopped ? of.marks_before_stop : of.marks);
    compare("launches", recorded[t].launches, of.launches, stopped ? of.launches_before_stop : of.launches);
  }
  const bool in_order = way == "exit" || way == "quick_exit" || way == "_exit" || way == "stop";
  if (gpu) judge_gpu_times(path, in_order, totals, reading);
}

// A ring is read while eight threads overwrite it: every call that had returned before is there.
void judge_live(const std::string& path, const Counters& counters, Totals& totals, Reading& all) {
  uint64_t marks[kLoadThreads], launches[kLoadThreads];
  for (unsigned t = 0; t < kLoadThreads; ++t) {
    launches[t] = counters.of(t).launches.load(std::memory_order_acquire);
    marks[t] = counters.of(t).marks.load(std::memory_order_acquire);
  }
  const analyzer::LogOpenResult opened = analyzer::LogFile::open(path);
  if (!opened) {
    // A ring as small as this one may wrap around while a busy machine copies it. That is reported.
    if (opened.error.what.find("written over faster") == std::string::npos)
      all.wrong.push_back(opened.error.text(path));
    return;
  }
  ++totals.live;
  totals.rounds += opened.log->counter_page().ring.blocks != 0 ? 1 : 0;
  Reading reading;
  reading.ring = true;
  for (const analyzer::Damage& damage : analyzer::examine_log(*opened.log).damage) reading.wrong.push_back(damage.what);
  for (const analyzer::BlockRef& block : opened.log->blocks()) decode_block(*opened.log, block, reading);
  reading.expect_defined("config", reading.used_configs, reading.configs);
  for (const auto& [ordinal, records] : reading.threads) {
    if (records.thread >= kLoadThreads) continue;
    totals.recorded += records.marks + records.launches;
    if (records.marks < marks[records.thread] || records.launches < launches[records.thread])
      reading.wrong.push_back(fmt::format("thread {}: {} marks and {} launches, had {} and {}", records.thread,
                                          records.marks, records.launches, marks[records.thread],
                                          launches[records.thread]));
  }
  all.wrong.insert(all.wrong.end(), reading.wrong.begin(), reading.wrong.end());
}

bool ended_as_meant(const std::string& way, int status) {
  const std::map<std::string, int> exits{{"_exit", 5}, {"quick_exit", 6}, {"exit", 7}, {"exec", 8}, {"stop", 9}};
  if (const auto found = exits.find(way); found != exits.end())
    return WIFEXITED(status) && WEXITSTATUS(status) == found->second;
  const int wanted = way == "kill" || way == "ring" || way == "live" || way == "oom" ? SIGKILL
                     : way == "segv"                                                 ? SIGSEGV
                                                                                     : SIGABRT;
  return WIFSIGNALED(status) && WTERMSIG(status) == wanted;
}

int run(const Programs& programs, const std::string& way, uint64_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  Totals totals;
  uint64_t bad = 0;
  constexpr uint64_t kGroupBytes = 96u << 20;
  const std::unique_ptr<const MemoryGroup> group = way == "oom" ? std::make_unique<MemoryGroup>(kGroupBytes) : nullptr;
  if (group != nullptr && !group->made()) {
    fmt::print("no control group with a limit of memory can be made here\n");
    return 77;
  }
  for (uint64_t i = 0; i < count; ++i) {
    const bool gpu = i % 2 == 1;
    std::string folder = (fs::temp_directory_path() / "prof-crash-XXXXXX").string();
    if (mkdtemp(folder.data()) == nullptr) return 2;
    const Counters counters(folder + "/counters");
    const bool live = way == "live", ring = live || way == "ring", killed = ring || way == "kill";
    const pid_t child = start(programs, folder, gpu, ring, group.get(),
                              {folder + "/counters", killed ? "run" : way, std::to_string(random() % 20'000)});
    Reading reading;
    reading.ring = ring;
    if (ring && i % 8 != 0) wait_for_ring(folder);  // otherwise at any earlier moment
    if (live) {
      for (int tries = 0; !counters.any() && tries < 100'000; ++tries) usleep(100);
      for (int reads = 0; reads < 4; ++reads) {
        usleep(static_cast<useconds_t>(random() % 20'000));
        for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
          if (entry.path().extension() == ".plog") judge_live(entry.path(), counters, totals, reading);
        }
      }
    }
    if (killed) wait_and_kill(child, counters, random);
    int status = 0;
    waitpid(child, &status, 0);
    if (!ended_as_meant(way, status)) reading.wrong.push_back(fmt::format("wait status {:x}", status));
    bool seen = false;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
      if (entry.path().extension() != ".plog") continue;
      if (seen) reading.wrong.push_back("a second log");
      seen = true;
      judge(entry.path(), way, counters, gpu, totals, reading);
    }
    if (!seen && counters.any()) reading.wrong.push_back("no log");
    if (!seen) ++totals.before_the_log;
    ++totals.runs;
    totals.with_gpu_times += gpu ? 1 : 0;
    totals.misread += reading.wrong.size();
    if (reading.wrong.empty()) {
      fs::remove_all(folder);
      continue;
    }
    ++bad;
    fmt::print("run {} ({}, GPU times {}), kept in {}:\n", i, way, gpu ? "on" : "off", folder);
    for (size_t w = 0; w < std::min<size_t>(reading.wrong.size(), 8); ++w) fmt::print("  {}\n", reading.wrong[w]);
  }
  fmt::print(
      "{}: {} runs, {} with GPU times, {} before the log began; calls returned {}, records {}, counted as refused {}, "
      "missing {}, misread {}; launches with GPU time {}, pending {}; seed {}\n",
      way, totals.runs, totals.with_gpu_times, totals.before_the_log, totals.returned, totals.recorded, totals.counted,
      totals.missing, totals.misread, totals.launches_with_gpu_time, totals.launches_pending, seed);
  if (totals.rounds != 0)
    fmt::print("rings that had been written over {}, read while written {}\n", totals.rounds, totals.live);
  if ((way == "ring" || way == "live") && (totals.rounds < count / 2 || (way == "live" && totals.live < count))) {
    fmt::print("too few rings went round to say anything\n");
    return 1;
  }
  // If too few calls returned, the runs prove nothing.
  if (totals.returned < 100 * count) {
    fmt::print("too few calls returned to say anything\n");
    return 1;
  }
  return bad == 0 ? 0 : 1;
}

}  // namespace
}  // namespace prof::test

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "usage: crash_test WAY COUNT [SEED]\n");
    return 2;
  }
  const uint64_t seed = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : std::random_device()();
  return prof::test::run({PROF_LOAD_PROGRAM, PROF_LIBRARY_FILE, PROF_SIM_FOLDER}, argv[1],
                         std::strtoull(argv[2], nullptr, 10), seed);
}
