// Third step of the builder: NVTX records -> ranges, marks and paths.
//
// Push and pop are matched per (thread, domain), as NVTX does. The path of a thread is the list of its open push/pop ranges
// of all domains in order of opening; a domain may close a range below another domain's. Start/end ranges are matched by id
// over all threads of the process and are part of no path. Calls of libraries, whose records stand where they returned, are put
// between the pushes and pops as ranges of a domain of their own.
#include "analyzer/model/stages.h"
#include "preload/format/counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

namespace prof::analyzer {

namespace {

class Nesting {
 public:
  Nesting(const std::vector<LogInput>& inputs, Trace& trace) : inputs_(inputs), trace_(trace) {}

  void run(std::vector<LogTask>& tasks) {
    for (const LogTask& task : tasks) take_library_calls(task);
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
      if (task.spans[s].nvtx == last && !library_.contains(task.spans[s].thread)) continue;
      if (task.spans[s].thread != thread_) begin_thread(task.spans[s].thread);
      for (size_t i = task.spans[s].nvtx; i < last; ++i) {
        const StagedNvtx& row = task.nvtx[i];
        if (row.step == NvtxStep::Payload) continue;
        if (row.step == NvtxStep::Extended) {
          pending_.push_back(&task.payloads[row.value]);
          continue;
        }
        const bool before = row.tick < input_->horizon_tick;
        if (!before) open_at_horizon();
        Range range;
        range.begin_ns = range.end_ns = ns.tick(row.tick) - input_->origin_ns;
        range.thread = ThreadId{thread_};
        if (calls_ != nullptr) library_until(range.begin_ns);
        if (row.step < NvtxStep::Extended) {
          range.payload_type = row.payload_type;
          range.payload = row.value;
        }
        if (row.step != NvtxStep::Pop && row.step != NvtxStep::End) range.label = label_of(task, row);
        const uint32_t values = take_payloads(row.tick);
        if (values != 0) {
          range.payload_type = kExtendedPayload;
          range.payload = values;
        } else if (range.payload_type == kExtendedPayload) {
          range.payload_type = 0;
        }
        switch (row.step) {
          case NvtxStep::Push: before ? before_.push_back(range) : push(range); break;
          case NvtxStep::Pop:
            before ? pop_before(StringId{row.label}) : pop(range.begin_ns, StringId{row.label}, values);
            break;
          case NvtxStep::Start:
            if (values == 0)
              range.payload = i + 1 < last && task.nvtx[i + 1].step == NvtxStep::Payload ? task.nvtx[i + 1].tick : 0;
            started_.push_back({row.value, range});
            break;
          case NvtxStep::End: ended_.push_back({row.value, range.begin_ns, ThreadId{thread_}, values}); break;
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

  // Calls of libraries by thread, in model time: a call is known when it returns, which may be in a later task than its begin.
  void take_library_calls(const LogTask& task) {
    if (task.library.empty()) return;
    const LogInput& input = inputs_[task.log];
    ClockReader ns{*input.clock};
    for (const StagedLibraryCall& staged : task.library) {
      Range range;
      range.begin_ns = ns.tick(std::max(staged.begin, input.horizon_tick)) - input.origin_ns;
      range.end_ns = ns.tick(staged.end) - input.origin_ns;
      range.thread = ThreadId{staged.thread};
      range.label = LabelId{staged.label};
      if (staged.text != 0)
        range.label = inline_label(staged.label, task.library_texts[staged.text - 1], kLibraryDomain);
      if (staged.status != 0) range.label = derived_label(range.label, "", fmt::format(" = {}", staged.status));
      library_[staged.thread].push_back(range);
    }
  }

  // Opens and closes what of this thread's calls begins or ends by then.
  void library_until(int64_t now) {
    while (true) {
      const bool begins = next_call_ < calls_->size() && (*calls_)[next_call_].begin_ns <= now;
      const bool ends = !open_calls_.empty() && open_calls_.back().end_ns <= now;
      if (ends && (!begins || open_calls_.back().end_ns <= (*calls_)[next_call_].begin_ns)) {
        const Range done = open_calls_.back();
        open_calls_.pop_back();
        pop(done.end_ns, domain(done), 0);
      } else if (begins) {
        Range range = (*calls_)[next_call_++];
        // Calls lie inside each other: none outlives the one around it.
        if (!open_calls_.empty()) range.end_ns = std::min(range.end_ns, open_calls_.back().end_ns);
        open_calls_.push_back(range);
        push(range, true);
      } else {
        return;
      }
    }
  }

  int64_t horizon_ns() const { return trace_.processes[index(input_->process)].horizon_ns; }
  bool in_ring() const { return trace_.processes[index(input_->process)].ring; }

  // What of a ring lies before its horizon is there by chance: only the ranges that were open at that moment are kept, from then on.
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
  void leave_out_before_horizon() {
    if (!in_ring()) return;
    const int64_t horizon = horizon_ns();
    std::erase_if(started_, [&](const Started& each) { return each.ended && each.range.end_ns < horizon; });
    for (Started& each : started_) each.range.begin_ns = std::max(each.range.begin_ns, horizon);
  }

  // The payloads that stood before this event, as values; 0: none. Those of an event that is lost are too.
  uint32_t take_payloads(uint64_t tick) {
    if (pending_.empty()) return 0;
    Process& process = trace_.processes[index(input_->process)];
    if (pending_.back()->tick != tick) {
      process.nvtx_payloads_unread += pending_.size();
      pending_.clear();
      return 0;
    }
    const DecodedPayload decoded = decode_payloads(input_->schemas, pending_);
    pending_.clear();
    process.nvtx_payloads_unread += decoded.unread;
    if (decoded.values.empty()) return 0;
    const auto first = static_cast<uint32_t>(trace_.payload_values.size());
    for (const NamedValue& value : decoded.values)
      trace_.payload_values.push_back({trace_.strings.intern(value.name), trace_.strings.intern(value.json)});
    return add_payload(first);
  }
  uint32_t add_payload(uint32_t first) {
    trace_.payloads.push_back({first, static_cast<uint32_t>(trace_.payload_values.size())});
    return static_cast<uint32_t>(trace_.payloads.size() - 1);
  }
  // A range gets more values at its end.
  void extend(Range& range, uint32_t values) {
    if (values == 0) return;
    if (range.payload_type == kExtendedPayload) {
      const Rows before = trace_.payloads[range.payload], more = trace_.payloads[values];
      const auto first = static_cast<uint32_t>(trace_.payload_values.size());
      for (const Rows rows : {before, more}) {
        for (uint32_t i = rows.first; i < rows.last; ++i) {
          const PayloadValue value = trace_.payload_values[i];
          trace_.payload_values.push_back(value);
        }
      }
      values = add_payload(first);
    }
    range.payload_type = kExtendedPayload;  // a plain number from its beginning gives way
    range.payload = values;
  }

  void mark(Range range) {
    range.style = RangeStyle::Mark;
    range.path = path_;
    trace_.marks.push_back(range);
    trace_.threads[thread_].marks.last = static_cast<uint32_t>(trace_.marks.size());
  }

  // A label of a text that we make of another label's.
  LabelId derived_label(LabelId from, std::string_view before, std::string_view behind) {
    Label label = trace_.labels[index(from)];
    label.text = trace_.strings.intern(fmt::format("{}{}{}", before, trace_.text(label.text), behind));
    const uint64_t key = uint64_t{1} << 63 | uint64_t{index(from)} << 32 | index(label.text);
    const auto [found, added] = inline_labels_.try_emplace(key, static_cast<uint32_t>(trace_.labels.size()));
    if (added) trace_.labels.push_back(label);
    return LabelId{found->second};
  }

  // Waiting for a synchronisation object and holding it are ranges of their own; the rest are marks.
  void sync(Range range, uint64_t object, format::SyncAction action) {
    const LabelId name = range.label;
    if (action == format::SyncAction::Create || action == format::SyncAction::Destroy) {
      range.label = derived_label(name, action == format::SyncAction::Create ? "create " : "destroy ", "");
      mark(range);
      return;
    }
    if (action == format::SyncAction::AcquireFailed) {
      range.label = derived_label(name, "acquire ", " failed");
      mark(range);
    }
    range.label = name;
    synced_.push_back({range.begin_ns, object, action, range});
  }

  // By time, over all threads: one waits or holds on one thread, another may release.
  void match_sync() {
    std::stable_sort(synced_.begin(), synced_.end(),
                     [](const Synced& a, const Synced& b) { return a.time_ns < b.time_ns; });
    std::unordered_map<uint64_t, std::vector<size_t>> waiting, holding;  // object -> entries of started_, by begin
    const auto begin = [&](std::vector<size_t>& of, const Synced& each, std::string_view verb) {
      Range range = each.range;
      range.label = derived_label(range.label, verb, "");
      of.push_back(started_.size());
      range.unfinished = true;
      started_.push_back({0, range});
    };
    const auto end = [&](std::vector<size_t>& of, const Synced& each) {
      auto found =
          std::find_if(of.begin(), of.end(), [&](size_t i) { return started_[i].range.thread == each.range.thread; });
      if (found == of.end() && each.action == format::SyncAction::Releasing) found = of.begin();
      if (found == of.end()) {
        ++trace_.processes[index(input_->process)].nvtx_sync_unmatched;
        return;
      }
      finish(started_[*found], each.time_ns, each.range.thread);
      of.erase(found);
    };
    for (const Synced& each : synced_) {
      switch (each.action) {
        case format::SyncAction::AcquireStart: begin(waiting[each.object], each, "wait for "); break;
        case format::SyncAction::AcquireFailed: end(waiting[each.object], each); break;
        case format::SyncAction::AcquireSuccess:
          end(waiting[each.object], each);
          begin(holding[each.object], each, "hold ");
          break;
        case format::SyncAction::Releasing: end(holding[each.object], each); break;
        default: break;
      }
    }
    synced_.clear();
  }

  void deferred(Range range, const StagedDeferred& times, uint8_t style) {
    const int64_t submitted_ns = range.begin_ns;
    range.begin_ns = range.end_ns = stamp_ns(*input_, times.clock, times.begin, submitted_ns);
    range.deferred = true;
    if (style == 2) {
      mark(range);
      marks_unsorted_ = true;
    } else {
      range.end_ns = std::max(range.begin_ns, stamp_ns(*input_, times.clock, times.end, submitted_ns));
      started_.push_back({0, range, true});
    }
    trace_.last_ns = std::max(trace_.last_ns, range.end_ns);
  }

  LabelId label_of(const LogTask& task, const StagedNvtx& row) {
    if (row.text == 0) return LabelId{row.label};
    return inline_label(row.label, task.texts[row.text - 1], {});
  }

  // Not interned in the program: the label's domain and colour, if there is one, with the text of the record.
  LabelId inline_label(uint32_t like, std::string_view text, std::string_view of_domain) {
    Label label = trace_.labels[like];
    label.text = trace_.strings.intern(text);
    if (!of_domain.empty()) label.domain = trace_.strings.intern(of_domain);
    const uint64_t key = uint64_t{like} << 32 | index(label.text);
    const auto [found, added] = inline_labels_.try_emplace(key, static_cast<uint32_t>(trace_.labels.size()));
    if (added) trace_.labels.push_back(label);
    return LabelId{found->second};
  }

  void begin_thread(uint32_t thread) {
    end_thread();
    if (!pending_.empty()) trace_.processes[index(input_->process)].nvtx_payloads_unread += pending_.size();
    pending_.clear();
    thread_ = thread;
    Thread& row = trace_.threads[thread];
    row.ranges.first = row.ranges.last = static_cast<uint32_t>(trace_.ranges.size());
    row.path_changes.first = row.path_changes.last = static_cast<uint32_t>(trace_.path_changes.size());
    row.marks.first = row.marks.last = static_cast<uint32_t>(trace_.marks.size());
    const auto calls = library_.find(thread);
    calls_ = calls == library_.end() ? nullptr : &calls->second;
    next_call_ = 0;
    if (calls_ == nullptr) return;
    std::stable_sort(calls_->begin(), calls_->end(), [](const Range& a, const Range& b) {
      return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.end_ns > b.end_ns;
    });
  }

  void end_thread() {
    if (thread_ == kNone) return;
    open_at_horizon();
    const int64_t last_ns = trace_.processes[index(input_->process)].last_ns;
    if (calls_ != nullptr) library_until(INT64_MAX);
    calls_ = nullptr;
    for (const uint32_t open : open_) {
      trace_.ranges[open].end_ns = std::max(last_ns, trace_.ranges[open].begin_ns);
      trace_.ranges[open].unfinished = true;
    }
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

  StringId domain(const Range& range) const { return trace_.labels[index(range.label)].domain; }

  // `of_any`: the range around is its parent, of whichever domain.
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
      extend(trace_.ranges[*open], values);
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

  // Start/end ranges come after the push/pop ranges of their process, sorted by thread and begin.
  void end_process() {
    end_thread();
    if (input_ == nullptr) return;
    for (Started& each : started_) {
      if (each.ended) continue;
      each.range.unfinished = true;
    }
    match_ends();
    match_sync();
    leave_out_before_horizon();
    const int64_t last_ns = trace_.processes[index(input_->process)].last_ns;
    for (Started& each : started_) {
      each.range.style = RangeStyle::StartEnd;
      if (each.range.unfinished) each.range.end_ns = std::max(last_ns, each.range.begin_ns);
    }
    std::stable_sort(started_.begin(), started_.end(),
                     [](const Started& a, const Started& b) { return a.range.begin_ns < b.range.begin_ns; });
    Process& process = trace_.processes[index(input_->process)];
    process.start_end_ranges.first = static_cast<uint32_t>(trace_.ranges.size());
    for (const Started& each : started_) {
      if (each.range.other_thread) trace_.ended_by.emplace(static_cast<uint32_t>(trace_.ranges.size()), each.ended_by);
      trace_.ranges.push_back(each.range);
    }
    process.start_end_ranges.last = static_cast<uint32_t>(trace_.ranges.size());
    started_.clear();
    ended_.clear();
    count("nvtx_pops_without_push", process.nvtx_pops_without_push);
    count("nvtx_ends_without_start", process.nvtx_ends_without_start);
    count("nvtx_ended_again", process.nvtx_ended_again);
    count("nvtx_payloads_unread", process.nvtx_payloads_unread);
    count("nvtx_sync_unmatched", process.nvtx_sync_unmatched);
    input_ = nullptr;
  }

  // For the line about coverage.
  void count(const char* name, uint64_t value) {
    if (value == 0) return;
    trace_.processes[index(input_->process)].counters.push_back(
        {name, value, static_cast<uint8_t>(format::Severity::Partial)});
  }

  // Ranges by their id over all threads: an end closes the latest one of its id that is open.
  void match_ends() {
    std::unordered_map<uint64_t, std::vector<uint32_t>> open;  // range id -> entries of started_, latest last
    std::unordered_map<uint64_t, uint32_t> closed;             // range id -> the one closed last
    std::stable_sort(started_.begin(), started_.end(),
                     [](const Started& a, const Started& b) { return a.range.begin_ns < b.range.begin_ns; });
    std::stable_sort(ended_.begin(), ended_.end(),
                     [](const Ended& a, const Ended& b) { return a.time_ns < b.time_ns; });
    size_t next = 0;
    const auto open_until = [&](int64_t time_ns) {
      for (; next < started_.size() && started_[next].range.begin_ns <= time_ns; ++next) {
        if (!started_[next].ended) open[started_[next].id].push_back(static_cast<uint32_t>(next));
      }
    };
    Process& process = trace_.processes[index(input_->process)];
    for (const Ended& end : ended_) {
      open_until(end.time_ns);
      const auto found = open.find(end.id);
      if (found == open.end() || found->second.empty()) {
        const auto before = closed.find(end.id);
        if (before == closed.end() && process.ring) {
          process.coverage.ranges_begun_before += end.time_ns < process.horizon_ns ? 0 : 1;
          continue;
        }
        ++(before == closed.end() ? process.nvtx_ends_without_start : process.nvtx_ended_again);
        if (before != closed.end()) started_[before->second].range.ended_again = true;
        continue;
      }
      Started& started = started_[found->second.back()];
      closed[end.id] = found->second.back();
      found->second.pop_back();
      finish(started, end.time_ns, end.thread);
      extend(started.range, end.values);
    }
  }

  // The domain of library calls in logs.
  static constexpr std::string_view kLibraryDomain = "library";

  struct Started {
    uint64_t id;
    Range range;
    bool ended = false;
    ThreadId ended_by{};
  };
  struct Ended {
    uint64_t id;
    int64_t time_ns;
    ThreadId thread;
    uint32_t values;  // row of Trace::payloads
  };
  struct Synced {
    int64_t time_ns;
    uint64_t object;
    format::SyncAction action;
    Range range;
  };

  static void finish(Started& started, int64_t end_ns, ThreadId by) {
    started.range.end_ns = end_ns;
    started.range.unfinished = false;
    started.range.other_thread = by != started.range.thread;
    started.ended = true;
    started.ended_by = by;
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
  std::unordered_map<uint64_t, uint32_t> inline_labels_;
  std::vector<Started> started_;
  std::vector<Ended> ended_;
  std::vector<Synced> synced_;
  std::vector<const RecordedPayload*> pending_;  // of the event that comes next
  bool marks_unsorted_ = false;
  std::unordered_map<uint32_t, std::vector<Range>> library_;  // by thread; sorted when its turn comes
  std::vector<Range>* calls_ = nullptr;                       // of this thread; null: none
  size_t next_call_ = 0;
  std::vector<Range> open_calls_;
};

}  // namespace

void nest_nvtx(const std::vector<LogInput>& inputs, std::vector<LogTask>& tasks, Trace& trace) {
  Nesting(inputs, trace).run(tasks);
}

}  // namespace prof::analyzer
