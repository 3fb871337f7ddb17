// How do NVTX records become ranges, marks and paths? The third step of the builder.
//
// Push and pop are matched per (thread, domain), as in NVTX. The path of a thread is the list of its open push/pop
// ranges of all domains in order of opening; a domain may close a range below another domain's range.
// start_end_ranges.h matches what crosses threads. library_ranges.h supplies library calls between the pushes and pops,
// as ranges of a domain of their own.
#include "analyzer/input/log/build/library_ranges.h"
#include "analyzer/input/log/build/stages.h"
#include "analyzer/input/log/build/start_end_ranges.h"

#include <algorithm>
#include <unordered_map>

namespace prof::analyzer {

namespace {

class Nesting {
 public:
  Nesting(const std::vector<LogInput>& inputs, Trace& trace) : inputs_(inputs), trace_(trace) {}

  void run(std::vector<LogTask>& tasks) {
    for (const LogTask& task : tasks) {
      library_.take(task, inputs_[task.log]);
      thread_ends_.insert(task.thread_ends.begin(), task.thread_ends.end());
    }
    for (LogTask& task : tasks) {
      if (!task.nvtx.empty() || !task.library.empty()) {
        if (input_ != &inputs_[task.log]) end_process();
        input_ = &inputs_[task.log];
        run_task(task);
      }
      task.nvtx.free();
    }
    end_process();
  }

 private:
  void run_task(const LogTask& task) {
    ClockReader ns{*input_->clock};
    for (size_t s = 0; s < task.spans.size(); ++s) {
      const size_t last = s + 1 < task.spans.size() ? task.spans[s + 1].nvtx : task.nvtx.size();
      if (task.spans[s].nvtx == last && !library_.has(task.spans[s].thread)) continue;
      if (task.spans[s].thread != thread_) begin_thread(task.spans[s].thread);
      for (size_t i = task.spans[s].nvtx; i < last; ++i) {
        const StagedNvtx& row = task.nvtx[i];
        if (row.step == NvtxStep::Payload) continue;
        if (row.step == NvtxStep::Extended) {
          payloads_.add(task.payloads[row.value]);
          continue;
        }
        const bool before = row.tick < input_->horizon_tick;
        if (!before) open_at_horizon();
        Range range;
        range.begin_ns = range.end_ns = ns.tick(row.tick) - input_->origin_ns;
        range.thread = ThreadId{thread_};
        library_until(range.begin_ns);
        if (row.step < NvtxStep::Extended) {
          range.payload_type = row.payload_type;
          range.payload = row.value;
        }
        if (row.step != NvtxStep::Pop && row.step != NvtxStep::End) range.label = label_of(task, row);
        const uint32_t values = payloads_.take(row.tick, *input_, ThreadId{thread_});
        if (values != 0) {
          range.payload_type = kExtendedPayload;
          range.payload = values;
        } else if (range.payload_type == kExtendedPayload) {
          range.payload_type = 0;
        }
        switch (row.step) {
          case NvtxStep::Push:
            if (before) {
              before_.push_back(range);
            } else {
              push(range);
            }
            break;
          case NvtxStep::Pop:
            if (before) {
              pop_before(StringId{row.label});
            } else {
              pop(range.begin_ns, StringId{row.label}, values);
            }
            break;
          case NvtxStep::Start:
            if (values == 0)
              range.payload = i + 1 < last && task.nvtx[i + 1].step == NvtxStep::Payload ? task.nvtx[i + 1].tick : 0;
            start_end_.start(row.value, range);
            break;
          case NvtxStep::End: start_end_.end(row.value, range.begin_ns, ThreadId{thread_}, values); break;
          case NvtxStep::Mark:
            if (!before) mark(range);
            break;
          case NvtxStep::Sync: sync(range, row.value, static_cast<format::SyncAction>(row.payload_type)); break;
          case NvtxStep::Deferred:
            if (!before) deferred(range, task.deferred[row.value], row.payload_type);
            break;
          case NvtxStep::Payload:
          case NvtxStep::Extended: break;
        }
      }
    }
  }

  void library_until(int64_t now) {
    while (const auto step = library_.next_until(now)) {
      if (step->begins)
        push(step->range, true);
      else
        pop(step->range.end_ns, domain(step->range), 0);
    }
  }

