#include "analyzer/output/page/timeline_rows.h"

#include "analyzer/analysis/idle/gap_text.h"
#include "analyzer/analysis/idle/piece_names.h"
#include "analyzer/analysis/memory_timeline.h"
#include "analyzer/analysis/select/time_window.h"
#include "analyzer/output/page/timeline_pieces.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace prof::analyzer {

namespace {

constexpr size_t kMostLevels = 24;    // of ranges and calls; deeper ones are counted
constexpr size_t kMostOverlaps = 64;  // rows of one stream
constexpr size_t kMemorySteps = 2000;

// Rows of one name, one for each level. Spans come in order of start.
class Levels {
 public:
  Levels(std::vector<TimelineRow>& rows, TimelineRow first, size_t most)
      : rows_(rows), first_(std::move(first)), most_(most) {}
  // Puts the span into the first level that is free. False: there is none.
  bool add(uint32_t row, int64_t begin_ns, int64_t end_ns) {
    size_t level = 0;
    while (level < ends_.size() && ends_[level] > begin_ns) ++level;
    return put(level, row, end_ns);
  }
  // The same for nested spans: inside every open span.
  bool nest(uint32_t row, int64_t begin_ns, int64_t end_ns) {
    while (!open_.empty() && open_.back() <= begin_ns) open_.pop_back();
    size_t level = open_.size();
    open_.push_back(end_ns);
    while (level < ends_.size() && ends_[level] > begin_ns) ++level;  // it crosses one that ends later
    return put(level, row, end_ns);
  }
  uint64_t left_out() const { return left_out_; }

 private:
  bool put(size_t level, uint32_t row, int64_t end_ns) {
    if (level >= most_) {
      ++left_out_;
      return false;
    }
    while (numbers_.size() <= level) {
      numbers_.push_back(rows_.size());
      ends_.push_back(INT64_MIN);
      rows_.push_back(first_);
      rows_.back().level = static_cast<uint32_t>(numbers_.size() - 1);
    }
    ends_[level] = end_ns;
    rows_[numbers_[level]].rows.push_back(row);
    return true;
  }

  std::vector<TimelineRow>& rows_;
  TimelineRow first_;
  size_t most_;
  std::vector<size_t> numbers_;  // by level: row of rows_
  std::vector<int64_t> ends_;    // by level: end of its last span
  std::vector<int64_t> open_;
  uint64_t left_out_ = 0;
};

std::string process_text(const Trace& trace, ProcessId id) {
  const Process& process = trace.processes[index(id)];
  const std::string name = process.executable.substr(process.executable.rfind('/') + 1);
  return fmt::format("{}pid {}{}{}", process.rank ? fmt::format("rank {}, ", *process.rank) : "", process.pid,
                     name.empty() ? "" : " ", name);
}

class Builder {
 public:
  Builder(const AnalysisInput& input, Timeline& timeline) : input_(input), trace_(input.trace), timeline_(timeline) {}

  void run(bool whole_times) {
    find_window();
    if (whole_times) find_gaps();
    const auto all = [](const Stream&) { return true; };
    for (const auto& [device, streams] : streams_by_gpu(trace_, all)) add_gpu(device, streams);
    for (uint32_t p = 0; p < trace_.processes.size(); ++p) add_process(ProcessId{p});
    add_memory();
    if (deep_ != 0)
      timeline_.notes.push_back(fmt::format(
          "not drawn: {} ranges, calls or operations with more than {} others around them", deep_, kMostLevels));
    if (python_ != 0)
      timeline_.notes.push_back(fmt::format("not drawn: {} Python functions and spans of the profiler", python_));
  }

 private:
  void reach(int64_t begin_ns, int64_t end_ns) {
    timeline_.begin_ns = any_ ? std::min(timeline_.begin_ns, begin_ns) : begin_ns;
    timeline_.end_ns = any_ ? std::max(timeline_.end_ns, end_ns) : end_ns;
    any_ = true;
  }
  void find_window() {
    for (const GpuOperation& operation : trace_.operations) reach(operation.start_ns, operation.last_ns());
    for (const HostEvent& event : trace_.host) reach(event.begin_ns, std::max(event.begin_ns, event.end_ns));
    for (const Range& range : trace_.ranges) {
      if (is_drawn(range)) reach(range.begin_ns, std::max(range.begin_ns, range.end_ns));
    }
    for (const Range& mark : trace_.marks) reach(mark.begin_ns, mark.begin_ns);
    for (const int64_t time_ns : trace_.host_sampling.samples.time_ns) reach(time_ns, time_ns);
    if (timeline_.end_ns <= timeline_.begin_ns) timeline_.end_ns = timeline_.begin_ns + 1;
  }
  static bool is_drawn(const Range& range) {
    return range.kind != RangeKind::Python && range.kind != RangeKind::Overhead;
  }

