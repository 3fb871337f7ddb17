// idle-gaps: which single gaps cost the most, and what took their time? A row is one gap, the longest first, with its
// division (analysis/idle/gap_division.h). If grouped by pieces, a row is one piece. If grouped by stacks, a row is all
// pieces of a device with the same cause and the same code. With `--definitions gap-cause`, each gap has one cause.
#include "analyzer/analysis/idle/awaited_threads.h"
#include "analyzer/analysis/idle/gap_division.h"
#include "analyzer/analysis/idle/gap_text.h"
#include "analyzer/analysis/idle/gaps.h"
#include "analyzer/analysis/idle/host_code_times.h"
#include "analyzer/analysis/select/time_window.h"
#include "analyzer/analysis/stacks/call_stacks.h"
#include "analyzer/analysis/stacks/host_code_names.h"
#include "analyzer/analysis/stacks/piece_stacks.h"
#include "analyzer/analysis/stacks/stack_groups.h"
#include "analyzer/base/saturated.h"
#include "analyzer/reports/reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <tuple>

namespace prof::analyzer {

namespace {

constexpr std::string_view kClasses[] = {"unlinked", "host_wait", "short", "other"};

// Several threads create rows, so stacks are looked up before.
struct CausedGap {
  Gap gap;
  StringId code{};
};

// The code of the culprit's call. Without a culprit, the code of the late launch.
std::string culprit_code(CallStacks& stacks, const Gap& gap) {
  StackId stack = gap.call == kNone ? StackId{} : stacks.of_call(gap.call);
  if (stack == StackId{} && gap.launch != kNone) stack = stacks.of_call(gap.launch);
  return stacks.best(stack);
}

void add_caused_gap(Table::Row& row, const AnalysisInput& input, const Gap& gap, const std::string_view* code) {
  const Trace& trace = input.trace;
  const Device& device = trace.device(gap.device);
  row.add(gap.begin_ns).add(gap.duration_ns());
  row.add_owner(device.process).add(std::string_view(device_text(device)));
  row.add(gap_cause_text(gap.cause));
  if (gap.operation == kNone) {
    row.empty();
  } else {
    row.add(kClasses[static_cast<size_t>(gap_class(trace, gap))]);
  }
  row.add_if(gap.launch != kNone, gap.host_ns);
  if (gap.call == kNone) {
    row.empty().empty();
  } else {
    row.add(trace.api_name(trace.host[gap.call])).add(trace.host[gap.call].duration_ns());
  }
  row.add(std::string_view(range_text(trace, gap.range)));
  if (code != nullptr) row.add(*code);
  if (gap.thread == kNone) {
    row.empty();
  } else {
    row.add(trace.threads[gap.thread].tid);
  }
  for (const uint32_t each : {gap.previous, gap.operation}) {
    if (each == kNone) {
      row.empty().empty();
    } else {
      const GpuOperation& operation = trace.operations[each];
      row.add(operation_name(input.views.names(), operation, input.options.names));
      row.add(trace.stream(operation.stream()).number);
    }
  }
}

// The windows of the report. Adds a note about them to `table`.
IntervalSet selected_time(const AnalysisInput& input, Table& table) {
  const std::vector<Window> windows = report_windows(input);
  if (windows.empty()) {
    table.notes.push_back("no GPU operation in the window");
    return {};
  }
  table.notes.push_back(windows.size() == 1 ? window_note(windows[0]) : fmt::format("{} windows", windows.size()));
  return union_of(windows);
}

Interval hull_of(const IntervalSet& time) {
  return time.empty() ? Interval{} : Interval{time.parts().front().begin_ns, time.parts().back().end_ns};
}

template <class Listed> void sort_longest_first(std::vector<Listed>& gaps) {
  std::stable_sort(gaps.begin(), gaps.end(), [](const Listed& a, const Listed& b) {
    const DeviceGap &of_a = a, &of_b = b;
    return of_a.duration_ns() != of_b.duration_ns() ? of_a.duration_ns() > of_b.duration_ns()
                                                    : of_a.begin_ns < of_b.begin_ns;
  });
}

// Returns the gaps in the windows of the report with their causes, the longest first.
std::vector<Gap> selected_gaps(const AnalysisInput& input, Table& table) {
  const IntervalSet wanted = selected_time(input, table);
  std::vector<Gap> gaps = find_gaps(input.trace, input.views, input.selection, hull_of(wanted));
  std::erase_if(gaps, [&](const Gap& gap) { return wanted.overlap_ns(gap.begin_ns, gap.end_ns) == 0; });
  sort_longest_first(gaps);
  return gaps;
}

// Calls take(gap, pieces) for the gaps in the windows of the report.
template <class Take> void each_divided(const AnalysisInput& input, Table& table, Take&& take) {
  const IntervalSet wanted = selected_time(input, table);
  divide_gaps(input.trace, input.views, input.selection, hull_of(wanted),
              [&](const DeviceGap& gap, std::span<const GapPiece> pieces) {
                if (wanted.overlap_ns(gap.begin_ns, gap.end_ns) != 0) take(gap, pieces);
              });
}

void add_device(Table::Row& row, const Trace& trace, DeviceId id) {
  const Device& device = trace.device(id);
  row.add_owner(device.process).add(std::string_view(device_text(device)));
}

struct GroupSum {
  uint64_t gaps = 0;
  int64_t time_ns = 0, longest_ns = 0;
};

// Adds a gap, of which each group has a part.
template <class Group> void add_gap(std::map<Group, GroupSum>& sums, const std::map<Group, int64_t>& parts) {
  for (const auto& [group, ns] : parts) {
    GroupSum& sum = sums[group];
    ++sum.gaps;
    sum.time_ns = add_saturated(sum.time_ns, ns);
    sum.longest_ns = std::max(sum.longest_ns, ns);
  }
}

// Adds the rows of a table grouped by device, cause and group of the stack, the longest time first.
template <class Group, class Text>
void add_groups(Table& table, const AnalysisInput& input, const std::map<Group, GroupSum>& sums, StackGroups& stacks,
                Text&& cause_text) {
  std::vector<std::pair<Group, GroupSum>> rows(sums.begin(), sums.end());
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.second.time_ns > b.second.time_ns; });
  for (const auto& [key, sum] : rows) {
    const auto& [device, cause, stack] = key;
    Table::Row row = table.row();
    row.add_owner(input.trace.devices[device].process);
    row.add(std::string_view(device_text(input.trace.devices[device]))).add(cause_text(cause));
    row.add(sum.gaps).add(sum.time_ns).add(sum.longest_ns);
    stacks.add_cell(row, stack);
  }
}

