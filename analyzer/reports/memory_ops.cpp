// memory-ops: what allocated the most, and whose memory was live at the peak? Rows are ops, or the keys of --group-by:
// call, pool, NVTX path, stack, thread.
#include "analyzer/analysis/memory_timeline.h"
#include "analyzer/analysis/stacks/stack_groups.h"
#include "analyzer/base/saturated.h"
#include "analyzer/model/event_names.h"
#include "analyzer/reports/reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>

namespace prof::analyzer {

namespace {

struct MemorySum {
  uint64_t allocations = 0;
  int64_t allocated = 0, largest = 0, at_peak = 0, left = 0;
};

enum class Word { Op, Call, Pool, Path, Stack, Thread };
constexpr struct {
  Word word;
  std::string_view spelling;
  ColumnId column;
} kWords[] = {{Word::Thread, "thread", ColumnId::thread}, {Word::Call, "call", ColumnId::call},
              {Word::Pool, "pool", ColumnId::pool},       {Word::Path, "path", ColumnId::path},
              {Word::Stack, "stack", ColumnId::stack},    {Word::Op, "op", ColumnId::name}};

struct Grouping {
  std::vector<Word> words;
  uint32_t frames = 0;  // of a stack
};

Grouping grouping(const std::vector<std::string>& words) {
  Grouping result;
  std::vector<Word>& asked = result.words;
  for (const std::string& spelling : words) {
    const std::string_view plain = StackGroups::parse(spelling, result.frames) ? "stack" : std::string_view(spelling);
    const auto* const found =
        std::find_if(std::begin(kWords), std::end(kWords), [&](const auto& row) { return row.spelling == plain; });
    if (found == std::end(kWords))
      throw std::runtime_error(
          fmt::format("--group-by: memory-ops knows op, call, pool, path, stack:N and thread, not '{}'", spelling));
    if (std::find(asked.begin(), asked.end(), found->word) == asked.end()) asked.push_back(found->word);
  }
  if (asked.empty()) asked.push_back(Word::Op);
  return result;
}

// The group of a change, as ids that are equal for equal texts.
class Groups {
 public:
  Groups(const AnalysisInput& input, Grouping grouping)
      : input_(input),
        words_(std::move(grouping.words)),
        names_(input.views.event_names()),
        stacks_(input.views, grouping.frames) {}

  std::vector<uint32_t> of(const MemoryChange& change) {
    std::vector<uint32_t> key;
    for (const Word word : words_) key.push_back(id(word, change));
    return key;
  }
  std::string text(Word word, uint32_t id) {
    const Trace& trace = input_.trace;
    switch (word) {
      case Word::Op: return id == 0 ? std::string{} : std::string(names_.text(StringId{id}));
      case Word::Call: return std::string(trace.strings[trace.apis[id]]);
      case Word::Pool: return pool_text(trace, id);
      case Word::Path: return id == 0 ? std::string{} : path_text(trace, PathId{id});
      case Word::Stack: return std::string(stacks_.text(id));
      case Word::Thread: return std::to_string(trace.threads[id].tid);
    }
    return {};
  }
  const std::vector<Word>& words() const { return words_; }

 private:
  uint32_t id(Word word, const MemoryChange& change) {
    const Trace& trace = input_.trace;
    switch (word) {
      case Word::Op: return change.range == kNone ? 0 : static_cast<uint32_t>(names_.of(trace.ranges[change.range]));
      case Word::Call: return change.call == kNone ? 0 : trace.host[change.call].api();
      case Word::Pool: return change.pool;
      case Word::Path: return change.range == kNone ? 0 : index(trace.ranges[change.range].path);
      case Word::Stack: return change.call == kNone ? 0 : stacks_.of_call(change.call);
      case Word::Thread: return change.thread;
    }
    return 0;
  }

  const AnalysisInput& input_;
  std::vector<Word> words_;
  const EventNames& names_;
  StackGroups stacks_;
};

using MemorySums = std::map<std::vector<uint32_t>, MemorySum>;

MemorySums sums_of(const MemoryTimeline& timeline, uint32_t peak, const Selection& selection, Groups& groups) {
  MemorySums sums;
  for (uint32_t i = 0; i < timeline.changes.size(); ++i) {
    const MemoryChange& change = timeline.changes[i];
    // Live memory belongs to the call that allocated it, whichever call releases it.
    const uint32_t made_at = change.bytes > 0 ? i : change.allocation;
    if (made_at == kNone || !of_ranges(selection, timeline.changes[made_at])) continue;
    if (change.bytes > 0) {
      MemorySum& sum = sums[groups.of(change)];
      if (i <= peak) sum.at_peak = add_saturated(sum.at_peak, change.bytes);
      sum.left = add_saturated(sum.left, change.bytes);
      if (!selection.in_window(change.time_ns, change.time_ns)) continue;
      ++sum.allocations;
      sum.allocated = add_saturated(sum.allocated, change.bytes);
      sum.largest = std::max(sum.largest, change.bytes);
    } else {
      const MemoryChange& made = timeline.changes[change.allocation];
      MemorySum& sum = sums[groups.of(made)];
      if (i <= peak) sum.at_peak = add_saturated(sum.at_peak, -made.bytes);  // made.bytes is above 0
      sum.left = add_saturated(sum.left, -made.bytes);
    }
  }
  return sums;
}

}  // namespace

Table report_memory_ops(const AnalysisInput& input) {
  Groups groups(input, grouping(input.options.group_by));
  const bool by_op = groups.words().size() == 1 && groups.words().front() == Word::Op;
  Table table("memory-ops", by_op ? "Memory by the op that allocated it" : "Memory by what allocated it");
  table.add_columns({ColumnId::pid, ColumnId::where, ColumnId::allocations, ColumnId::allocated_bytes,
                     ColumnId::largest_bytes, ColumnId::live_at_peak_bytes, ColumnId::peak_percent,
                     ColumnId::end_bytes});
  for (const Word word : groups.words()) {
    for (const auto& row : kWords) {
      if (row.word == word) table.add_column(row.column);
      if (row.word == word && word == Word::Op)
        table.notes.push_back("name: the innermost op or range in which it was allocated, empty for none");
    }
  }
  for (const MemoryTimeline& timeline : memory_timelines(input)) {
    const uint32_t peak = timeline.peak(input.selection);
    if (peak == kNone) continue;
    const MemorySums sums = sums_of(timeline, peak, input.selection, groups);
    std::vector<std::pair<std::vector<uint32_t>, MemorySum>> rows(sums.begin(), sums.end());
    std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
      return a.second.at_peak != b.second.at_peak ? a.second.at_peak > b.second.at_peak
                                                  : a.second.allocated > b.second.allocated;
    });
    const int64_t peak_bytes = timeline.changes[peak].live;
    for (const auto& [key, sum] : rows) {
      Table::Row row = table.row();
      row.add_owner(timeline.process).add(std::string_view(place_text(timeline)));
      row.add(sum.allocations).add(sum.allocated).add(sum.largest).add(sum.at_peak);
      row.add_percent(sum.at_peak, peak_bytes);
      row.add(sum.left);
      for (size_t i = 0; i < key.size(); ++i) row.add(std::string_view(groups.text(groups.words()[i], key[i])));
    }
  }
  return table;
}

}  // namespace prof::analyzer
