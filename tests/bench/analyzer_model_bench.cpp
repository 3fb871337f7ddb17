// How fast logs become a model, and a model a trace. Uses a synthetic log made with the recorder's own codec: four
// threads launch on their own streams, every launch has its GPU record and its driver call, every eighth is inside an
// NVTX range.
//
//   analyzer_model_bench [LAUNCHES]     prints records/s decoded and into the model, bytes per event at the peak, JSON
//                                       records/s, each with its limit on two cores; status 1 if a limit is missed
//   analyzer_model_bench --make FILE LAUNCHES [STACKS [gaps]]   only makes the log; with so many different call stacks
//                                                        in turn; with kernels so short that the GPU is idle after each
//   analyzer_model_bench --model FILE [ROUNDS]   only decodes an existing log and builds the model: for profilers
#include "analyzer/base/parallel.h"
#include "analyzer/input/log/build/builder.h"
#include "analyzer/input/log/log_decode.h"
#include "analyzer/input/log/log_file.h"
#include "analyzer/output/chrome/chrome_trace.h"
#include "tests/bench/limits.h"
#include "tests/unit/analyzer/log_builder.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

namespace {

using namespace prof;

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

uint64_t peak_bytes() {
  struct rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

// Of all threads of the process. A loaded machine does not distort it.
double cpu_seconds() {
  struct rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

constexpr uint32_t kThreads = 4;

// With two cores for the first two, one core for JSON, and one core plus a second thread that compresses for gzip.
constexpr double kMinDecode = 60, kMinModel = 20, kMinJson = 2.5, kMinGz = 2,
                 kMinPerfetto = 5;  // million records per second
// bytes of memory per event, beyond the log itself
constexpr double kMaxBytes = 64;

// Stacks of 24 native and 16 Python frames, whose outer half is the same; no file with symbols exists.
void define_stacks(tests::LogBuilder& log, uint32_t stacks) {
  constexpr uint32_t kNative = 24, kPython = 16;
  constexpr uint64_t kBase = 0x7f0000000000;
  log.define(format::StringPart{format::StringId{3}, 16, 0, "/opt/libbench.so"});
  log.define(format::StringPart{format::StringId{4}, 9, 0, "model.py "});
  log.define(format::StringPart{format::StringId{5}, 7, 0, "forward"});
  format::ImageDef image;
  image.id = format::ImageId{1}, image.base = image.begin = kBase, image.end = kBase + (1 << 24);
  image.path = format::StringId{3};
  log.define(image);
  for (uint32_t f = 1; f <= 4096; ++f) {
    format::PythonFrameDef frame;
    frame.id = format::PythonFrameId{f}, frame.file = format::StringId{4}, frame.function = format::StringId{5};
    frame.line = f;
    log.define(frame);
  }
  for (uint32_t i = 1; i <= stacks; ++i) {
    std::vector<uint64_t> native, python;
    for (uint32_t f = 0; f < kNative; ++f)
      native.push_back(kBase + 16 * (f < kNative / 2 ? 1 + (uint64_t{i} * 31 + f * 977) % 50'000 : 60'000 + f));
    for (uint32_t f = 0; f < kPython; ++f) {
      const uint32_t frame = f < kPython / 2 ? 1 + (i * 7 + f * 131) % 4000 : 4001 + f;
      python.push_back(format::python_frame_word(frame, f + 1 == kPython));
    }
    format::StackDef stack;
    stack.id = format::StackId{i};
    stack.native = {native.data(), nullptr, kNative}, stack.python = {python.data(), nullptr, kPython};
    log.define(stack);
  }
}

void write_log(const std::string& path, uint32_t launches, uint32_t stacks = 0, bool gaps = false) {
  tests::LogBuilder log;
  log.header.pid = 1234;
  log.header.start_tick = log.header.start_monotonic_ns = 1'000'000;
  log.header.start_realtime_ns = 1'700'000'000'000'000'000;
  log.define(format::GpuClock{0, 0, 1, 0});
  log.define(format::DeviceDef{0, "NVIDIA H200", "00112233445566778899aabbccddeeff"});
  log.define(format::DeviceProperty{0, "numSms", 132});
  log.define(format::ApiDef{format::ApiId{1}, "cuLaunchKernel"});
  log.define(format::ContextDef{format::ContextId{1}, 1, 0, 1});
  const std::string_view name = "_ZN2at6native29vectorized_elementwise_kernelILi4EEEvifi";
  log.define(format::StringPart{format::StringId{1}, name.size(), 0, name});
  log.define(format::StringPart{format::StringId{2}, 4, 0, "step"});
  log.define(format::NvtxLabelDef{format::LabelId{1}, {}, format::StringId{2}, 0, 0, 0});
  log.define(format::FunctionDef{format::FunctionId{1}, format::StringId{1}, format::ModuleId{1}, 4096, 0});
  for (uint32_t i = 1; i <= 32; ++i) {
    format::ConfigDef config;
    config.id = format::ConfigId{i}, config.api = format::ApiId{1}, config.function = format::FunctionId{1};
    config.grid[0] = 100 * i, config.block[0] = 128,
    config.grid[1] = config.grid[2] = config.block[1] = config.block[2] = 1;
    log.define(config);
    format::GpuKernelDef kernel;
    kernel.id = format::GpuKernelId{i}, kernel.name = format::StringId{1}, kernel.registers = 32;
    kernel.grid[0] = 100 * i, kernel.block[0] = 128,
    kernel.grid[1] = kernel.grid[2] = kernel.block[1] = kernel.block[2] = 1;
    log.define(kernel);
  }
  for (uint32_t t = 1; t <= kThreads; ++t) {
    format::StreamDef stream;
    stream.id = format::StreamId{t}, stream.context = format::ContextId{1}, stream.gpu_stream = 7 + t;
    stream.type = format::StreamType::Created;
    log.define(stream);
    log.define(format::GpuStreamDef{format::GpuStreamId{t}, 0, 1, 6 + t});
    log.add(t, format::ThreadDef{format::ThreadOrdinal{t}, 1233 + t, 1'000'000, "worker"});
  }
  if (stacks != 0) define_stacks(log, stacks);
  std::vector<format::CallPair> pairs[kThreads];
  for (uint32_t i = 0; i < launches; ++i) {
    const uint32_t t = i % kThreads;
    const uint64_t begin = 1'000'000 + uint64_t{i} * 700;
    const uint32_t kind = i / kThreads % 32 + 1;
    if (i / kThreads % 8 == 0) log.add(t + 1, format::NvtxPush{begin, format::LabelId{1}, 0, 0, {}});
    format::KernelLaunch launch;
    launch.end = begin + 600, launch.duration = 550, launch.config = format::ConfigId{kind};
    launch.stream = format::StreamId{t + 1}, launch.depth = i % 5;
    if (stacks != 0) launch.stack = format::StackId{i / kThreads % stacks + 1};
    log.add(t + 1, launch);
    if (i / kThreads % 8 == 7) log.add(t + 1, format::NvtxPop{begin + 650, {}});
    format::KernelRun run;
    run.start = begin + 3000 + i % 100, run.duration = (gaps ? 300 : 2000) + i % 300, run.correlation = i + 1;
    run.stream = format::GpuStreamId{t + 1}, run.kernel = format::GpuKernelId{kind};
    log.add(9, run);
    pairs[t].push_back({begin + 200, i + 1});
    if (pairs[t].size() == format::kMaxCallPairs || i + kThreads >= launches) {
      log.add(9, format::DriverCalls{1234 + t, {pairs[t].data(), static_cast<uint32_t>(pairs[t].size())}});
      pairs[t].clear();
    }
  }
  log.seal_all();
  const std::vector<uint8_t> bytes = log.bytes();
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

template <class Write>
double write_rate(Write& write, const analyzer::Trace& trace, const analyzer::Views& views, const std::string& to,
                  uint64_t& events, double& cpu) {
  const auto begin = std::chrono::steady_clock::now();
  cpu = cpu_seconds();
  analyzer::Sink sink(to, 1);
  events = write(trace, views, {false, "bench", {}, nullptr}, sink).events;
  sink.close();
  cpu = 1e9 * (cpu_seconds() - cpu) / static_cast<double>(events);
  return static_cast<double>(events) / seconds_since(begin) / 1e6;
}

// The sizes of both forms of a trace, each plain and compressed.
void print_sizes(const analyzer::Trace& trace, const analyzer::Views& views, const std::string& path) {
  for (const std::string compressed : {"", ".gz"}) {
    double bytes[2] = {};
    for (const bool perfetto : {false, true}) {
      const std::string to = path + (perfetto ? ".pftrace" : ".json") + compressed;
      uint64_t events = 0;
      double cpu = 0;
      write_rate(perfetto ? analyzer::write_perfetto_trace : analyzer::write_chrome_trace, trace, views, to, events,
                 cpu);
      bytes[perfetto ? 1 : 0] = static_cast<double>(std::filesystem::file_size(to));
      std::remove(to.c_str());
    }
    std::printf("JSON%-4s %.1f MB, Perfetto%-4s %.1f MB: %.2f times smaller\n", compressed.c_str(), bytes[0] / 1e6,
                compressed.c_str(), bytes[1] / 1e6, bytes[0] / bytes[1]);
  }
}

// Wall and CPU time of one step, over all rounds.
struct Times {
  std::vector<double> wall, cpu;
  template <class F> void measure(F&& f) {
    const auto begin = std::chrono::steady_clock::now();
    const double before = cpu_seconds();
    f();
    cpu.push_back(cpu_seconds() - before);
    wall.push_back(seconds_since(begin));
  }
  static double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
  }
  double rate(double records) const { return records / median(wall) / 1e6; }
  void print(const char* what, double records) const {
    const double w = median(wall), c = median(cpu);
    std::printf("%-19s %.3f s  %.1f M records/s; CPU time %.3f s, %.1f ns a record over all cores\n", what, w,
                rate(records), c, 1e9 * c / records);
  }
};

// Reads every record and one field of each, so that the compiler does not remove the fields.
struct SumTimes {
  uint64_t sum = 0;
  template <class T> void operator()(const T& r, analyzer::RecordPlace) {
    if constexpr (requires { r.end + r.duration; }) sum += r.end + r.duration;
    if constexpr (requires { r.start + r.correlation; }) sum += r.start + r.duration + r.correlation;
    if constexpr (requires { r.calls.count; }) sum += r.calls.count;
  }
};

uint64_t decode_all(const analyzer::LogFile& log) {
  constexpr size_t kBlocksPerTask = 256;
  const std::vector<analyzer::BlockRef>& blocks = log.blocks();
  std::atomic<uint64_t> total{0};
  analyzer::parallel_for((blocks.size() + kBlocksPerTask - 1) / kBlocksPerTask, [&](size_t task) {
    SumTimes handler;
    for (size_t i = task * kBlocksPerTask; i < std::min(blocks.size(), (task + 1) * kBlocksPerTask); ++i) {
      analyzer::decode_block(log, blocks[i], handler);
    }
    total += handler.sum;
  });
  return total;
}

double load_average() {
  double load = 0;
  return getloadavg(&load, 1) == 1 ? load : 0;
}

// Medians over `rounds`; the peak memory is that of the first.
int run(const std::string& path, int rounds, bool with_json) {
  Times open, decode, build;
  std::unique_ptr<analyzer::Trace> trace;
  analyzer::BuildStatistics statistics;
  uint64_t log_bytes = 0, sum = 0, peak = 0;
  const uint64_t before = peak_bytes();
  for (int round = 0; round < rounds; ++round) {
    trace.reset();
    statistics = {};
    std::vector<std::unique_ptr<analyzer::LogFile>> logs;
    open.measure([&] { logs.push_back(analyzer::LogFile::open(path).log); });
    if (logs.back() == nullptr) return 1;
    log_bytes = logs.back()->log_bytes();
    decode.measure([&] { sum += decode_all(*logs.back()); });
    build.measure([&] { trace = analyzer::build_trace(std::move(logs), {}, &statistics); });
    if (peak == 0) peak = peak_bytes();
  }
  const auto events = static_cast<double>(trace->host.size() + trace->operations.size() + trace->ranges.size());
  const auto records = static_cast<double>(statistics.records);
  const auto bytes_an_event = [&](uint64_t bytes) {
    return (static_cast<double>(bytes) - static_cast<double>(before + log_bytes)) / events;
  };
  std::printf("%u cores, load %.1f, %.1f M records, %.1f M events, log %.1f MB, medians of %d (checksum %llx)\n",
              std::thread::hardware_concurrency(), load_average(), records / 1e6, events / 1e6,
              static_cast<double>(log_bytes) / 1e6, rounds, static_cast<unsigned long long>(sum));
  open.print("open and check", records);
  decode.print("decode only", records);
  build.print("into the model", records);
  std::printf("peak above the log  %.1f bytes an event\n", bytes_an_event(peak));
  std::printf("%s\n", analyzer::coverage_line(*trace).c_str());
  const analyzer::Coverage& coverage = trace->processes[0].coverage;
  if (coverage.operations_linked != coverage.launches) return 1;
  if (!with_json) return 0;

  const auto begin = std::chrono::steady_clock::now();
  const analyzer::Views views(*trace);
  views.depth();
  std::printf("exact queue depth   %.3f s, peak with it %.1f bytes an event\n", seconds_since(begin),
              bytes_an_event(peak_bytes()));
  uint64_t written = 0;
  double cpu = 0;
  const double plain = write_rate(analyzer::write_chrome_trace, *trace, views, "/dev/null", written, cpu);
  std::printf("JSON to /dev/null   %.2f M records/s (%llu), %.0f ns CPU a record\n", plain,
              static_cast<unsigned long long>(written), cpu);
  const std::string gz = path + ".json.gz";
  const double compressed = write_rate(analyzer::write_chrome_trace, *trace, views, gz, written, cpu);
  std::printf("JSON to .gz level 1 %.2f M records/s, %.0f ns CPU a record over both threads\n", compressed, cpu);
  std::remove(gz.c_str());
  const double packets = write_rate(analyzer::write_perfetto_trace, *trace, views, "/dev/null", written, cpu);
  std::printf("Perfetto to /dev/null %.2f M records/s (%llu), %.0f ns CPU a record\n", packets,
              static_cast<unsigned long long>(written), cpu);
  print_sizes(*trace, views, path);
  bool ok = bench::at_least(kMinDecode, "decode", decode.rate(records), "M records/s");
  ok &= bench::at_least(kMinModel, "into the model", build.rate(records), "M records/s");
  ok &= bench::at_most(kMaxBytes, "peak above the log", bytes_an_event(peak), "bytes an event");
  ok &= bench::at_least(kMinJson, "JSON to /dev/null", plain, "M records/s");
  ok &= bench::at_least(kMinPerfetto, "Perfetto to /dev/null", packets, "M records/s");
  ok &= bench::at_least(kMinGz, "JSON to .gz level 1", compressed, "M records/s");
  return ok ? 0 : 1;
}

}  // namespace

// A child process makes the log, so that its memory does not count.
int main(int argc, char** argv) {
  if (argc >= 4 && argc <= 6 && std::string(argv[1]) == "--make") {
    write_log(argv[2], static_cast<uint32_t>(std::atol(argv[3])),
              argc >= 5 ? static_cast<uint32_t>(std::atol(argv[4])) : 0, argc == 6);
    return 0;
  }
  if (argc >= 3 && std::string(argv[1]) == "--model") {
    return run(argv[2], argc > 3 ? std::max(1, std::atoi(argv[3])) : 1, false);
  }
  const long asked = argc > 1 ? std::atol(argv[1]) : 0;
  const uint32_t launches = asked > 0 ? static_cast<uint32_t>(asked) : 4'000'000;
  const std::string path = "/tmp/analyzer_model_bench." + std::to_string(getpid()) + ".plog";
  const std::string make = "'" + std::string(argv[0]) + "' --make " + path + " " + std::to_string(launches);
  const int status = std::system(make.c_str()) == 0 ? run(path, 5, true) : 1;
  std::remove(path.c_str());
  return status;
}
