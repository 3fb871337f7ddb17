#include "analyzer/analysis/kernel_lines/kernel_stalls.h"
#include "analyzer/base/text_parts.h"

#include "analyzer/analysis/kernel_lines/stall_reasons.h"
#include "analyzer/analysis/select/selected_operations.h"
#include "analyzer/base/saturated.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <unordered_map>

namespace prof::analyzer {

namespace {

bool is_issue(const Trace& trace, StringId reason) { return stall_reason(trace.text(reason)).name == kIssued; }

}  // namespace

KernelSums::KernelSums(const AnalysisInput& input)
    : input_(input), places_(pc_places(input.views)), by_place_(places_.sums(input.selection)) {
  const Trace& trace = input.trace;
  std::unordered_map<uint32_t, uint32_t> by_name;
  kernel_of_.resize(places_.functions().size(), kNone);
  std::vector<KernelStalls> kernels;
  for (uint32_t p = 0; p < by_place_.size(); ++p) {
    const StallSums& sums = by_place_[p];
    if (sums.all.samples == 0) continue;
    const PcPlace& place = places_.places()[p];
    const PcFunction& function = places_.functions()[place.function];
    if (kernel_of_[place.function] == kNone) {
      const auto [found, added] =
          by_name.try_emplace(static_cast<uint32_t>(function.name), static_cast<uint32_t>(kernels.size()));
      if (added) kernels.emplace_back().name = function.name;
      kernel_of_[place.function] = found->second;
      kernels[found->second].functions.push_back(place.function);
    }
    KernelStalls& kernel = kernels[kernel_of_[place.function]];
    kernel.sums.add(sums);
    std::string why;
    if (places_.cubin(function, why) == nullptr) without_cubin_ += sums.all.samples;
    if (place.frames != 0) {
      kernel.lined += sums.all.samples;
    } else if (kernel.problem.empty()) {
      kernel.problem = function.problem.empty() ? "no line in the cubin's line table" : function.problem;
    }
  }
  for_each_selected(
      input, [](StreamId) { return true; },
      [&](uint32_t, const GpuOperation& operation) {
        if (operation.kind() != GpuKind::Kernel || !input.selection.in_window(operation.start_ns, operation.end_ns))
          return;
        grow(gpu_time_ns_, operation.duration_ns());
        const KernelId named = input.views.names().named_by(operation);
        const auto found = by_name.find(static_cast<uint32_t>(trace.kernels[index(named)].name));
        if (found == by_name.end()) return;
        ++kernels[found->second].launches;
        grow(kernels[found->second].gpu_time_ns, operation.duration_ns());
      });
  const PcSampleTable& samples = trace.pc_samples;
  for (size_t row = 0; row < samples.size(); ++row) {
    if (samples.ambiguous[row] == 0 || !selects_pc(trace, input.selection, samples.device[row], samples.time_ns[row]))
      continue;
    const auto found = by_name.find(static_cast<uint32_t>(samples.function[row]));
    if (found != by_name.end()) kernels[found->second].ambiguous += samples.samples[row];
  }
  for (const PcBatchRow& batch : samples.batches) {
    if (selects_pc(trace, input.selection, batch.device, batch.time_ns))
      non_user_.add(batch.non_user, static_cast<uint8_t>(batch.period));
  }
  whole_.add(non_user_);
  for (const KernelStalls& kernel : kernels) whole_.add(kernel.sums.all);
  // A device function has samples and no launches; a kernel of few blocks has much time and few samples.
  const auto weight = [&](const KernelStalls& kernel) {
    if (kernel.launches != 0) return static_cast<double>(kernel.gpu_time_ns);
    return static_cast<double>(gpu_time_ns_) * kernel.sums.all.cycles / whole_.cycles;
  };
  std::vector<uint32_t> order(kernels.size()), place_in(kernels.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return std::pair(weight(kernels[a]), kernels[a].sums.all.cycles) >
           std::pair(weight(kernels[b]), kernels[b].sums.all.cycles);
  });
  for (uint32_t i = 0; i < order.size(); ++i) {
    place_in[order[i]] = i;
    kernels_.push_back(std::move(kernels[order[i]]));
  }
  for (uint32_t& kernel : kernel_of_) kernel = kernel == kNone ? kNone : place_in[kernel];
}

std::optional<double> KernelSums::time_percent(const KernelStalls& kernel) const {
  if (kernel.launches == 0 || gpu_time_ns_ == 0) return std::nullopt;
  return 100 * static_cast<double>(kernel.gpu_time_ns) / static_cast<double>(gpu_time_ns_);
}