// With host samples, pieces that they explain are grouped by the sampled stacks and by what the thread did there. The
// number of gaps and the longest one are not known for these rows.
Table grouped_with_samples(const AnalysisInput& input, uint32_t frames) {
  StackGroups groups(input.views, frames);
  CallStacks& stacks = call_stacks(input.views);
  const HostSampleRows& samples = host_sample_rows(input.views);
  HostCodeNames names(input.trace, stacks);
  Table table("idle-gaps", "Idle time of devices by the code that took it");
  table.add_columns({ColumnId::pid, ColumnId::device_name, ColumnId::cause, ColumnId::gaps, ColumnId::time,
                     ColumnId::longest, ColumnId::host_state, ColumnId::host_half_width, ColumnId::samples});
  groups.add_column(table);
  using Group = std::tuple<uint32_t, size_t, uint32_t>;  // device, charge, group of the stack
  std::map<Group, GroupSum> sums;
  std::map<Group, int64_t> in_gap;
  std::map<std::pair<uint32_t, size_t>, HostCodeTimes> sampled;  // by device and charge
  each_divided(input, table, [&](const DeviceGap& gap, std::span<const GapPiece> pieces) {
    in_gap.clear();
    for (const GapPiece& piece : pieces) {
      if (needs_samples(piece) && samples.recorded(input.trace.threads[piece.thread].process)) {
        const std::pair key{index(gap.device), piece.charge.number()};
        sampled.try_emplace(key, input.trace, samples).first->second.add(piece.thread, {piece.begin_ns, piece.end_ns});
        continue;
      }
      const uint32_t stack = groups.of_stack(stack_of_piece(stacks, gap, piece));
      in_gap[{index(gap.device), piece.charge.number(), stack}] += piece.duration_ns();
    }
    add_gap(sums, in_gap);
  });
  struct Shown {
    Group group;
    GroupSum sum;
    std::string_view state;
    std::optional<int64_t> half_ns;
    uint64_t samples = 0;
    bool exact = true;
  };
  std::vector<Shown> rows;
  for (const auto& [group, sum] : sums) rows.push_back({group, sum, {}, {}, 0, true});
  for (const auto& [key, times] : sampled) {
    const HostCodeDivision division = times.divide([&names, &groups, &codes = times.codes()](uint32_t i) {
      return names.group(codes[i], groups.of_stack(codes[i].stack));
    });
    for (const HostCodeTime& each : division.groups) {
      rows.push_back({{key.first, key.second, names.named(each.group)},
                      {0, each.time_ns, 0},
                      names.state(each.group),
                      each.half_ns,
                      each.samples,
                      false});
    }
    if (division.not_sampled_ns > 0)
      rows.push_back({{key.first, key.second, 0}, {0, division.not_sampled_ns, 0}, kNotSampled, {}, 0, false});
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Shown& a, const Shown& b) { return a.sum.time_ns > b.sum.time_ns; });
  for (const Shown& each : rows) {
    const auto& [device, charge, stack] = each.group;
    Table::Row row = table.row();
    add_device(row, input.trace, DeviceId{device});
    row.add(GapCharge::of_number(charge).text()).add_if(each.exact, each.sum.gaps).add(each.sum.time_ns);
    row.add_if(each.exact, each.sum.longest_ns).add_text(each.state).add(each.half_ns);
    row.add_if(!each.exact, each.samples);
    groups.add_cell(row, stack);
  }
  return table;
}

