// idle: how long was each device idle, and why? The report sums the pieces of analysis/idle/gap_division.h by device,
// window and cause. Host samples divide causes that no call explains further (host_code_times.h). With `--definitions
// gap-cause`, each gap has one cause (analysis/idle/gaps.h). With the definitions of Holistic Trace Analysis, a gap is
// between consecutive operations of one stream, and other streams are ignored.
#include "analyzer/analysis/hta_rules.h"
#include "analyzer/analysis/idle/awaited_threads.h"
#include "analyzer/analysis/idle/gap_text.h"
#include "analyzer/analysis/idle/gaps.h"
#include "analyzer/analysis/idle/host_code_times.h"
#include "analyzer/analysis/idle/piece_names.h"
#include "analyzer/analysis/select/window_finder.h"
#include "analyzer/analysis/stacks/host_code_names.h"
#include "analyzer/base/saturated.h"
#include "analyzer/base/statistics.h"
#include "analyzer/reports/reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>

namespace prof::analyzer {

namespace {

struct CauseSum {
  uint64_t gaps = 0;
  int64_t total_ns = 0, host_ns = 0, longest_ns = 0;
  std::unordered_map<std::string_view, int64_t> culprits;  // name -> time
};

// The name with the longest time; of equal times, the alphabetically first name.
std::pair<std::string_view, int64_t> most_of(const CauseSum& sum) {
  std::pair<std::string_view, int64_t> most{"", 0};
  for (const auto& [name, ns] : sum.culprits) {
    if (!name.empty() && (ns > most.second || (ns == most.second && name < most.first))) most = {name, ns};
  }
  return most;
}

void add_device(Table& table, const AnalysisInput& input, const EventNames& names, const Window& window,
                const Gap* first, const Gap* last) {
  const Trace& trace = input.trace;
  std::array<CauseSum, kGapCauses> sums;
  int64_t idle_ns = 0;
  for (const Gap* gap = first; gap != last; ++gap) {
    const int64_t begin = std::max(gap->begin_ns, window.begin_ns), end = std::min(gap->end_ns, window.end_ns);
    if (begin >= end) continue;
    CauseSum& sum = sums[static_cast<size_t>(gap->cause)];
    ++sum.gaps;
    sum.total_ns += end - begin;
    sum.host_ns += std::clamp(gap->begin_ns + gap->host_ns, begin, end) - begin;
    sum.longest_ns = std::max(sum.longest_ns, end - begin);
    sum.culprits[culprit_name(trace, names, *gap)] += end - begin;
    idle_ns += end - begin;
  }
  std::array<size_t, kGapCauses> order;
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return sums[a].total_ns > sums[b].total_ns; });
  const Device& device = trace.device(first->device);
  for (const size_t cause : order) {
    const CauseSum& sum = sums[cause];
    if (sum.gaps == 0) continue;
    Table::Row row = table.row();
    row.add(std::string_view(window.label)).add_owner(device.process);
    row.add(std::string_view(device_text(device))).add(gap_cause_text(static_cast<GapCause>(cause)));
    row.add(sum.gaps).add(sum.total_ns).add(percent(sum.total_ns, idle_ns));
    row.add(percent(sum.total_ns, window.length_ns())).add(sum.host_ns);
    const int64_t mean_ns = sum.total_ns / static_cast<int64_t>(sum.gaps);
    row.add(static_cast<double>(mean_ns)).add(sum.longest_ns);
    const auto [name, ns] = most_of(sum);
    if (!name.empty()) row.add(name).add(ns);
  }
}

// The columns of the report, and a header line for each window. False: there is no window.
bool begin_table(Table& table, const std::vector<Window>& windows, bool host_samples = false, bool awaited = false) {
  table.add_columns({ColumnId::window, ColumnId::pid, ColumnId::device_name, ColumnId::cause});
  if (host_samples) table.add_columns({ColumnId::host_code, ColumnId::host_state});
  if (awaited) table.add_column(ColumnId::awaited);
  table.add_columns({ColumnId::gaps, ColumnId::time});
  if (host_samples) table.add_columns({ColumnId::samples, ColumnId::host_half_width});
  table.add_column(ColumnId::idle_share_percent);
  table.add_column(ColumnId::window_percent, 1);
  table.add_columns(
      {ColumnId::before_launch, ColumnId::mean, ColumnId::max, ColumnId::top_culprit, ColumnId::top_culprit_time});
  if (windows.empty()) {
    table.notes.push_back("no GPU operation in the window");
    return false;
  }
  for (const Window& window : windows) {
    if (windows.size() <= 8) table.notes.push_back(window_note(window));
  }
  if (windows.size() > 8) table.notes.push_back(fmt::format("{} windows", windows.size()));
  return true;
}

