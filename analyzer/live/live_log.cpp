#include "analyzer/live/live_log.h"

#include "analyzer/input/log/log_clock.h"
#include "analyzer/input/log/log_liveness.h"
#include "analyzer/model/call_class.h"
#include "analyzer/model/names.h"
#include "preload/format/loss_counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <set>

namespace prof::analyzer {

namespace {

constexpr size_t kMostAllocations = 500'000;  // 32 MB; with more the memory is not known
constexpr uint64_t kMostStringBytes = uint64_t{8} << 20;

int64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

struct LiveLog::Handler {
  LiveLog& log;

  void launch(uint64_t end, format::StreamId stream, uint64_t depth, uint32_t flags, uint32_t result,
              RecordPlace place) {
    seen(end);
    const bool submits = (flags & (format::kLaunchCaptured | format::kLaunchNested)) == 0 && result == 0;
    log.idle_stacks_.add_launch(place.block->thread);
    if (submits) log.launches_.push_back({end, static_cast<uint32_t>(stream), depth + 1});
  }
  void seen(uint64_t tick) { log.last_tick_ = std::max(log.last_tick_, tick); }
  void operation(Operation operation, uint64_t start, uint64_t duration, format::GpuStreamId stream) {
    constexpr uint64_t kLatest = uint64_t{1} << 61;  // damaged records
    if (start > kLatest || duration > kLatest) return;
    operation.start_ns = static_cast<int64_t>(start);
    operation.end_ns = static_cast<int64_t>(start + duration);
    operation.gpu_stream = static_cast<uint32_t>(stream);
    log.last_gpu_ns_ = std::max(log.last_gpu_ns_, operation.end_ns);
    if (log.first_gpu_ns_ == 0 || operation.start_ns < log.first_gpu_ns_) log.first_gpu_ns_ = operation.start_ns;
    log.operations_.push_back(operation);
    if (log.operations_.size() < log.most_operations_) return;
    log.forget_old();
    log.most_operations_ = std::max(kFirstLimit, 2 * log.operations_.size());
  }

  void operator()(const format::KernelLaunch& r, RecordPlace place) {
    launch(r.end, r.stream, r.depth, r.flags, r.result, place);
  }
  void operator()(const format::MemoryLaunch& r, RecordPlace place) {
    launch(r.end, r.stream, r.depth, r.flags, r.result, place);
  }
  void operator()(const format::GraphLaunch& r, RecordPlace place) {
    launch(r.end, r.stream, r.depth, r.flags, r.result, place);
  }
  void operator()(const format::ApiCall& r, RecordPlace) { seen(r.end); }
  void operator()(const format::AllocCall& r, RecordPlace) {
    seen(r.end);
    if (r.result == 0) log.memory_events_.push_back({r.end, r.address, r.bytes, static_cast<uint32_t>(r.api)});
  }
  void operator()(const format::KernelRun& r, RecordPlace) {
    operation({0, 0, 0, 0, static_cast<uint32_t>(r.kernel), Operation::Kernel}, r.start, r.duration, r.stream);
  }
  void operator()(const format::CopyRun& r, RecordPlace) {
    operation({0, 0, r.bytes, 0, GpuOperation::copy_kind_of(r.kind), Operation::Copy}, r.start, r.duration, r.stream);
  }
  void operator()(const format::FillRun& r, RecordPlace) { operation({}, r.start, r.duration, r.stream); }
  void operator()(const format::GraphRun& r, RecordPlace) { operation({}, r.start, r.duration, r.stream); }
  void operator()(const format::ClockAnchor& r, RecordPlace) {
    if (!log.first_anchor_ || r.tick < log.first_anchor_->tick) log.first_anchor_ = r;
    if (!log.last_anchor_ || r.tick > log.last_anchor_->tick) log.last_anchor_ = r;
  }

