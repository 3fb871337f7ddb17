#include "analyzer/input/log/build/builder.h"

#include "analyzer/base/parallel.h"
#include "analyzer/base/saturated.h"
#include "analyzer/input/log/build/stages.h"
#include "analyzer/model/physical_gpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

namespace prof::analyzer {

namespace {

constexpr size_t kBlocksPerTask = 128;  // half a MiB of log

// Event blocks of all logs in (log, thread, sequence) order, split into tasks.
std::vector<LogTask> make_tasks(const std::vector<LogInput>& inputs) {
  std::vector<LogTask> tasks;
  for (uint32_t log = 0; log < inputs.size(); ++log) {
    bool open = false;
    for (const BlockRef& block : inputs[log].file->blocks()) {
      if (block.kind != format::BlockKind::Events) continue;
      if (!open || tasks.back().blocks.size() == kBlocksPerTask) {
        tasks.emplace_back();
        tasks.back().log = log;
        open = true;
      }
      tasks.back().blocks.push_back(&block);
    }
  }
  return tasks;
}

// If a thread was inside a call at the end of the log, the call ends at the last tick of the log. `of_log`: its tasks,
// which follow each other.
void add_unfinished_calls(const LogInput& input, std::vector<LogTask>& tasks, const std::vector<uint32_t>& of_log) {
  uint64_t last_tick = 0;
  for (const uint32_t t : of_log) last_tick = std::max(last_tick, tasks[t].last_tick);
  for (const uint32_t t : of_log) {
    LogTask& task = tasks[t];
    for (size_t b = 0; b < task.blocks.size(); ++b) {
      const BlockRef& block = *task.blocks[b];
      const BlockRef* const next = b + 1 < task.blocks.size() ? task.blocks[b + 1]
                                   : t != of_log.back()       ? tasks[t + 1].blocks.front()
                                                              : nullptr;
      const bool last_of_thread = next == nullptr || next->thread != block.thread;
      if (!last_of_thread || block.in_call_api == 0) continue;
      const uint32_t thread = input.ids.threads.find(block.thread);
      const auto span =
          std::find_if(task.spans.begin(), task.spans.end(), [&](const TaskSpan& s) { return s.thread == thread; });
      if (span == task.spans.end()) continue;
      task.unfinished.push_back({&block, std::max({last_tick, block.in_call_tick, input.horizon_tick})});
      ++task.host.count;
      for (auto later = span + 1; later != task.spans.end(); ++later) ++later->host;
      task.first_tick = std::min(task.first_tick, block.in_call_tick);
      task.last_tick = std::max({task.last_tick, last_tick, block.in_call_tick});
    }
  }
}

// One time line: CLOCK_MONOTONIC among logs of one host, CLOCK_REALTIME between hosts. Zero is the first record.
void set_origins(std::vector<LogInput>& inputs, const std::vector<LogTask>& tasks, Trace& trace) {
  std::map<std::string, int64_t> realtime_offset;  // of each host: that of its first log
  std::vector<int64_t> first(inputs.size(), INT64_MAX), last(inputs.size(), INT64_MIN);
  for (const LogTask& task : tasks) {
    const LogClock& clock = *inputs[task.log].clock;
    const auto seen = [&](uint64_t low, uint64_t high) {
      first[task.log] = std::min(first[task.log], static_cast<int64_t>(low));
      last[task.log] = std::max(last[task.log], static_cast<int64_t>(high));
    };
    if (task.first_tick <= task.last_tick) seen(clock.ns(task.first_tick), clock.ns(task.last_tick));
    if (task.first_gpu_ns <= task.last_gpu_ns) seen(clock.gpu_ns(task.first_gpu_ns), clock.gpu_ns(task.last_gpu_ns));
  }
  int64_t start = INT64_MAX;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string& host = trace.processes[index(inputs[i].process)].host;
    const int64_t offset = realtime_offset.try_emplace(host, inputs[i].clock->realtime_offset_ns()).first->second;
    if (inputs[i].horizon_tick != 0) {
      first[i] = static_cast<int64_t>(inputs[i].clock->ns(inputs[i].horizon_tick));
      last[i] = std::max(last[i], first[i]);
    }
    if (first[i] == INT64_MAX) {  // an empty log
      first[i] = last[i] = static_cast<int64_t>(inputs[i].clock->ns(inputs[i].file->header().start_tick));
    }
    if (first[i] + offset < start) {
      start = first[i] + offset;
      trace.start_monotonic_ns = static_cast<uint64_t>(first[i]);
    }
  }
  trace.start_realtime_ns = inputs.empty() ? 0 : static_cast<uint64_t>(start);
  for (size_t i = 0; i < inputs.size(); ++i) {
    Process& process = trace.processes[index(inputs[i].process)];
    // No log starts later than kLatestNs after another. So all times of the model are between -kLatestNs and 2
    // kLatestNs, and differences fit 64 bits.
    inputs[i].origin_ns = std::max(start - realtime_offset[process.host], -static_cast<int64_t>(kLatestNs));
    process.last_ns = last[i] - inputs[i].origin_ns;
    if (!process.clock_readings.empty()) {
      const auto monotonic_ns = static_cast<int64_t>(std::min(process.clock_readings.back().monotonic_ns, kLatestNs));
      process.alive_ns = monotonic_ns - inputs[i].origin_ns;
    }
    if (inputs[i].horizon_tick != 0) process.horizon_ns = first[i] - inputs[i].origin_ns;
    trace.last_ns = std::max(trace.last_ns, process.last_ns);
  }
}

void name_threads(std::vector<LogTask>& tasks, Trace& trace) {
  for (LogTask& task : tasks) {
    for (auto& [thread, def] : task.threads) {
      trace.threads[thread].tid = def.first;
      trace.threads[thread].name = std::move(def.second);
    }
  }
}

// Operations whose stream definition is lost need a device. The same GPU in two processes is one physical GPU.
void finish_devices(const std::vector<LogInput>& inputs, Trace& trace) {
  std::vector<uint32_t> first_device(trace.processes.size(), kNone);
  for (uint32_t d = 0; d < trace.devices.size(); ++d) {
    uint32_t& first = first_device[index(trace.devices[d].process)];
    first = std::min(first, d);
  }
  for (const LogInput& input : inputs) {
    Stream& unknown = trace.streams[input.ids.unknown_stream];
    const uint32_t device = first_device[index(input.process)];
    unknown.device = DeviceId{device != kNone ? device : static_cast<uint32_t>(trace.devices.size())};
    if (device != kNone || unknown.operations.size() == 0) continue;
    trace.devices.emplace_back();
    trace.devices.back().process = input.process;
  }
  join_physical_gpus(trace, 0, [&](uint32_t d) -> std::optional<std::pair<std::string, std::string>> {
    const Device& device = trace.devices[d];
    if (device.uuid.empty()) return {};
    return std::pair{trace.processes[index(device.process)].host, device.uuid};
  });
}

}  // namespace

