#include "analyzer/analysis/critical/host_idle.h"

#include "analyzer/analysis/select/window_finder.h"
#include "analyzer/analysis/stacks/piece_stacks.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

namespace prof::analyzer {

namespace {

// What is only needed while pieces are added.
struct Adding {
  int64_t gap_ns = std::numeric_limits<int64_t>::min();  // start of the gap of the last piece
  std::unordered_map<uint32_t, int64_t> of_code;         // StackId -> time
  std::unique_ptr<HostCodeTimes> host;                   // null: no host samples
};

std::function<bool(uint32_t)> only_rows(const std::vector<uint32_t>& rows) {
  auto wanted = std::make_shared<std::vector<bool>>();
  for (const uint32_t row : rows) {
    if (row >= wanted->size()) wanted->resize(std::max<size_t>(row + size_t{1}, wanted->size() * 2));
    (*wanted)[row] = true;
  }
  return [wanted](uint32_t row) { return row < wanted->size() && (*wanted)[row]; };
}

}  // namespace

HostIdle::HostIdle(const AnalysisInput& input, const std::vector<Window>& windows, bool with_code)
    : windows_(windows), names_(input), idle_(windows.size()) {
  if (windows.empty()) return;
  const WindowFinder finder(windows);
  CallStacks* const stacks = with_code ? &call_stacks(input.views) : nullptr;
  const bool coded = stacks != nullptr && stacks->any();
  const HostSampleRows& host_rows = host_sample_rows(input.views);
  std::unordered_map<const HostPieces*, Adding> adding;
  const auto add = [&](WindowIdle& idle, const Window& window, const DeviceGap& gap, const GapPiece& piece) {
    const Interval part = inside(piece, window.begin_ns, window.end_ns);
    if (part.length_ns() == 0) return;
    WindowIdle::Sum& sum = idle.sums[index(gap.device)];
    sum.idle_ns += part.length_ns();
    if (gap.operation != kNone) sum.between_ns += part.length_ns();
    if (!is_host_part(piece.part()) || gap.launch == kNone) return;
    const uint64_t name = names_.key(gap, piece);
    HostPieces& pieces = idle.host[{index(gap.device), piece.charge.number(), name}];
    Adding& more = adding[&pieces];
    pieces.device = gap.device, pieces.charge = piece.charge, pieces.name = name;
    if (std::exchange(more.gap_ns, gap.begin_ns) != gap.begin_ns) ++pieces.gaps;
    pieces.time_ns += part.length_ns();
    if (piece.call != kNone) {
      if (pieces.calls.empty() || pieces.calls.back() != piece.call) pieces.calls.push_back(piece.call);
    } else if (piece.call_after != kNone) {
      if (!pieces.before.empty() && pieces.before.back().call == piece.call_after &&
          pieces.before.back().time.end_ns == part.begin_ns) {
        pieces.before.back().time.end_ns = part.end_ns;
      } else {
        pieces.before.push_back({piece.call_after, part});
      }
    }
    if (coded && needs_samples(piece) && host_rows.recorded(input.trace.threads[piece.thread].process)) {
      if (more.host == nullptr) more.host = std::make_unique<HostCodeTimes>(input.trace, host_rows);
      more.host->add(piece.thread, part);
    }
    const StackId code = coded ? stack_of_piece(*stacks, gap, piece) : StackId{};
    if (code != StackId{}) more.of_code[index(code)] += part.length_ns();
    if (part.length_ns() > pieces.longest.length_ns()) {
      pieces.longest = part;
      pieces.launch = gap.launch;
      pieces.code = code;
    }
  };
  divide_gaps(input.trace, input.views, input.selection, finder.hull(),
              [&](const DeviceGap& gap, std::span<const GapPiece> pieces) {
                finder.each(gap.begin_ns, gap.end_ns, [&](size_t window) {
                  for (const GapPiece& piece : pieces) add(idle_[window], windows[window], gap, piece);
                });
              });
  if (!coded) return;
  for (WindowIdle& idle : idle_) {
    for (auto& [key, pieces] : idle.host) {
      const Adding& more = adding[&pieces];
      if (more.host != nullptr && more.host->samples() != 0) {
        // The samples show the code itself, instead of what the calls before and after have in common.
        const std::vector<HostCode>& codes = more.host->codes();
        const HostCodeDivision division =
            more.host->divide([&](uint32_t i) { return static_cast<uint32_t>(codes[i].stack); });
        for (const HostCodeTime& each : division.groups) {
          if (const std::string best = stacks->best(StackId{each.group}); !best.empty())
            pieces.functions[best] += each.time_ns;
        }
        pieces.code = StackId{division.groups.front().group};
        pieces.sampled = codes[more.host->divide([](uint32_t i) { return i; }).groups.front().group];
        continue;
      }
      for (const auto& [stack, ns] : more.of_code) pieces.functions[stacks->best(StackId{stack})] += ns;
    }
  }
}

Scenario without_pieces(const std::vector<const HostPieces*>& pieces) {
  std::vector<uint32_t> calls, after;
  std::vector<HostPieces::BeforeCall> all;
  for (const HostPieces* const each : pieces) {
    calls.insert(calls.end(), each->calls.begin(), each->calls.end());
    all.insert(all.end(), each->before.begin(), each->before.end());
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return a.call != b.call ? a.call < b.call : a.time.begin_ns < b.time.begin_ns;
  });
  struct TimeBefore {
    uint32_t call = 0;
    int64_t ns = 0, until_ns = 0;
  };
  auto before = std::make_shared<std::vector<TimeBefore>>();
  for (const HostPieces::BeforeCall& each : all) {
    if (before->empty() || before->back().call != each.call) {
      before->push_back({each.call, 0, each.time.begin_ns});
      after.push_back(each.call);
    }
    TimeBefore& sum = before->back();
    sum.ns += std::max<int64_t>(0, each.time.end_ns - std::max(sum.until_ns, each.time.begin_ns));
    sum.until_ns = std::max(sum.until_ns, each.time.end_ns);
  }
  const auto without_piece = [before](uint32_t row, int64_t time_ns) {
    const auto each =
        std::partition_point(before->begin(), before->end(), [&](const auto& of) { return of.call < row; });
    return each != before->end() && each->call == row ? time_ns - each->ns : time_ns;
  };
  // The host delays the device whether or not its calls are selected.
  Scenario scenario;
  if (!calls.empty()) scenario.push_back({kCallNodes, kPartOwn, 0, 0, {}, only_rows(calls), {}, true});
  if (!after.empty()) {
    scenario.push_back(
        {kCallNodes, kPartBefore, 0, kNodeUnexplained | kNodeReturns, {}, only_rows(after), without_piece, true});
  }
  return scenario;
}

}  // namespace prof::analyzer