// The pieces with one cause, in one window of one device.
struct ChargeSum {
  uint64_t gaps = 0;  // with such a piece
  int64_t total_ns = 0, host_ns = 0, longest_ns = 0;
  std::unordered_map<uint64_t, int64_t> names;  // key of PieceNames -> time
  std::unique_ptr<HostCodeTimes> host;          // null: no host samples, or a cause that they do not explain
  std::unique_ptr<AwaitedTimes> awaited;        // as `host`
};

constexpr size_t kMostCodes = 10;  // rows of host samples per cause
constexpr size_t kMostAwaited = 8, kMostAwaitedCodes = 3;

class DividedIdle {
 public:
  explicit DividedIdle(const AnalysisInput& input)
      : input_(input),
        windows_(report_windows(input)),
        finder_(windows_),
        names_(input),
        host_rows_(host_sample_rows(input.views)),
        any_awaited_(host_rows_.any() && any_awaited(input.trace)),
        host_names_(input.trace, call_stacks(input.views)) {}

  Table table() {
    Table table("idle", "Idle time of devices by what took it");
    if (!begin_table(table, windows_, host_rows_.any(), any_awaited_)) return table;
    divide_gaps(input_.trace, input_.views, input_.selection, finder_.hull(),
                [&](const DeviceGap& gap, std::span<const GapPiece> pieces) {
                  finder_.each(gap.begin_ns, gap.end_ns, [&](size_t window) { add(window, gap, pieces); });
                });
    for (const auto& [key, sums] : sums_) add_rows(table, windows_[key.first], DeviceId{key.second}, sums);
    for (size_t part = 0; part < kGapParts; ++part) {
      if (used_[part]) {
        const auto each = static_cast<GapPart>(part);
        table.notes.push_back(fmt::format("{}: {}", gap_part_text(each), gap_part_meaning(each)));
      }
    }
    if (used_[static_cast<size_t>(GapPart::UnknownWait)] || used_[static_cast<size_t>(GapPart::Outside)])
      table.notes.push_back(std::string(kSilentThreads));
    if (others_) {
      table.notes.push_back(
          "other thread: …: what another thread did while the launching thread waited for it, or did nothing "
          "recorded");
    }
    add_host_notes(table);
    return table;
  }

 private:
  using Sums = std::array<ChargeSum, kGapCharges>;

  void add(size_t window, const DeviceGap& gap, std::span<const GapPiece> pieces) {
    const std::pair key{window, index(gap.device)};
    if (last_ == nullptr || key != last_key_) {
      last_ = &sums_[key];
      last_key_ = key;
    }
    const int64_t begin_ns = windows_[window].begin_ns, end_ns = windows_[window].end_ns;
    for (const GapPiece& piece : pieces) {
      const Interval part = inside(piece, begin_ns, end_ns);
      if (part.length_ns() == 0) continue;
      const size_t charge = piece.charge.number();
      ChargeSum& sum = (*last_)[charge];
      if (in_gap_ns_[charge] == 0) touched_.push_back(charge);
      in_gap_ns_[charge] += part.length_ns();
      sum.host_ns += std::clamp(gap.launched_ns(), part.begin_ns, part.end_ns) - part.begin_ns;
      sum.names[names_.key(gap, piece)] += part.length_ns();
      if (needs_samples(piece) && host_rows_.recorded(input_.trace.threads[piece.thread].process)) {
        if (sum.host == nullptr) {
          sum.host = std::make_unique<HostCodeTimes>(input_.trace, host_rows_);
          sum.awaited = std::make_unique<AwaitedTimes>(input_.trace, input_.views);
        }
        sum.host->add(piece.thread, part);
        sum.awaited->add(piece.thread, part);
      }
    }
    for (const size_t charge : touched_) {
      ChargeSum& sum = (*last_)[charge];
      const int64_t ns = std::exchange(in_gap_ns_[charge], 0);
      ++sum.gaps;
      sum.total_ns += ns;
      sum.longest_ns = std::max(sum.longest_ns, ns);
    }
    touched_.clear();
  }