Table grouped_by_stack(const AnalysisInput& input, uint32_t frames) {
  if (host_sample_rows(input.views).any()) return grouped_with_samples(input, frames);
  StackGroups groups(input.views, frames);
  CallStacks& stacks = call_stacks(input.views);
  Table table("idle-gaps", "Idle time of devices by the code that took it");
  table.add_columns(
      {ColumnId::pid, ColumnId::device_name, ColumnId::cause, ColumnId::gaps, ColumnId::time, ColumnId::longest});
  groups.add_column(table);
  using Group = std::tuple<uint32_t, size_t, uint32_t>;  // device, charge, group of the stack
  std::map<Group, GroupSum> sums;
  std::map<Group, int64_t> in_gap;
  each_divided(input, table, [&](const DeviceGap& gap, std::span<const GapPiece> pieces) {
    in_gap.clear();
    for (const GapPiece& piece : pieces) {
      const uint32_t stack = groups.of_stack(stack_of_piece(stacks, gap, piece));
      in_gap[{index(gap.device), piece.charge.number(), stack}] += piece.duration_ns();
    }
    add_gap(sums, in_gap);
  });
  add_groups(table, input, sums, groups, [](size_t charge) { return GapCharge::of_number(charge).text(); });
  return table;
}

Table caused_by_stack(const AnalysisInput& input, uint32_t frames) {
  StackGroups stacks(input.views, frames);
  Table table("idle-gaps", "Gaps of devices by the code that made the next launch late");
  table.add_columns(
      {ColumnId::pid, ColumnId::device_name, ColumnId::cause, ColumnId::gaps, ColumnId::time, ColumnId::longest});
  stacks.add_column(table);
  using Group = std::tuple<uint32_t, GapCause, uint32_t>;  // device, cause, group of the stack
  std::map<Group, GroupSum> sums;
  for (const Gap& gap : selected_gaps(input, table)) {
    uint32_t stack = gap.call == kNone ? 0 : stacks.of_call(gap.call);
    if (stack == 0 && gap.launch != kNone) stack = stacks.of_call(gap.launch);
    GroupSum& sum = sums[{index(gap.device), gap.cause, stack}];
    ++sum.gaps;
    sum.time_ns = add_saturated(sum.time_ns, gap.duration_ns());
    sum.longest_ns = std::max(sum.longest_ns, gap.duration_ns());
  }
  add_groups(table, input, sums, stacks, gap_cause_text);
  return table;
}

Table caused(const AnalysisInput& input) {
  Table table("idle-gaps", "Gaps of devices, the longest first");
  table.add_columns({ColumnId::start, ColumnId::duration, ColumnId::pid, ColumnId::device_name, ColumnId::cause,
                     ColumnId::class_, ColumnId::before_launch, ColumnId::culprit_call, ColumnId::culprit_call_time,
                     ColumnId::culprit_range});
  if (call_stacks(input.views).any()) table.add_column(ColumnId::culprit_code);
  table.add_columns(
      {ColumnId::tid, ColumnId::before, ColumnId::before_stream, ColumnId::after, ColumnId::after_stream});
  std::vector<Gap> gaps = selected_gaps(input, table);
  CallStacks& stacks = call_stacks(input.views);
  const auto codes = std::make_shared<StringTable>();
  std::vector<CausedGap> listed;
  for (const Gap& gap : gaps)
    listed.push_back({gap, stacks.any() ? codes->intern(culprit_code(stacks, gap)) : StringId{}});
  table.list(std::move(listed), [input, codes, any = stacks.any()](const CausedGap& each, Table::Row& row) {
    const std::string_view code = (*codes)[each.code];
    add_caused_gap(row, input, each.gap, any ? &code : nullptr);
  });
  table.text_limit = 50;
  return table;
}