  void operator()(const format::StringPart& r, RecordPlace) {
    std::string& text = log.strings_[static_cast<uint32_t>(r.id)];
    if (r.offset != text.size()) return;  // known, or a part of a text whose start comes later: the name is cut
    text += r.text;
    log.string_bytes_ += r.text.size();
  }
  void operator()(const format::MetaDef& r, RecordPlace) {
    if (r.key == "executable") log.executable_ = r.value;
    if (r.key == "host") log.host_ = r.value;
  }
  void operator()(const format::ApiDef& r, RecordPlace) {
    const CallRole role = call_traits(r.name).role;
    const bool of_host = r.name.find("Host") != std::string_view::npos;
    log.memory_calls_[static_cast<uint32_t>(r.id)] = of_host                      ? MemoryCall::None
                                                     : role == CallRole::Allocate ? MemoryCall::Allocates
                                                     : role == CallRole::Free     ? MemoryCall::Frees
                                                                                  : MemoryCall::None;
  }
  void operator()(const format::DeviceDef& r, RecordPlace) { log.device_names_[r.ordinal] = r.name; }
  void operator()(const format::StreamDef& r, RecordPlace) { log.streams_[static_cast<uint32_t>(r.id)] = r; }
  void operator()(const format::GpuStreamDef& r, RecordPlace) { log.gpu_streams_[static_cast<uint32_t>(r.id)] = r; }
  void operator()(const format::GpuKernelDef& r, RecordPlace) {
    log.kernel_names_[static_cast<uint32_t>(r.id)] = static_cast<uint32_t>(r.name);
  }
  void operator()(const format::GpuClock& r, RecordPlace) { log.gpu_clock_ = r; }
  void operator()(const format::HostSample& r, RecordPlace) { log.idle_stacks_.add(r); }
  void operator()(const format::StackDef& r, RecordPlace) { log.idle_stacks_.add(r); }
  void operator()(const format::PythonFrameDef& r, RecordPlace) { log.idle_stacks_.add(r); }
  void operator()(const format::ImageDef& r, RecordPlace) { log.idle_stacks_.add(r); }
};

LiveLog::LiveLog(const std::string& path, std::chrono::nanoseconds window) : tail_(path), window_ns_(window.count()) {}

double LiveLog::ticks_per_ns() const {
  constexpr uint64_t kLongEnough = 100'000'000;
  if (first_anchor_ && last_anchor_ && last_anchor_->monotonic_ns > first_anchor_->monotonic_ns + kLongEnough)
    return static_cast<double>(last_anchor_->tick - first_anchor_->tick) /
           static_cast<double>(last_anchor_->monotonic_ns - first_anchor_->monotonic_ns);
  const uint64_t rate = tail_.header().ticks_per_second;
  return rate == 0 ? 1 : static_cast<double>(rate) / 1e9;
}

// A log that is not being written ends with its last call: the last anchor of the clock follows the flush at the end.
uint64_t LiveLog::now_tick(bool recording) const {
  if (!recording) return last_tick_;
  const uint64_t tick = last_anchor_ ? last_anchor_->tick : tail_.header().start_tick;
  const uint64_t clock = last_anchor_ ? last_anchor_->monotonic_ns : tail_.header().start_monotonic_ns;
  const double passed = static_cast<double>(monotonic_ns() - static_cast<int64_t>(clock)) * ticks_per_ns();
  return std::max(last_tick_, passed > 0 ? tick + static_cast<uint64_t>(passed) : tick);
}

std::optional<int64_t> LiveLog::gpu_time(uint64_t tick) const {
  if (!gpu_clock_) return std::nullopt;
  const auto ticks = static_cast<Int128>(tick) - static_cast<Int128>(gpu_clock_->base_tick);
  if (gpu_clock_->shift > 64) return std::nullopt;  // damaged
  return static_cast<int64_t>(static_cast<Int128>(gpu_clock_->base_ns) +
                              (ticks * static_cast<Int128>(gpu_clock_->multiplier) >> gpu_clock_->shift));
}

void LiveLog::forget_old() {
  const int64_t from_ns = last_gpu_ns_ - window_ns_;
  std::erase_if(operations_, [&](const Operation& operation) { return operation.end_ns <= from_ns; });
}

// In the order of time: a thread may free what another one allocated. A call may be read before the name of its
// function.
void LiveLog::count_memory() {
  std::sort(memory_events_.begin(), memory_events_.end(),
            [](const MemoryEvent& a, const MemoryEvent& b) { return a.tick < b.tick; });
  for (const MemoryEvent& event : memory_events_) {
    const auto call = memory_calls_.find(event.api);
    if (call == memory_calls_.end() || call->second == MemoryCall::None) continue;
    const auto known = allocations_.find(event.address);
    if (known != allocations_.end()) {
      memory_bytes_ -= known->second;
      allocations_.erase(known);
    }
    if (call->second == MemoryCall::Frees) continue;
    if (allocations_.size() >= kMostAllocations) {
      memory_known_ = false;
      break;
    }
    allocations_.emplace(event.address, event.bytes);
    memory_bytes_ += event.bytes;
  }
  memory_events_.clear();
}

// Keeps the names of kernels and of what is in stacks. Most texts of a log may be those of NVTX ranges.
void LiveLog::forget_strings() {
  if (string_bytes_ < kMostStringBytes) return;
  std::set<uint32_t> used;
  for (const auto& [kernel, name] : kernel_names_) used.insert(name);
  idle_stacks_.add_texts(used);
  std::erase_if(strings_, [&](const auto& entry) { return !used.contains(entry.first); });
  string_bytes_ = 0;
}

std::string LiveLog::kernel_name(uint32_t id) const {
  const auto kernel = kernel_names_.find(id);
  const auto text = kernel == kernel_names_.end() ? strings_.end() : strings_.find(kernel->second);
  if (text == strings_.end() || text->second.empty()) return fmt::format("[kernel {}]", id);
  return demangled_name(text->second);
}

void LiveLog::add_operations(LiveSample& sample) {
  if (operations_.empty()) return;
  const int64_t to = last_gpu_ns_, from = std::max(to - window_ns_, first_gpu_ns_);
  sample.gpu_ns = to - from;
  const auto earlier = [](const Operation& a, const Operation& b) { return a.start_ns < b.start_ns; };
  // One stream is in order, and sorting 100,000 operations takes 10 ms.
  if (!std::is_sorted(operations_.begin(), operations_.end(), earlier))
    std::sort(operations_.begin(), operations_.end(), earlier);
  struct Busy {
    int64_t total_ns = 0, until_ns = 0;
  };
  std::map<uint32_t, Busy> devices;
  for (const auto& named : device_names_) {
    const bool used = std::any_of(gpu_streams_.begin(), gpu_streams_.end(),
                                  [&](const auto& stream) { return stream.second.device == named.first; });
    if (used) devices[named.first].until_ns = from;
  }
  std::unordered_map<uint64_t, LiveKernel> kernels;  // by name
  std::map<uint32_t, LiveCopies> copies;
  // Most operations have the stream and the kernel of the one before.
  Busy* of_stream = nullptr;
  uint32_t last_stream = 0;
  LiveKernel* of_kernel = nullptr;
  uint32_t last_kernel = 0;
  for (const Operation& operation : operations_) {
    if (of_stream == nullptr || operation.gpu_stream != last_stream) {
      const auto stream = gpu_streams_.find(operation.gpu_stream);
      of_stream = stream == gpu_streams_.end()
                      ? nullptr
                      : &devices.try_emplace(stream->second.device, Busy{0, from}).first->second;
      last_stream = operation.gpu_stream;
    }
    if (of_stream != nullptr) {
      Busy& busy = *of_stream;
      const int64_t begin = std::max(operation.start_ns, busy.until_ns), end = std::min(operation.end_ns, to);
      if (end > begin) {
        busy.total_ns += end - begin;
        busy.until_ns = end;
      }
    }
    const int64_t duration = operation.end_ns - operation.start_ns;
    if (operation.kind == Operation::Kernel) {
      if (of_kernel == nullptr || operation.detail != last_kernel) {
        // Kernels without a name are rows of their own.
        const auto name = kernel_names_.find(operation.detail);
        const bool named = name != kernel_names_.end() && name->second != 0;
        of_kernel = &kernels[uint64_t{named} << 32 | (named ? name->second : operation.detail)];
        if (of_kernel->name.empty()) of_kernel->name = kernel_name(operation.detail);
        last_kernel = operation.detail;
      }
      ++of_kernel->count;
      of_kernel->total_ns += duration;
    } else if (operation.kind == Operation::Copy) {
      LiveCopies& of_kind = copies[operation.detail];
      of_kind.direction = copy_kind_name(operation.detail);
      ++of_kind.count;
      of_kind.bytes += operation.bytes;
      of_kind.total_ns += duration;
    }
  }
  for (const auto& [ordinal, busy] : devices) {
    const auto name = device_names_.find(ordinal);
    sample.devices.push_back({ordinal, name == device_names_.end() ? "" : name->second, busy.total_ns});
  }
  for (auto& [name, kernel] : kernels) sample.kernels.push_back(std::move(kernel));
  std::sort(sample.kernels.begin(), sample.kernels.end(), [](const LiveKernel& a, const LiveKernel& b) {
    return a.total_ns != b.total_ns ? a.total_ns > b.total_ns : a.name < b.name;
  });
  for (const auto& [kind, of_kind] : copies) sample.copies.push_back(of_kind);
}

void LiveLog::add_streams(LiveSample& sample, uint64_t from_tick) {
  std::map<uint32_t, Launch> latest;
  for (const Launch& launch : launches_) {
    if (launch.tick <= from_tick) continue;
    Launch& of_stream = latest[launch.stream];
    if (launch.tick >= of_stream.tick) of_stream = launch;
  }
  for (const auto& [id, launch] : latest) {
    const auto stream = streams_.find(id);
    LiveStream row;
    row.id = id;
    row.depth = launch.depth;
    if (stream != streams_.end()) {
      row.handle = stream->second.handle;
      if (stream->second.gpu_stream != 0) row.gpu_stream = stream->second.gpu_stream - 1;
    }
    sample.streams.push_back(row);
  }
  std::stable_sort(sample.streams.begin(), sample.streams.end(),
                   [](const LiveStream& a, const LiveStream& b) { return a.depth > b.depth; });
}

// After add_operations(), which sorts the operations by start.
void LiveLog::add_idle_stack(LiveSample& sample) {
  const int64_t to = last_gpu_ns_, from = to - sample.gpu_ns;
  size_t next = 0;
  int64_t busy_until = from;
  const auto is_idle = [&](uint64_t tick) {
    const std::optional<int64_t> at = gpu_time(tick);
    if (!at || *at < from || *at > to) return false;
    for (; next < operations_.size() && operations_[next].start_ns <= *at; ++next)
      busy_until = std::max(busy_until, operations_[next].end_ns);
    return *at >= busy_until;
  };
  const auto forgotten = [&](uint64_t tick) {
    const std::optional<int64_t> at = gpu_time(tick);
    return at && *at < from;
  };
  const auto text_of = [&](uint32_t id) {
    const auto text = strings_.find(id);
    return text == strings_.end() ? std::string() : text->second;
  };
  sample.idle_stack = idle_stacks_.top(forgotten, is_idle, text_of);
}

void LiveLog::add_health(LiveSample& sample) const {
  sample.damaged_blocks = tail_.damaged_blocks();
  const std::vector<std::string>& names = tail_.counter_names();
  for (size_t i = 0; i < names.size() && i < format::kMaxCounters; ++i) {
    const uint64_t value = tail_.counter_page().counter[i];
    const format::CounterInfo* const info = format::find_counter(names[i]);
    if (value != 0 && info != nullptr && info->severity == format::Severity::Loss)
      sample.lost.push_back({names[i], value});
  }
}

LiveSample LiveLog::sample(std::chrono::nanoseconds survey) {
  Handler handler{*this};
  tail_.read(handler, survey);
  count_memory();
  LiveSample sample;
  sample.path = tail_.path();
  sample.executable = executable_;
  sample.host = host_;
  sample.pid = tail_.header().pid;
  sample.ring = tail_.is_ring();
  sample.log_bytes = tail_.file_bytes();
  const bool finished = tail_.counter_page().finished != 0;
  sample.state = finished                          ? LiveState::Finished
                 : writer_is_alive(tail_.header()) ? LiveState::Recording
                                                   : LiveState::Killed;
  const bool recording = sample.state == LiveState::Recording;
  forget_old();
  const uint64_t now = now_tick(recording);
  const auto window = static_cast<uint64_t>(static_cast<double>(window_ns_) * ticks_per_ns());
  const uint64_t start = tail_.header().start_tick;
  const uint64_t from = now > start + window ? now - window : start;
  std::erase_if(launches_, [&](const Launch& launch) { return launch.tick <= from; });
  if (last_tick_ != 0 && now > from) {
    sample.host_ns = static_cast<int64_t>(static_cast<double>(now - from) / ticks_per_ns());
    sample.launches = launches_.size();
  }
  add_operations(sample);
  add_idle_stack(sample);
  if (recording && sample.gpu_ns != 0) {
    const std::optional<int64_t> gpu_now = gpu_time(now);
    if (gpu_now) sample.gpu_age_ns = std::max<int64_t>(*gpu_now - last_gpu_ns_, 0);
  }
  add_streams(sample, from);
  add_health(sample);
  if (tail_.from_the_start() && memory_known_ && sample.lost.empty() && !sample.ring)
    sample.memory_bytes = memory_bytes_;
  forget_strings();
  return sample;
}

}  // namespace prof::analyzer