  void add_rows(Table& table, const Window& window, DeviceId device, const Sums& sums) {
    int64_t idle_ns = 0;
    std::vector<size_t> order;
    for (size_t charge = 0; charge < kGapCharges; ++charge) {
      if (sums[charge].gaps != 0) order.push_back(charge);
      idle_ns += sums[charge].total_ns;
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return sums[a].total_ns > sums[b].total_ns; });
    for (const size_t charge : order) {
      const ChargeSum& sum = sums[charge];
      const GapCharge what = GapCharge::of_number(charge);
      used_[static_cast<size_t>(what.part)] = true;
      others_ |= what.other_thread;
      {
        Table::Row row = table.row();
        add_place(row, window, device, what);
        if (host_rows_.any()) row.empty().empty();
        if (any_awaited_) row.empty();
        row.add(sum.gaps).add(sum.total_ns);
        if (host_rows_.any()) row.empty().empty();
        row.add(percent(sum.total_ns, idle_ns)).add(percent(sum.total_ns, window.length_ns())).add(sum.host_ns);
        const int64_t mean_ns = sum.total_ns / static_cast<int64_t>(sum.gaps);
        row.add(static_cast<double>(mean_ns)).add(sum.longest_ns);
        std::pair<std::string, int64_t> most;
        for (const auto& [name, ns] : names_.by_text(sum.names)) {
          if (ns > most.second) most = {name, ns};
        }
        if (!most.first.empty()) row.add(std::string_view(most.first)).add(most.second);
      }
      if (sum.host == nullptr) continue;
      add_host_rows(table, window, device, what, *sum.host, idle_ns);
      add_awaited_rows(table, window, device, what, *sum.awaited);
    }
  }

  void add_place(Table::Row& row, const Window& window, DeviceId id, GapCharge charge) const {
    const Device& device = input_.trace.device(id);
    row.add(std::string_view(window.label)).add_owner(device.process);
    row.add(std::string_view(device_text(device))).add(charge.text());
  }

  // The parts of a cause's row: the code in which host samples found the thread, and what no sample represents.
  void add_host_rows(Table& table, const Window& window, DeviceId device, GapCharge charge, const HostCodeTimes& times,
                     int64_t idle_ns) {
    const HostCodeDivision division = host_names_.divide(times);
    host_total_ns_ += division.total_ns;
    host_sampled_ns_ += division.sampled_ns();
    host_samples_ += division.samples;
    const auto add = [&](std::string_view code, std::string_view state, int64_t ns, uint64_t samples,
                         std::optional<int64_t> half_ns) {
      Table::Row row = table.row();
      add_place(row, window, device, charge);
      row.add(code).add_text(state);
      if (any_awaited_) row.empty();
      row.empty().add(ns).add(samples).add(half_ns);
      row.add(percent(ns, idle_ns)).add(percent(ns, window.length_ns()));
    };
    size_t shown = 0;
    HostCodeTime rest;
    for (const HostCodeTime& each : division.groups) {
      if (shown++ < kMostCodes) {
        add(host_names_.code(each.group), host_names_.state(each.group), each.time_ns, each.samples, each.half_ns);
      } else {
        rest.time_ns += each.time_ns;
        rest.samples += each.samples;
      }
    }
    if (shown > kMostCodes)
      add(fmt::format("{} others", shown - kMostCodes), {}, rest.time_ns, rest.samples, std::nullopt);
    int64_t unknown_ns = division.not_sampled_ns;
    for (size_t state = 0; state < division.not_sampled_in_state_ns.size(); ++state) {
      const int64_t ns = std::min(unknown_ns, division.not_sampled_in_state_ns[state]);
      if (ns <= 0) continue;
      const HostCode only{{}, {}, static_cast<HostState>(state), BlockedIn::None};
      add(kNotSampled, host_state_text(input_.trace, only), ns, 0, std::nullopt);
      unknown_ns -= ns;
    }
    if (unknown_ns > 0) add(kNotSampled, {}, unknown_ns, 0, std::nullopt);
  }

  // What the threads did that were waited for in the time of a cause.
  void add_awaited_rows(Table& table, const Window& window, DeviceId device, GapCharge charge,
                        const AwaitedTimes& awaited) {
    const std::vector<const AwaitedTimes::Sum*> sums = awaited.sums();
    for (size_t i = 0; i < std::min(sums.size(), kMostAwaited); ++i) {
      const AwaitedTimes::Sum& sum = *sums[i];
      const std::string who = awaited_text(input_.trace, sum.who);
      const auto add = [&](std::string_view code, std::string_view state, std::optional<int64_t> ns,
                           std::optional<uint64_t> samples, std::optional<int64_t> half_ns) {
        Table::Row row = table.row();
        add_place(row, window, device, charge);
        row.add_text(code).add_text(state).add(std::string_view(who)).empty().add(ns).add(samples).add(half_ns);
      };
      awaited_ = true;
      if (sum.who.thread == kNone) {
        add({}, why_not_charged(sum.who), std::nullopt, std::nullopt, std::nullopt);
        continue;
      }
      const HostCodeDivision division = host_names_.divide(sum.times);
      size_t shown = 0;
      int64_t others_ns = 0;
      uint64_t samples = 0;
      for (const HostCodeTime& each : division.groups) {
        if (shown++ < kMostAwaitedCodes) {
          add(host_names_.code(each.group), host_names_.state(each.group), each.time_ns, each.samples, each.half_ns);
        } else {
          others_ns += each.time_ns;
          samples += each.samples;
        }
      }
      if (shown > kMostAwaitedCodes)
        add(fmt::format("{} others", shown - kMostAwaitedCodes), {}, others_ns, samples, std::nullopt);
      if (division.not_sampled_ns > 0) add(kNotSampled, {}, division.not_sampled_ns, 0, std::nullopt);
    }
    awaited_left_out_ += sums.size() - std::min(sums.size(), kMostAwaited);
  }

  void add_host_notes(Table& table) const {
    if (!host_rows_.any()) return;
    if (awaited_)
      table.notes.push_back(
          "rows with an awaited thread show what it did while the launching thread waited for it, "
          "in waits with a host sample; they are no parts of the row of their cause");
    if (awaited_left_out_ != 0)
      table.notes.push_back(fmt::format("{} more awaited threads are not shown", awaited_left_out_));
    table.notes.push_back(fmt::format(
        "rows with host code are parts of the row of their cause: {} host samples represent {} of {} ({:.1f} "
        "%); time that no sample represents is not sampled",
        host_samples_, scaled_time(host_sampled_ns_), scaled_time(host_total_ns_),
        percent(host_sampled_ns_, host_total_ns_)));
  }

  const AnalysisInput& input_;
  const std::vector<Window> windows_;
  const WindowFinder finder_;
  PieceNames names_;
  std::map<std::pair<size_t, uint32_t>, Sums> sums_;  // by window, then by device
  std::pair<size_t, uint32_t> last_key_;
  Sums* last_ = nullptr;  // of sums_
  std::array<int64_t, kGapCharges> in_gap_ns_{};
  std::vector<size_t> touched_;
  std::array<bool, kGapParts> used_{};
  bool others_ = false;
  const HostSampleRows& host_rows_;
  const bool any_awaited_;
  HostCodeNames host_names_;
  int64_t host_total_ns_ = 0, host_sampled_ns_ = 0;
  uint64_t host_samples_ = 0;
  bool awaited_ = false;
  size_t awaited_left_out_ = 0;
};