std::vector<std::vector<uint32_t>> tasks_by_log(size_t logs, const std::vector<LogTask>& tasks) {
  std::vector<std::vector<uint32_t>> of_log(logs);
  for (uint32_t t = 0; t < tasks.size(); ++t) of_log[tasks[t].log].push_back(t);
  return of_log;
}

std::unique_ptr<Trace> build_trace(std::vector<std::unique_ptr<LogFile>> logs, const ImportOptions& options,
                                   BuildStatistics* statistics) {
  auto trace = std::make_unique<Trace>();
  build_trace(std::move(logs), *trace, options, statistics);
  return trace;
}

void build_trace(std::vector<std::unique_ptr<LogFile>> logs, Trace& trace, const ImportOptions& options,
                 BuildStatistics* statistics) {
  const ImportMark mark(trace);
  const unsigned workers = options.workers != 0 ? options.workers : worker_count();
  std::vector<LogInput> inputs(logs.size());
  {
    SharedRows shared(trace);
    for (size_t i = 0; i < logs.size(); ++i) {
      inputs[i].file = std::move(logs[i]);
      import_definitions(inputs[i], shared, trace);
    }
  }
  std::vector<LogTask> tasks = make_tasks(inputs);
  std::atomic<size_t> done{0};
  std::mutex progress_mutex;
  parallel_for(
      tasks.size(),
      [&](size_t t) {
        survey(inputs[tasks[t].log], tasks[t]);
        const size_t so_far = done.fetch_add(1) + 1;
        if (!options.progress) return;
        const std::lock_guard lock(progress_mutex);
        options.progress(static_cast<double>(so_far) / static_cast<double>(tasks.size()));
      },
      workers);

  const std::vector<std::vector<uint32_t>> of_log = tasks_by_log(inputs.size(), tasks);
  for (uint32_t i = 0; i < inputs.size(); ++i) {
    std::vector<format::ClockAnchor> anchors;
    for (const uint32_t t : of_log[i]) anchors.insert(anchors.end(), tasks[t].anchors.begin(), tasks[t].anchors.end());
    std::stable_sort(anchors.begin(), anchors.end(), [](const auto& a, const auto& b) { return a.tick < b.tick; });
    inputs[i].clock.emplace(inputs[i].file->header(), anchors, inputs[i].gpu_clock);
    for (const format::ClockAnchor& anchor : anchors)
      trace.processes[index(inputs[i].process)].clock_readings.push_back({anchor.monotonic_ns, anchor.realtime_ns});
    add_unfinished_calls(inputs[i], tasks, of_log[i]);
  }
  for (const LogTask& task : tasks) {
    const LogInput& input = inputs[task.log];
    for (const Damage& damage : task.damage) {
      trace.processes[index(input.process)].damage.push_back(damage_text(*input.file, damage));
    }
    Coverage& coverage = trace.processes[index(input.process)].coverage;
    coverage.before_horizon += task.before_horizon;
    coverage.start_threads += task.start_threads;
    grow(coverage.start_calls, task.start_calls);
    coverage.start_most_ns = std::max(coverage.start_most_ns, task.start_most_ns);
    coverage.operations_unusable[static_cast<size_t>(UnusableTime::NotTimed)] += task.not_timed;
    if (statistics != nullptr) statistics->records += task.records;
  }
  set_origins(inputs, tasks, trace);
  name_threads(tasks, trace);
  std::vector<ProcessCalls> calls;
  place_events(inputs, tasks, trace, calls, workers);
  finish_devices(inputs, trace);
  for (uint32_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].file->is_ring()) continue;
    tasks.push_back(kept_events(inputs[i]));
    tasks.back().log = i;
  }
  take_names(inputs, tasks, trace);
  read_clocks(inputs, tasks);
  take_samples(inputs, tasks, trace);
  nest_nvtx(inputs, tasks, trace);
  count_unknown_times(trace);
  place_beside(tasks, trace);
  place_unified(inputs, tasks, trace);
  place_counters(inputs, tasks, calls, trace);
  place_samples(inputs, tasks, trace);
  place_host_samples(inputs, tasks, trace);
  place_pc_samples(inputs, tasks, trace);
  const std::vector<UnusableOperation> unusable = correlate(calls, trace, mark, workers);
  count_launches(trace, unusable, workers);
  describe_unusable(trace, mark);
  std::vector<bool> outer(trace.apis.size());
  for (const LogInput& input : inputs) {
    for (const uint32_t api : input.ids.outer) outer[api] = true;
  }
  join_runtime_calls(outer, trace, workers);
}

}  // namespace prof::analyzer