// The code in which most host samples of a gap, or of a piece, found the thread.
struct SampledCode {
  uint32_t group = kNone;  // of Division::host_names; kNone: no sample
  int64_t time_ns = 0, half_ns = 0;
  uint64_t samples = 0, of_samples = 0;
};

// The awaited thread with the longest wait in a gap or piece, and the code in which most of its samples are.
struct AwaitedCode {
  StringId who{};            // of Division::codes; 0: no thread was awaited
  std::string_view why_not;  // charged; empty: its log is in the input
  SampledCode host;
};

// A gap and what took most of its time.
struct DividedGap : DeviceGap {
  SampledCode host;
  AwaitedCode awaited;
  int64_t cause_ns = 0, call_ns = 0;  // time of the cause; the call's time in the gap
  size_t first = 0;                   // of Division::parts
  uint32_t call = kNone, range = kNone;
  uint32_t cause_thread = kNone;
  StringId code{};
  GapCharge cause{};
  uint8_t parts = 0;
};

struct PartTime {
  int64_t ns = 0;
  GapCharge charge{};
};

// What the rows of the table are made from. Several threads make rows.
struct Division {
  std::vector<PartTime> parts;  // of each gap, the longest first
  StringTable codes;
  bool any_code = false;
  std::optional<HostCodeNames> host_names;    // empty: the input has no host samples
  std::optional<HostCodeTimes> host_times;    // of one gap or piece at a time
  std::optional<AwaitedTimes> awaited_times;  // as host_times
  const Trace& trace;

  Division(const AnalysisInput& input, CallStacks& stacks) : any_code(stacks.any()), trace(input.trace) {
    const HostSampleRows& rows = host_sample_rows(input.views);
    if (!rows.any()) return;
    host_names.emplace(input.trace, stacks);
    host_times.emplace(input.trace, rows);
    if (any_awaited(input.trace)) awaited_times.emplace(input.trace, input.views);
  }

  SampledCode sampled(std::span<const GapPiece> pieces) {
    SampledCode most;
    if (!host_times) return most;
    host_times->clear();
    for (const GapPiece& piece : pieces) {
      if (needs_samples(piece)) host_times->add(piece.thread, {piece.begin_ns, piece.end_ns});
    }
    return most_of(*host_times);
  }
  SampledCode most_of(const HostCodeTimes& times) {
    if (times.samples() == 0) return {};
    const HostCodeDivision division = host_names->divide(times);
    const HostCodeTime& first = division.groups.front();
    return {first.group, first.time_ns, first.half_ns, first.samples, division.samples};
  }
  AwaitedCode awaited(std::span<const GapPiece> pieces) {
    if (!awaited_times) return {};
    awaited_times->clear();
    for (const GapPiece& piece : pieces) {
      if (needs_samples(piece)) awaited_times->add(piece.thread, {piece.begin_ns, piece.end_ns});
    }
    const std::vector<const AwaitedTimes::Sum*> sums = awaited_times->sums();
    if (sums.empty()) return {};
    const AwaitedTimes::Sum& sum = *sums.front();
    return {codes.intern(awaited_text(trace, sum.who)),
            sum.who.thread != kNone ? std::string_view{} : why_not_charged(sum.who), most_of(sum.times)};
  }
  void add_columns(Table& table) const {
    if (any_code) table.add_column(ColumnId::culprit_code);
    if (!host_names) return;
    table.add_columns({ColumnId::host_code, ColumnId::host_state, ColumnId::host_code_time, ColumnId::host_half_width,
                       ColumnId::samples, ColumnId::host_samples});
    if (!awaited_times) return;
    table.add_columns({ColumnId::awaited, ColumnId::awaited_code, ColumnId::awaited_state, ColumnId::awaited_time,
                       ColumnId::awaited_half_width, ColumnId::awaited_samples});
  }
  void add_cells(Table::Row& row, StringId code, const SampledCode& host, const AwaitedCode& awaited) const {
    if (any_code) row.add(codes[code]);
    if (!host_names) return;
    if (host.group == kNone) {
      row.empty().empty().empty().empty().empty().empty();
    } else {
      row.add(host_names->code(host.group)).add(host_names->state(host.group)).add(host.time_ns).add(host.half_ns);
      row.add(host.samples).add(host.of_samples);
    }
    if (!awaited_times) return;
    if (awaited.who == StringId{}) {
      row.empty();
    } else {
      row.add(codes[awaited.who]);
    }
    const SampledCode& did = awaited.host;
    if (did.group == kNone) {
      row.empty().add_text(awaited.who == StringId{} ? "" : awaited.why_not.empty() ? kNotSampled : awaited.why_not);
      row.empty().empty().empty();
    } else {
      row.add(host_names->code(did.group)).add(host_names->state(did.group));
      row.add(did.time_ns).add(did.half_ns).add(did.samples);
    }
  }