Table by_cause(const AnalysisInput& input) {
  Table table("idle", "Idle time of devices by cause");
  const std::vector<Window> windows = report_windows(input);
  if (!begin_table(table, windows)) return table;
  const Interval hull = WindowFinder(windows).hull();
  const std::vector<Gap> gaps = find_gaps(input.trace, input.views, input.selection, hull);
  const EventNames& names = input.views.event_names();
  for (const Window& window : windows) {
    for (size_t from = 0, to; from < gaps.size(); from = to) {
      const auto same = [&](const Gap& gap) { return gap.device == gaps[from].device; };
      to = static_cast<size_t>(std::find_if_not(gaps.begin() + static_cast<ptrdiff_t>(from), gaps.end(), same) -
                               gaps.begin());
      // Gaps of a device are disjoint and in order, so the gaps of the window are adjacent.
      const Gap* const end = gaps.data() + to;
      const Gap* const first =
          std::partition_point(gaps.data() + from, end, [&](const Gap& gap) { return gap.end_ns <= window.begin_ns; });
      const Gap* const last =
          std::partition_point(first, end, [&](const Gap& gap) { return gap.begin_ns < window.end_ns; });
      if (first != last) add_device(table, input, names, window, first, last);
    }
  }
  for (size_t cause = 0; cause < kGapCauses; ++cause) {
    const std::string_view text = gap_cause_text(static_cast<GapCause>(cause));
    bool used = false;
    for (const int64_t cell : table.columns()[3].cells) used = used || table.text(cell) == text;
    if (used) table.notes.push_back(fmt::format("{}: {}", text, gap_cause_meaning(static_cast<GapCause>(cause))));
  }
  return table;
}

