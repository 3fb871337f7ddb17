// Logs of launches and of their GPU operations, and the model of such a log, for tests of the model.
#pragma once

#include "analyzer/input/log/build/builder.h"
#include "tests/unit/analyzer/log_builder.h"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace prof::tests {

inline constexpr uint64_t kLogStart =
    1'000'000;  // tick of the log's start; ticks, GPU ns and monotonic ns are the same

inline LogBuilder new_launch_log() {
  LogBuilder log;
  log.header.pid = 100;
  log.header.start_tick = log.header.start_monotonic_ns = kLogStart;
  log.header.start_realtime_ns = 1'700'000'000'000'000'000;
  log.define(format::GpuClock{0, 0, 1, 0});
  log.define(format::ApiDef{format::ApiId{1}, "cuLaunchKernel"});
  log.define(format::ApiDef{format::ApiId{2}, "cuModuleLoadData"});
  log.define(format::GpuStreamDef{format::GpuStreamId{1}, 0, 1, 7});
  log.define(format::GpuStreamDef{format::GpuStreamId{2}, 0, 1, 8});
  for (uint32_t s = 1; s <= 2; ++s) {
    format::StreamDef stream;
    stream.id = format::StreamId{s}, stream.context = format::ContextId{1}, stream.gpu_stream = 7 + s;
    log.define(stream);
  }
  log.define(format::ContextDef{format::ContextId{1}, 1, 0, 1});
  format::ConfigDef config;
  config.id = format::ConfigId{1}, config.api = format::ApiId{1};
  log.define(config);
  return log;
}

inline void add_thread(LogBuilder& log, uint32_t thread, uint32_t tid) {
  log.add(thread, format::ThreadDef{format::ThreadOrdinal{thread}, tid, kLogStart, "t"});
}

inline void add_launch(LogBuilder& log, uint32_t thread, uint64_t begin, uint64_t end, uint32_t stream = 1,
                       uint32_t result = 0, uint32_t flags = 0) {
  format::KernelLaunch launch;
  launch.end = kLogStart + end, launch.duration = end - begin, launch.config = format::ConfigId{1};
  launch.stream = format::StreamId{stream}, launch.result = result, launch.flags = flags;
  log.add(thread, launch);
}

inline void add_run(LogBuilder& log, uint64_t start, uint64_t end, uint32_t correlation, uint32_t stream = 1) {
  format::KernelRun run;
  run.start = kLogStart + start, run.duration = end - start, run.correlation = correlation;
  run.stream = format::GpuStreamId{stream};
  log.add(9, run);
}

inline void add_calls(LogBuilder& log, uint32_t tid, std::vector<format::CallPair> calls) {
  for (format::CallPair& call : calls) call.time += kLogStart;
  log.add(9, format::DriverCalls{tid, {calls.data(), static_cast<uint32_t>(calls.size())}});
}

inline std::unique_ptr<analyzer::Trace> model_of(LogBuilder& log) {
  log.seal_all();
  std::vector<std::unique_ptr<analyzer::LogFile>> logs;
  logs.push_back(log.open_log());
  return analyzer::build_trace(std::move(logs));
}

}  // namespace prof::tests