  std::string text(const DividedGap& gap) const {
    std::string text;
    for (size_t i = gap.first; i < gap.first + gap.parts; ++i)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", parts[i].charge.text(), scaled_time(parts[i].ns));
    return text;
  }
};

// Adds the causes of a gap, the longest first.
DividedGap summed_up(const DeviceGap& gap, std::span<const GapPiece> pieces, Division& division) {
  DividedGap listed;
  static_cast<DeviceGap&>(listed) = gap;
  listed.first = division.parts.size();
  for (const GapPiece& piece : pieces) {
    const auto begin = division.parts.begin() + static_cast<ptrdiff_t>(listed.first);
    const auto found =
        std::find_if(begin, division.parts.end(), [&](const PartTime& each) { return each.charge == piece.charge; });
    if (found == division.parts.end()) {
      division.parts.push_back({piece.duration_ns(), piece.charge});
    } else {
      found->ns += piece.duration_ns();
    }
  }
  std::stable_sort(division.parts.begin() + static_cast<ptrdiff_t>(listed.first), division.parts.end(),
                   [](const PartTime& a, const PartTime& b) { return a.ns > b.ns; });
  listed.parts = static_cast<uint8_t>(division.parts.size() - listed.first);
  return listed;
}

void add_call(Table::Row& row, const Trace& trace, uint32_t call, int64_t ns) {
  if (call == kNone) {
    row.empty().empty();
  } else {
    row.add(trace.api_name(trace.host[call])).add(ns);
  }
}

void add_operation(Table::Row& row, const AnalysisInput& input, uint32_t operation) {
  if (operation == kNone) {
    row.empty().empty();
    return;
  }
  const GpuOperation& each = input.trace.operations[operation];
  row.add(operation_name(input.views.names(), each, input.options.names));
  row.add(input.trace.stream(each.stream()).number);
}

void add_gap(Table::Row& row, const AnalysisInput& input, const DividedGap& gap, const Division& division) {
  const Trace& trace = input.trace;
  row.add(gap.begin_ns).add(gap.duration_ns());
  add_device(row, trace, gap.device);
  row.add(gap.cause.text()).add(gap.cause_ns);
  if (gap.operation == kNone) {
    row.empty();
  } else {
    row.add(kClasses[static_cast<size_t>(gap_class(trace, gap))]);
  }
  row.add_if(gap.launch != kNone, gap.host_ns);
  add_call(row, trace, gap.call, gap.call_ns);
  row.add_text(range_text(trace, gap.range));
  division.add_cells(row, gap.code, gap.host, gap.awaited);
  row.add_if(gap.cause_thread != kNone, gap.cause_thread == kNone ? 0 : trace.threads[gap.cause_thread].tid);
  add_operation(row, input, gap.previous);
  add_operation(row, input, gap.operation);
  row.add(std::string_view(division.text(gap)));
}