// The definitions of Holistic Trace Analysis. Gap: the start of an operation minus the end of the previous operation on
// the same stream. Host wait: the launch call started after that end. Kernel wait: it did not, and the gap is shorter
// than 30 us. Other: everything else. Operations that overlap have a negative gap, which is counted.
Table idle_by_hta(const AnalysisInput& input) {
  const Trace& trace = input.trace;
  Table table("idle", "Idle time of streams by the categories of Holistic Trace Analysis");
  table.add_columns({ColumnId::pid, ColumnId::device_name, ColumnId::context, ColumnId::stream, ColumnId::category,
                     ColumnId::gaps, ColumnId::time, ColumnId::idle_share_percent});
  table.notes.push_back("each stream alone: time in which other streams of the device ran counts as idle");
  const HtaRules rules(trace);
  for (const Stream& stream : trace.streams) {
    if (stream.operations.size() == 0 || !input.selection.has_stream(trace, stream)) continue;
    uint64_t gaps[3] = {};
    int64_t times_ns[3] = {}, idle_ns = 0;
    uint32_t previous = kNone;
    for (uint32_t row = stream.operations.first; row < stream.operations.last; ++row) {
      if (!rules.counts(trace.operations[row])) continue;
      const uint32_t last = std::exchange(previous, row);
      if (last == kNone) continue;
      const GpuOperation &operation = trace.operations[row], &before = trace.operations[last];
      const int64_t gap_ns = operation.start_ns - before.end_ns;
      if (!input.selection.nvtx.has_operation(row)) continue;
      if (!input.selection.in_window(before.end_ns, operation.start_ns)) continue;
      const bool host = operation.linked() && trace.host[operation.launch].begin_ns > before.end_ns;
      const size_t category = host ? 0 : gap_ns < 30'000 ? 1 : 2;
      ++gaps[category];
      grow(times_ns[category], gap_ns);
      grow(idle_ns, gap_ns);
    }
    const Device& device = trace.device(stream.device);
    constexpr std::string_view kCategories[] = {"host_wait", "kernel_wait", "other"};
    for (size_t i = 0; i < 3; ++i) {
      if (gaps[i] == 0) continue;
      Table::Row row = table.row();
      row.add_owner(device.process).add(std::string_view(device_text(device)));
      row.add(stream.context).add(stream.number).add(kCategories[i]).add(gaps[i]).add(times_ns[i]);
      if (idle_ns != 0) row.add(100 * static_cast<double>(times_ns[i]) / static_cast<double>(idle_ns));
    }
  }
  return table;
}

}  // namespace

Table report_idle(const AnalysisInput& input) {
  switch (input.options.definitions) {
    case Definitions::Hta: return idle_by_hta(input);
    case Definitions::GapCause: return by_cause(input);
    default: return DividedIdle(input).table();
  }
}

}  // namespace prof::analyzer