  void find_gaps() {
    const std::vector<Window> windows = report_windows(input_);  // as in the report idle
    const PieceNames names(input_);
    for (const Window& window : windows) {
      divide_gaps(
          trace_, input_.views, input_.selection, {window.begin_ns, window.end_ns},
          [&](const DeviceGap& gap, std::span<const GapPiece> pieces) {
            TimelineGap each{std::max(gap.begin_ns, window.begin_ns), std::min(gap.end_ns, window.end_ns), {}, 0};
            if (each.end_ns <= each.begin_ns) return;
            const MainPart main = main_part(pieces);
            each.charge = main.charge;
            if (main.longest != nullptr) each.culprit = names.key(gap, *main.longest);
            gap_devices_.push_back(gap.device);
            timeline_.gaps.push_back(each);
          });
    }
  }

  std::string gpu_text(DeviceId id) const {
    const Device& device = trace_.device(id);
    std::set<uint32_t> processes;
    for (const Device& each : trace_.devices) {
      if (each.physical == device.physical) processes.insert(index(each.process));
    }
    const std::string of =
        trace_.processes.size() > 1 && processes.size() == 1 ? ", " + process_text(trace_, device.process) : "";
    return fmt::format("GPU {}{}{}{}", device.ordinal, device.name.empty() ? "" : " ", device.name, of);
  }

  void add_gpu(DeviceId device, const std::vector<StreamId>& streams) {
    const std::string group = gpu_text(device);
    TimelineRow gaps{RowKind::Gap, group, "idle", 0, {}};
    for (uint32_t g = 0; g < timeline_.gaps.size(); ++g) {
      if (gap_devices_[g] == device) gaps.rows.push_back(g);
    }
    if (!gaps.rows.empty()) timeline_.rows.push_back(std::move(gaps));
    std::set<uint32_t> contexts, processes;
    for (const StreamId id : streams) {
      contexts.insert(trace_.stream(id).context);
      processes.insert(index(trace_.process_of(id)));
    }
    for (const StreamId id : streams) {
      const Stream& stream = trace_.stream(id);
      std::string name = fmt::format("stream {}", stream.number);
      if (stream.name != StringId{}) name += fmt::format(" {}", trace_.text(stream.name));
      if (contexts.size() > 1) name += fmt::format(", context {}", stream.context);
      if (processes.size() > 1) name += ", " + process_text(trace_, trace_.process_of(id));
      Levels levels(timeline_.rows, {RowKind::Operation, group, name, 0, {}}, kMostOverlaps);
      for (uint32_t row = stream.operations.first; row < stream.operations.last; ++row)
        levels.add(row, trace_.operations[row].start_ns, trace_.operations[row].last_ns());
      deep_ += levels.left_out();
    }
  }

  // The rows of a column of threads, which is sorted, that belong to one.
  static Rows rows_of(const Column<ThreadId>& threads, uint32_t thread) {
    const auto [first, last] = std::equal_range(threads.begin(), threads.end(), ThreadId{thread});
    return {static_cast<uint32_t>(first - threads.begin()), static_cast<uint32_t>(last - threads.begin())};
  }

  void add_host_samples(uint32_t thread, const std::string& group, const std::string& name) {
    const ThreadStates& states = trace_.host_sampling.states;
    const HostSamples& samples = trace_.host_sampling.samples;
    Levels of_states(timeline_.rows, {RowKind::State, group, name + " states", 0, {}}, kMostLevels);
    const Rows state_rows = rows_of(states.thread, thread), sample_rows = rows_of(samples.thread, thread);
    for (uint32_t row = state_rows.first; row < state_rows.last; ++row)
      of_states.add(row, states.begin_ns[row], states.end_ns[row]);
    Levels of_samples(timeline_.rows, {RowKind::Sample, group, name + " samples", 0, {}}, kMostLevels);
    for (uint32_t row = sample_rows.first; row < sample_rows.last; ++row)
      of_samples.add(row, samples.time_ns[row], samples.time_ns[row]);
    deep_ += of_states.left_out() + of_samples.left_out();
  }