Table divided(const AnalysisInput& input) {
  Table table("idle-gaps", "Gaps of devices, the longest first");
  CallStacks& stacks = call_stacks(input.views);
  const auto division = std::make_shared<Division>(input, stacks);
  table.add_columns({ColumnId::start, ColumnId::duration, ColumnId::pid, ColumnId::device_name, ColumnId::cause,
                     ColumnId::cause_time, ColumnId::class_, ColumnId::before_launch, ColumnId::culprit_call,
                     ColumnId::culprit_call_time, ColumnId::culprit_range});
  division->add_columns(table);
  table.add_columns({ColumnId::tid, ColumnId::before, ColumnId::before_stream, ColumnId::after, ColumnId::after_stream,
                     ColumnId::division});
  std::vector<DividedGap> gaps;
  each_divided(input, table, [&](const DeviceGap& gap, std::span<const GapPiece> pieces) {
    DividedGap& listed = gaps.emplace_back(summed_up(gap, pieces, *division));
    const MainPart main = main_part(pieces);
    const GapPiece& piece = *main.longest;
    listed.cause = main.charge, listed.cause_ns = main.ns;
    listed.call = piece.call, listed.range = piece.range;
    listed.cause_thread = piece.thread == kNone ? gap.thread : piece.thread;
    for (const GapPiece& each : pieces) listed.call_ns += each.call == piece.call ? each.duration_ns() : 0;
    if (division->any_code) listed.code = division->codes.intern(stacks.best(stack_of_piece(stacks, gap, piece)));
    listed.host = division->sampled(pieces);
    listed.awaited = division->awaited(pieces);
  });
  sort_longest_first(gaps);
  table.list(std::move(gaps),
             [input, division](const DividedGap& gap, Table::Row& row) { add_gap(row, input, gap, *division); });
  table.text_limit = 50;
  return table;
}

// One row per piece, by device, then by time.
Table pieces_of_gaps(const AnalysisInput& input) {
  struct Listed {
    GapPiece piece;
    int64_t gap_ns = 0;  // start of the gap
    DeviceId device{};
    uint32_t operation = kNone;
    StringId code{};
    SampledCode host{};
    AwaitedCode awaited{};
  };
  Table table("idle-gaps", "Pieces of the gaps of devices");
  CallStacks& stacks = call_stacks(input.views);
  const auto division = std::make_shared<Division>(input, stacks);
  table.add_columns({ColumnId::gap_start, ColumnId::start, ColumnId::duration, ColumnId::pid, ColumnId::device_name,
                     ColumnId::cause, ColumnId::culprit_call, ColumnId::culprit_call_time, ColumnId::culprit_range});
  division->add_columns(table);
  table.add_columns({ColumnId::tid, ColumnId::after, ColumnId::after_stream});
  std::vector<Listed> listed;
  each_divided(input, table, [&](const DeviceGap& gap, std::span<const GapPiece> pieces) {
    for (const GapPiece& piece : pieces) {
      Listed& each = listed.emplace_back(Listed{piece, gap.begin_ns, gap.device, gap.operation, {}, {}, {}});
      if (division->any_code) each.code = division->codes.intern(stacks.best(stack_of_piece(stacks, gap, piece)));
      each.host = division->sampled({&piece, 1});
      each.awaited = division->awaited({&piece, 1});
    }
  });
  table.list(std::move(listed), [input, division](const Listed& each, Table::Row& row) {
    const Trace& trace = input.trace;
    const GapPiece& piece = each.piece;
    row.add(each.gap_ns).add(piece.begin_ns).add(piece.duration_ns());
    add_device(row, trace, each.device);
    row.add(piece.charge.text());
    add_call(row, trace, piece.call, piece.duration_ns());
    row.add_text(range_text(trace, piece.range));
    division->add_cells(row, each.code, each.host, each.awaited);
    row.add_if(piece.thread != kNone, piece.thread == kNone ? 0 : trace.threads[piece.thread].tid);
    add_operation(row, input, each.operation);
  });
  table.text_limit = 50;
  return table;
}

}  // namespace

Table report_idle_gaps(const AnalysisInput& input) {
  std::vector<std::string> words = input.options.group_by;
  const bool by_piece = std::erase(words, "piece") != 0;
  const uint32_t frames = StackGroups::parse_only("idle-gaps", words);
  if (by_piece && frames != 0) throw std::runtime_error("--group-by: give idle-gaps one of piece, stack:N and stack");
  if (input.options.definitions == Definitions::GapCause) {
    if (by_piece) throw std::runtime_error("--definitions gap-cause does not divide gaps into pieces");
    return frames != 0 ? caused_by_stack(input, frames) : caused(input);
  }
  return by_piece ? pieces_of_gaps(input) : frames != 0 ? grouped_by_stack(input, frames) : divided(input);
}

}  // namespace prof::analyzer