  int64_t horizon_ns() const { return trace_.processes[index(input_->process)].horizon_ns; }

  // Records of a ring before its horizon remain only by chance. Only the ranges that were open at the horizon are kept;
  // they start there.
  void pop_before(StringId of_domain) {
    const auto last =
        std::find_if(before_.rbegin(), before_.rend(), [&](const Range& range) { return domain(range) == of_domain; });
    if (last != before_.rend()) before_.erase(std::next(last).base());
  }
  void open_at_horizon() {
    for (Range& range : before_) {
      range.begin_ns = range.end_ns = horizon_ns();
      push(range);
    }
    before_.clear();
  }

  void mark(Range range) {
    range.style = RangeStyle::Mark;
    range.path = path_;
    trace_.marks.push_back(range);
    trace_.threads[thread_].marks.last = static_cast<uint32_t>(trace_.marks.size());
  }

  // Waiting for a synchronisation object and holding it are separate ranges; other actions are marks.
  void sync(Range range, uint64_t object, format::SyncAction action) {
    const LabelId name = range.label;
    if (action == format::SyncAction::Create || action == format::SyncAction::Destroy) {
      range.label = labels_.around(name, action == format::SyncAction::Create ? "create " : "destroy ", "");
      mark(range);
      return;
    }
    if (action == format::SyncAction::AcquireFailed) {
      range.label = labels_.around(name, "acquire ", " failed");
      mark(range);
    }
    range.label = name;
    start_end_.sync(object, action, range);
  }

  void deferred(Range range, const StagedDeferred& times, uint8_t style) {
    const int64_t submitted_ns = range.begin_ns;
    const std::optional<int64_t> begin_ns = stamp_ns(*input_, times.clock, times.begin);
    if (!begin_ns && times.clock != format::StampClock::None && times.clock != format::StampClock::Unknown)
      ++trace_.processes[index(input_->process)].nvtx_times_unknown;
    range.begin_ns = range.end_ns = begin_ns.value_or(submitted_ns);
    range.deferred = true;
    if (times.scope != 0) payloads_.add_scope(range, *input_, times.domain, times.scope);
    if (style == 2) {
      mark(range);
      marks_unsorted_ = true;
    } else {
      range.end_ns = std::max(range.begin_ns, stamp_ns(*input_, times.clock, times.end).value_or(submitted_ns));
      start_end_.add_whole(range);
    }
    trace_.last_ns = std::max(trace_.last_ns, range.end_ns);
  }

  LabelId label_of(const LogTask& task, const StagedNvtx& row) {
    const LabelId label{row.label};
    return row.text == 0 ? label : labels_.with_text(label, task.texts[row.text - 1]);
  }

  void begin_thread(uint32_t thread) {
    end_thread();
    thread_ = thread;
    Thread& row = trace_.threads[thread];
    row.ranges.first = row.ranges.last = static_cast<uint32_t>(trace_.ranges.size());
    row.path_changes.first = row.path_changes.last = static_cast<uint32_t>(trace_.path_changes.size());
    row.marks.first = row.marks.last = static_cast<uint32_t>(trace_.marks.size());
    library_.begin_thread(thread);
  }

  void end_thread() {
    if (thread_ == kNone) return;
    payloads_.leave_unread(*input_);
    open_at_horizon();
    library_until(INT64_MAX);
    close_open_ranges();
    open_.clear();
    path_ = {};
    if (marks_unsorted_) {
      const Rows marks = trace_.threads[thread_].marks;
      std::stable_sort(trace_.marks.begin() + marks.first, trace_.marks.begin() + marks.last,
                       [](const Range& a, const Range& b) { return a.begin_ns < b.begin_ns; });
      marks_unsorted_ = false;
    }
    trace_.threads[thread_].ranges.last = static_cast<uint32_t>(trace_.ranges.size());
    trace_.threads[thread_].path_changes.last = static_cast<uint32_t>(trace_.path_changes.size());
    thread_ = kNone;
  }

