// Third step of the builder: NVTX records -> ranges, marks and paths.
//
// Push and pop are matched per (thread, domain), as NVTX does. The path of a thread is the list of its open push/pop ranges
// of all domains in order of opening; a domain may close a range below another domain's. Start/end ranges are matched by id
// over all threads of the process and are part of no path.
#include "analyzer/model/stages.h"

#include <algorithm>
#include <unordered_map>

namespace prof::analyzer {

namespace {

class Nesting {
 public:
  Nesting(const std::vector<LogInput>& inputs, Trace& trace) : inputs_(inputs), trace_(trace) {}

  void run(std::vector<LogTask>& tasks) {
    for (LogTask& task : tasks) {
      if (!task.nvtx.empty()) {
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
      if (task.spans[s].nvtx == last) continue;
      if (task.spans[s].thread != thread_) begin_thread(task.spans[s].thread);
      for (size_t i = task.spans[s].nvtx; i < last; ++i) {
        const StagedNvtx& row = task.nvtx[i];
        if (row.step == NvtxStep::Payload) continue;
        Range range;
        range.begin_ns = range.end_ns = ns.tick(row.tick) - input_->origin_ns;
        range.thread = ThreadId{thread_};
        range.payload_type = row.payload_type;
        range.payload = row.value;
        if (row.step != NvtxStep::Pop && row.step != NvtxStep::End) range.label = label_of(task, row);
        switch (row.step) {
          case NvtxStep::Push: push(range); break;
          case NvtxStep::Pop: pop(range.begin_ns, StringId{row.label}); break;
          case NvtxStep::Start:
            range.payload = i + 1 < last && task.nvtx[i + 1].step == NvtxStep::Payload ? task.nvtx[i + 1].tick : 0;
            started_.push_back({row.value, range});
            break;
          case NvtxStep::End: ended_.push_back({row.value, range.begin_ns}); break;
          case NvtxStep::Mark:
            range.style = RangeStyle::Mark;
            range.path = path_;
            trace_.marks.push_back(range);
            trace_.threads[thread_].marks.last = static_cast<uint32_t>(trace_.marks.size());
            break;
          case NvtxStep::Payload: break;
        }
      }
    }
  }

  LabelId label_of(const LogTask& task, const StagedNvtx& row) {
    if (row.text == 0) return LabelId{row.label};
    // Not interned in the program: the label's domain and colour, if there is one, with the text of the record.
    Label label = trace_.labels[row.label];
    label.text = trace_.strings.intern(task.texts[row.text - 1]);
    const uint64_t key = uint64_t{row.label} << 32 | index(label.text);
    const auto [found, added] = inline_labels_.try_emplace(key, static_cast<uint32_t>(trace_.labels.size()));
    if (added) trace_.labels.push_back(label);
    return LabelId{found->second};
  }

  void begin_thread(uint32_t thread) {
    end_thread();
    thread_ = thread;
    Thread& row = trace_.threads[thread];
    row.ranges.first = row.ranges.last = static_cast<uint32_t>(trace_.ranges.size());
    row.path_changes.first = row.path_changes.last = static_cast<uint32_t>(trace_.path_changes.size());
    row.marks.first = row.marks.last = static_cast<uint32_t>(trace_.marks.size());
  }

  void end_thread() {
    if (thread_ == kNone) return;
    const int64_t last_ns = trace_.processes[index(input_->process)].last_ns;
    for (const uint32_t open : open_) {
      trace_.ranges[open].end_ns = std::max(last_ns, trace_.ranges[open].begin_ns);
      trace_.ranges[open].unfinished = true;
    }
    open_.clear();
    path_ = {};
    trace_.threads[thread_].ranges.last = static_cast<uint32_t>(trace_.ranges.size());
    trace_.threads[thread_].path_changes.last = static_cast<uint32_t>(trace_.path_changes.size());
    thread_ = kNone;
  }

  StringId domain(const Range& range) const { return trace_.labels[index(range.label)].domain; }

  void push(Range range) {
    for (auto open = open_.rbegin(); open != open_.rend(); ++open) {
      Range& outer = trace_.ranges[*open];
      if (domain(outer) != domain(range)) continue;
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

  void pop(int64_t now, StringId of_domain) {
    auto open = open_.end();
    while (open != open_.begin()) {
      --open;
      if (domain(trace_.ranges[*open]) != of_domain) continue;
      trace_.ranges[*open].end_ns = now;
      const bool innermost = open + 1 == open_.end();
      open_.erase(open);
      path_ = innermost ? trace_.paths[index(path_)].parent : rebuilt_path();
      trace_.path_changes.push_back({now, path_});
      return;
    }
    ++trace_.processes[index(input_->process)].nvtx_pops_without_push;
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
    std::unordered_map<uint64_t, std::vector<uint32_t>> open;  // range id -> entries of started_, latest last
    std::sort(started_.begin(), started_.end(),
              [](const Started& a, const Started& b) { return a.range.begin_ns < b.range.begin_ns; });
    std::stable_sort(ended_.begin(), ended_.end(),
                     [](const Ended& a, const Ended& b) { return a.time_ns < b.time_ns; });
    const int64_t last_ns = trace_.processes[index(input_->process)].last_ns;
    size_t next = 0;
    const auto open_until = [&](int64_t time_ns) {
      for (; next < started_.size() && started_[next].range.begin_ns <= time_ns; ++next) {
        open[started_[next].id].push_back(static_cast<uint32_t>(next));
      }
    };
    for (Started& each : started_) {
      each.range.style = RangeStyle::StartEnd;
      each.range.unfinished = true;
      each.range.end_ns = std::max(last_ns, each.range.begin_ns);
    }
    for (const Ended& end : ended_) {
      open_until(end.time_ns);
      const auto found = open.find(end.id);
      if (found == open.end() || found->second.empty()) {
        ++trace_.processes[index(input_->process)].nvtx_pops_without_push;
        continue;
      }
      Range& range = started_[found->second.back()].range;
      found->second.pop_back();
      range.end_ns = end.time_ns;
      range.unfinished = false;
    }
    Process& process = trace_.processes[index(input_->process)];
    process.start_end_ranges.first = static_cast<uint32_t>(trace_.ranges.size());
    for (const Started& each : started_) trace_.ranges.push_back(each.range);
    process.start_end_ranges.last = static_cast<uint32_t>(trace_.ranges.size());
    started_.clear();
    ended_.clear();
    input_ = nullptr;
  }

  struct Started {
    uint64_t id;
    Range range;
  };
  struct Ended {
    uint64_t id;
    int64_t time_ns;
  };

  const std::vector<LogInput>& inputs_;
  Trace& trace_;
  const LogInput* input_ = nullptr;
  uint32_t thread_ = kNone;
  std::vector<uint32_t> open_;  // rows of Trace::nvtx, outermost first
  PathId path_{};
  std::unordered_map<uint64_t, uint32_t> paths_;
  uint64_t last_key_ = UINT64_MAX;
  PathId last_path_{};
  std::unordered_map<uint64_t, uint32_t> inline_labels_;
  std::vector<Started> started_;
  std::vector<Ended> ended_;
};

}  // namespace

void nest_nvtx(const std::vector<LogInput>& inputs, std::vector<LogTask>& tasks, Trace& trace) {
  Nesting(inputs, trace).run(tasks);
}

}  // namespace prof::analyzer