  void add_process(ProcessId id) {
    const std::string group = process_text(trace_, id);
    for (uint32_t t = 0; t < trace_.threads.size(); ++t) {
      const Thread& thread = trace_.threads[t];
      if (thread.process != id) continue;
      const std::string tid = std::to_string(thread.tid);
      const bool has_tid = thread.name.find(tid) != std::string::npos;  // torch.profiler: "thread 501 (pt_autograd_0)"
      const std::string name = has_tid ? thread.name : thread.name.empty() ? "thread " + tid : thread.name + " " + tid;
      Levels ranges(timeline_.rows, {RowKind::Range, group, name, 0, {}}, kMostLevels);
      for (uint32_t row = thread.ranges.first; row < thread.ranges.last; ++row) {
        const Range& range = trace_.ranges[row];
        if (is_drawn(range)) {
          ranges.nest(row, range.begin_ns, range.end_ns);
        } else {
          ++python_;
        }
      }
      Levels marks(timeline_.rows, {RowKind::Mark, group, name + " marks", 0, {}}, kMostLevels);
      for (uint32_t row = thread.marks.first; row < thread.marks.last; ++row)
        marks.add(row, trace_.marks[row].begin_ns, trace_.marks[row].begin_ns);
      Levels calls(timeline_.rows, {RowKind::Call, group, name + " calls", 0, {}}, kMostLevels);
      for (uint32_t row = thread.host.first; row < thread.host.last; ++row)
        calls.nest(row, trace_.host[row].begin_ns, trace_.host[row].end_ns);
      deep_ += ranges.left_out() + marks.left_out() + calls.left_out();
      add_host_samples(t, group, name);
    }
    Levels crossing(timeline_.rows, {RowKind::Range, group, "start/end ranges", 0, {}}, kMostLevels);
    const Rows rows = trace_.processes[index(id)].start_end_ranges;
    for (uint32_t row = rows.first; row < rows.last; ++row)
      crossing.add(row, trace_.ranges[row].begin_ns, trace_.ranges[row].end_ns);
    deep_ += crossing.left_out();
  }

  void add_memory() {
    for (const MemoryTimeline& memory : memory_timelines(input_)) {
      TimelineMemory row{process_text(trace_, ProcessId{memory.process}),
                         "memory, " + place_text(memory) + (memory.from_allocator ? ", allocator" : ""),
                         {}};
      const int64_t run = timeline_.end_ns - timeline_.begin_ns;
      int64_t interval = -1;
      for (const MemoryChange& change : memory.changes) {
        const auto share = static_cast<double>(change.time_ns - timeline_.begin_ns) / static_cast<double>(run);
        const auto now =
            memory.changes.size() <= kMemorySteps ? interval + 1 : static_cast<int64_t>(share * kMemorySteps / 2);
        if (now != interval || row.steps.empty()) {
          row.steps.emplace_back(change.time_ns, change.live);  // the peak of an interval, then what is left at its end
          row.steps.emplace_back(change.time_ns, change.live);
        }
        interval = now;
        std::pair<int64_t, int64_t>& peak = row.steps[row.steps.size() - 2];
        if (change.live > peak.second) peak = {change.time_ns, change.live};
        row.steps.back() = {change.time_ns, change.live};
      }
      if (!row.steps.empty()) timeline_.memory.push_back(std::move(row));
    }
  }

  const AnalysisInput& input_;
  const Trace& trace_;
  Timeline& timeline_;
  std::vector<DeviceId> gap_devices_;  // of each gap
  uint64_t deep_ = 0, python_ = 0;
  bool any_ = false;
};

}  // namespace

Timeline timeline_of(const AnalysisInput& input, bool whole_times) {
  Timeline timeline;
  Builder(input, timeline).run(whole_times);
  return timeline;
}

}  // namespace prof::analyzer