EstimatedTime KernelSums::time(const std::vector<std::pair<uint32_t, SampleSum>>& of_kernels) const {
  EstimatedTime time;
  double squares = 0;
  for (const auto& [k, sum] : of_kernels) {
    const KernelStalls& kernel = kernels_[k];
    if (kernel.launches == 0) {
      time.whole = false;
      continue;
    }
    const auto ns = static_cast<double>(kernel.gpu_time_ns);
    time.ns += ns * sum.cycles / kernel.sums.all.cycles;
    const double half = ns * share_half_width(sum, kernel.sums.all);
    squares += half * half;
  }
  time.half_ns = std::sqrt(squares);
  return time;
}

std::vector<LineStalls> KernelSums::lines() const {
  // Function, file and line; without a line: kernel, offset.
  std::map<std::tuple<uint32_t, uint32_t, uint32_t, uint64_t>, uint32_t> known;
  std::vector<LineStalls> lines;
  for (uint32_t p = 0; p < by_place_.size(); ++p) {
    const StallSums& sums = by_place_[p];
    if (sums.all.samples == 0) continue;
    const PcPlace& place = places_.places()[p];
    const uint32_t kernel = kernel_of_[place.function];
    const std::span<const SymbolFrame> frames = places_.frames(place);
    const std::tuple key = frames.empty()
                               ? std::tuple(kNone, kernel, uint32_t{0}, place.offset)
                               : std::tuple(static_cast<uint32_t>(frames[0].function),
                                            static_cast<uint32_t>(frames[0].file), frames[0].line, uint64_t{0});
    const auto [found, added] = known.try_emplace(key, static_cast<uint32_t>(lines.size()));
    if (added) {
      LineStalls& line = lines.emplace_back();
      line.offset = place.offset;
      if (!frames.empty()) line.frame = frames[0];
    }
    LineStalls& line = lines[found->second];
    line.sums.add(sums);
    line.all_places.push_back(p);
    const auto of_kernel =
        std::find_if(line.kernels.begin(), line.kernels.end(), [&](const auto& each) { return each.first == kernel; });
    (of_kernel != line.kernels.end() ? *of_kernel : line.kernels.emplace_back(kernel, SampleSum()))
        .second.add(sums.all);
    const auto of_calls = std::find_if(line.places.begin(), line.places.end(), [&](const auto& each) {
      const std::span<const SymbolFrame> other = places_.frames(places_.places()[each.first]);
      return std::equal(frames.begin(), frames.end(), other.begin(), other.end(),
                        [](const SymbolFrame& a, const SymbolFrame& b) {
                          return a.function == b.function && a.file == b.file && a.line == b.line;
                        });
    });
    (of_calls != line.places.end() ? *of_calls : line.places.emplace_back(p, 0.0)).second += sums.all.cycles;
  }
  std::vector<std::pair<double, uint32_t>> order;
  for (uint32_t i = 0; i < lines.size(); ++i) {
    LineStalls& line = lines[i];
    std::stable_sort(line.kernels.begin(), line.kernels.end(),
                     [](const auto& a, const auto& b) { return a.second.cycles > b.second.cycles; });
    std::stable_sort(line.places.begin(), line.places.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    order.emplace_back(time(line.kernels).ns, i);
  }
  std::stable_sort(order.begin(), order.end(), [&](const auto& a, const auto& b) {
    return std::tuple(a.first, lines[a.second].sums.all.cycles) > std::tuple(b.first, lines[b.second].sums.all.cycles);
  });
  std::vector<LineStalls> sorted;
  sorted.reserve(lines.size());
  for (const auto& each : order) sorted.push_back(std::move(lines[each.second]));
  return sorted;
}

std::string KernelSums::kernel_name(uint32_t kernel) const {
  return places_.name(places_.functions()[kernels_[kernel].functions.front()], input_.options.names);
}

std::string KernelSums::line_text(const LineStalls& line, bool whole) const {
  if (line.frame.line == 0) return sass_place(kernel_name(line.kernels.front().first), line.offset);
  const std::string_view file = places_.text(line.frame.file);
  return fmt::format("{}:{}", whole ? file : file_name(file), line.frame.line);
}

std::string KernelSums::place_text(const PcPlace& place) const {
  const std::span<const SymbolFrame> frames = places_.frames(place);
  if (frames.empty()) return offset_text(place.function, place.offset);
  return short_place(places_.text(frames[0].file), frames[0].line);
}

std::string KernelSums::offset_text(uint32_t function, uint64_t offset) const {
  return sass_place(kernel_name(kernel_of_[function]), offset);
}

std::string KernelSums::calls_text(const PcPlace& place) const {
  const std::span<const SymbolFrame> frames = places_.frames(place);
  if (frames.size() < 2) return {};
  std::string text = places_.name(frames[0], input_.options.names);
  for (size_t i = 1; i < frames.size(); ++i) {
    // The outermost frame has the kernel's name as everywhere.
    const std::string name = i + 1 == frames.size()
                                 ? places_.name(places_.functions()[place.function], input_.options.names)
                                 : places_.name(frames[i], input_.options.names);
    text += fmt::format(" in {} ({}:{})", name, file_name(places_.text(frames[i].file)), frames[i].line);
  }
  return text;
}

std::string short_place(std::string_view file, uint32_t line) { return fmt::format("{}:{}", file_name(file), line); }

std::string reasons_text(const Trace& trace, const StallSums& sums, size_t most) {
  std::string text;
  for (const StallSums::Reason& each : sums.ordered()) {
    const double percent = 100 * each.sum.cycles / sums.all.cycles;
    if (most == 0 || percent < 1) break;
    --most;
    text += fmt::format("{}{:.1f} % {}", text.empty() ? "" : ", ", percent, stall_reason(trace.text(each.name)).words);
  }
  return text;
}

std::optional<double> issue_percent(const Trace& trace, const StallSums& sums) {
  if (sums.all.cycles <= 0) return std::nullopt;
  double issued = 0;
  for (const StallSums::Reason& each : sums.reasons) issued += is_issue(trace, each.name) ? each.sum.cycles : 0;
  return 100 * issued / sums.all.cycles;
}

std::optional<double> cycles_with_issue_percent(const StallSums& sums) {
  if (sums.all.cycles <= 0) return std::nullopt;
  return 100 * (1 - std::min(1.0, sums.not_issued_cycles / sums.all.cycles));
}

std::vector<StringId> main_stalls(const KernelSums& sums, const Trace& trace, size_t most) {
  StallSums all;
  for (const KernelStalls& kernel : sums.kernels()) all.add(kernel.sums);
  std::vector<StringId> names;
  for (const StallSums::Reason& each : all.ordered()) {
    if (names.size() < most && !is_issue(trace, each.name)) names.push_back(each.name);
  }
  return names;
}

std::string no_pc_samples_note(const Trace& trace) {
  return trace.pc_samples.empty() ? "no samples of instructions: prof record --pc-sampling auto -- PROGRAM"
                                  : "no samples of instructions in the selection";
}

std::string pc_coverage(const AnalysisInput& input, const KernelSums& sums) {
  uint64_t taken = 0, dropped = 0, placed = 0, lined = 0;
  for (const PcBatchRow& batch : input.trace.pc_samples.batches) {
    if (!selects_pc(input.trace, input.selection, batch.device, batch.time_ns)) continue;
    taken += batch.total;
    dropped += batch.dropped;
  }
  for (const KernelStalls& kernel : sums.kernels()) {
    placed += kernel.sums.all.samples;
    lined += kernel.lined;
  }
  const uint64_t known = placed + sums.non_user().samples + dropped;
  return fmt::format(
      "PC samples {}: with line {}, with offset only {}, without cubin {}, of other kernels {}, dropped {}{}",
      std::max(taken, known), lined, placed - lined - sums.without_cubin(), sums.without_cubin(),
      sums.non_user().samples, dropped, taken > known ? fmt::format(", without instruction {}", taken - known) : "");
}

std::vector<std::string> pc_notes(const AnalysisInput& input, const KernelSums& sums) {
  std::vector<std::string> notes;
  const Trace& trace = input.trace;
  uint32_t shortest = UINT32_MAX, longest = 0;
  uint64_t taken = 0, ambiguous = 0;
  for (const PcBatchRow& batch : trace.pc_samples.batches) {
    if (!selects_pc(trace, input.selection, batch.device, batch.time_ns)) continue;
    shortest = std::min(shortest, batch.period);
    longest = std::max(longest, batch.period);
    taken += batch.total;
  }
  for (const KernelStalls& kernel : sums.kernels()) ambiguous += kernel.ambiguous;
  if (taken != 0) {
    notes.push_back(fmt::format(
        "{} samples, one each {}{} cycles of a multiprocessor", taken, uint64_t{1} << std::min(shortest, 63U),
        longest == shortest ? "" : fmt::format(" to {}", uint64_t{1} << std::min(longest, 63U))));
  }
  notes.push_back(pc_coverage(input, sums));
  notes.emplace_back(
      "shares and times of lines are estimates; +-: 95 % interval, if samples were independent of each other");
  if (ambiguous != 0)
    notes.push_back(fmt::format("{} samples may belong to another function: a module was unloaded", ambiguous));
  return notes;
}

}  // namespace prof::analyzer