  // What is still open ends with its thread, or with the last record if the thread did not end before.
  void close_open_ranges() {
    Process& process = trace_.processes[index(input_->process)];
    const auto ended = thread_ends_.find(thread_);
    const bool thread_ended = ended != thread_ends_.end();
    ClockReader clock{*input_->clock};
    const int64_t last_ns = thread_ended ? clock.tick(ended->second) - input_->origin_ns : process.last_ns;
    for (const uint32_t open : open_) {
      Range& range = trace_.ranges[open];
      range.end_ns = std::max(last_ns, range.begin_ns);
      range.unfinished = true;
      range.closed_early = thread_ended;
    }
    if (thread_ended) process.coverage.ranges_closed_early += open_.size();
  }

  StringId domain(const Range& range) const { return trace_.labels[index(range.label)].domain; }

  // `of_any`: the parent is the innermost range of any domain.
  void push(Range range, bool of_any = false) {
    for (auto open = open_.rbegin(); open != open_.rend(); ++open) {
      Range& outer = trace_.ranges[*open];
      if (!of_any && domain(outer) != domain(range)) continue;
      range.parent = *open;
      range.level = static_cast<uint16_t>(std::min<uint32_t>(outer.level + 1u, UINT16_MAX));
      if (outer.children < UINT16_MAX) ++outer.children;
      break;
    }
    path_ = child_path(path_, range.label);
    range.path = path_;
    open_.push_back(static_cast<uint32_t>(trace_.ranges.size()));
    trace_.ranges.push_back(range);
    trace_.path_changes.push_back({range.begin_ns, path_});
  }

  void pop(int64_t now, StringId of_domain, uint32_t values) {
    auto open = open_.end();
    while (open != open_.begin()) {
      --open;
      if (domain(trace_.ranges[*open]) != of_domain) continue;
      const bool innermost = open + 1 == open_.end();
      trace_.ranges[*open].end_ns = now;
      trace_.ranges[*open].crosses = !innermost;
      payloads_.extend(trace_.ranges[*open], values);
      open_.erase(open);
      path_ = innermost ? trace_.paths[index(path_)].parent : rebuilt_path();
      trace_.path_changes.push_back({now, path_});
      return;
    }
    Process& process = trace_.processes[index(input_->process)];
    ++(process.ring ? process.coverage.ranges_begun_before : process.nvtx_pops_without_push);
  }

  PathId rebuilt_path() {
    PathId path{};
    for (const uint32_t open : open_) path = child_path(path, trace_.ranges[open].label);
    return path;
  }

  PathId child_path(PathId parent, LabelId label) {
    const uint64_t key = uint64_t{index(parent)} << 32 | index(label);
    if (key == last_key_) return last_path_;
    const auto [found, added] = paths_.try_emplace(key, static_cast<uint32_t>(trace_.paths.size()));
    if (added) trace_.paths.push_back({parent, label});
    last_key_ = key;
    return last_path_ = PathId{found->second};
  }

  void end_process() {
    end_thread();
    if (input_ == nullptr) return;
    Process& process = trace_.processes[index(input_->process)];
    start_end_.end_process(process);
#define PROF_NVTX_COUNTER(name, note) \
  if (process.name != 0) process.counters.push_back({#name, process.name, format::Severity::Partial});
#include "analyzer/model/coverage.def"
#undef PROF_NVTX_COUNTER
    input_ = nullptr;
  }

  const std::vector<LogInput>& inputs_;
  Trace& trace_;
  const LogInput* input_ = nullptr;
  uint32_t thread_ = kNone;
  std::vector<Range> before_;   // open push/pop ranges of the thread before the horizon, outermost first
  std::vector<uint32_t> open_;  // rows of Trace::nvtx, outermost first
  PathId path_{};
  std::unordered_map<uint64_t, uint32_t> paths_;
  uint64_t last_key_ = UINT64_MAX;
  PathId last_path_{};
  bool marks_unsorted_ = false;
  std::unordered_map<uint32_t, uint64_t> thread_ends_;  // ThreadId -> tick
  MadeLabels labels_{trace_};
  RangePayloads payloads_{trace_};
  StartEndRanges start_end_{trace_, labels_, payloads_};
  LibraryRanges library_{labels_};
};

}  // namespace

void nest_nvtx(const std::vector<LogInput>& inputs, std::vector<LogTask>& tasks, Trace& trace) {
  Nesting(inputs, trace).run(tasks);
}

}  // namespace prof::analyzer
