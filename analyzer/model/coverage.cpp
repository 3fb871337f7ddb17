#include "analyzer/model/coverage.h"

#include "analyzer/base/saturated.h"
#include "analyzer/model/coverage_facts.h"
#include "analyzer/model/coverage_gaps.h"
#include "analyzer/model/trace.h"
#include "preload/format/loss_counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>

namespace prof::analyzer {

namespace {

constexpr const char* kLaunchReasonText[] = {
#define PROF_LAUNCH_REASON(name, text) text,
#include "analyzer/model/coverage.def"
#undef PROF_LAUNCH_REASON
};
constexpr const char* kOperationReasonText[] = {
#define PROF_OPERATION_REASON(name, text) text,
#include "analyzer/model/coverage.def"
#undef PROF_OPERATION_REASON
};
constexpr const char* kUnusableTimeText[] = {
#define PROF_UNUSABLE_TIME(name, text) text,
#include "analyzer/model/coverage.def"
#undef PROF_UNUSABLE_TIME
};
constexpr const char* kStackGapText[] = {
#define PROF_STACK_GAP(name, flags, text) text,
#include "analyzer/model/coverage.def"
#undef PROF_STACK_GAP
};

// "launch 3, pending 2": the counts that are not 0.
template <size_t n> std::string counts_text(const uint64_t (&counts)[n], const char* const (&texts)[n]) {
  std::string text;
  for (size_t i = 0; i < n; ++i) {
    if (counts[i] != 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", texts[i], counts[i]);
  }
  return text;
}

// "; hardware counters: launches 3, NVTX ranges 1, values whose launch or range is missing 2; times of 3 GPU operations
// are …"
std::string counters_text(const Coverage& coverage) {
  std::string text;
  const auto part = [&](uint64_t count, std::string_view words) {
    if (count != 0) text += fmt::format("{}{} {}", text.empty() ? "; hardware counters: " : ", ", words, count);
  };
  part(coverage.counters_of_launches, "launches");
  part(coverage.counters_of_ranges, "NVTX ranges");
  part(coverage.counters_unplaced, "values without a launch");
  part(coverage.counters_unmatched, "values whose launch or range is missing");
  part(coverage.counters_again, "values given twice");
  part(coverage.counters_unreadable, "unreadable values");
  part(coverage.counters_without_time, "launches without a time");
  if (coverage.counters_timed != 0)
    text += fmt::format(
        "; times of {} GPU operations are from counters: they ran one at a time, and start where their launch allows",
        coverage.counters_timed);
  return text;
}

// "; samples of hardware counters 5000, missing for 1.500 ms, unreadable 2"
std::string samples_text(const Coverage& coverage) {
  if (coverage.samples == 0 && coverage.samples_unreadable == 0) return {};
  std::string text = fmt::format("; samples of hardware counters {}", coverage.samples);
  if (coverage.samples_missing_ns != 0)
    text += fmt::format(", missing for {:.3f} ms", static_cast<double>(coverage.samples_missing_ns) / 1e6);
  if (coverage.samples_unreadable != 0) text += fmt::format(", unreadable {}", coverage.samples_unreadable);
  return text;
}

// "; host samples 5000, of unknown threads 2"
std::string host_samples_text(const Coverage& coverage) {
  if (coverage.host_samples == 0 && coverage.host_samples_unplaced == 0) return {};
  std::string text = fmt::format("; host samples {}", coverage.host_samples);
  if (coverage.host_samples_unplaced != 0)
    text += fmt::format(", of unknown threads {}", coverage.host_samples_unplaced);
  return text;
}

// "; PC samples 5000, with instruction 4900 (without cubin 100), of other kernels 20, dropped 50,
// without instruction 30, unreadable records 2"
std::string pc_samples_text(const Coverage& coverage) {
  if (coverage.pc_samples == 0 && coverage.pc_samples_placed == 0 && coverage.pc_samples_unreadable == 0) return {};
  std::string text =
      fmt::format("; PC samples {}, with instruction {}", coverage.pc_samples, coverage.pc_samples_placed);
  if (coverage.pc_samples_without_cubin != 0)
    text += fmt::format(" (without cubin {})", coverage.pc_samples_without_cubin);
  if (coverage.pc_samples_non_user != 0) text += fmt::format(", of other kernels {}", coverage.pc_samples_non_user);
  if (coverage.pc_samples_dropped != 0) text += fmt::format(", dropped {}", coverage.pc_samples_dropped);
  const uint64_t known = coverage.pc_samples_placed + coverage.pc_samples_non_user + coverage.pc_samples_dropped;
  if (coverage.pc_samples > known) text += fmt::format(", without instruction {}", coverage.pc_samples - known);
  if (coverage.pc_samples_unreadable != 0)
    text += fmt::format(", unreadable records {}", coverage.pc_samples_unreadable);
  return text;
}

// " (7 threads, at most 0.120 ms)": who lost the calls during the start. A thread that ended before is not known.
std::string start_text(const Coverage& coverage, uint64_t calls) {
  if (coverage.start_threads == 0) return {};
  std::string text =
      fmt::format(" ({} thread{}, at most {:.3f} ms", coverage.start_threads, coverage.start_threads == 1 ? "" : "s",
                  static_cast<double>(coverage.start_most_ns) / 1e6);
  if (calls > coverage.start_calls)
    text += fmt::format("; {} by threads that recorded nothing later", calls - coverage.start_calls);
  return text + ")";
}

using CounterSums = std::map<std::string, std::pair<uint64_t, format::Severity>>;  // by name

struct Damaged {
  uint64_t places = 0, lost = 0;
  void add(const Process& process) {
    places += process.all_damage();
    lost += process.damage_lost;
  }
};

std::string line(const Coverage& coverage, const CounterSums& counters, const Damaged& damage) {
  const std::string reasons = counts_text(coverage.launches_without, kLaunchReasonText);
  std::string text =
      fmt::format("coverage: launches {}, with GPU time {}", coverage.launches, coverage.launches_with_gpu_time);
  if (!reasons.empty()) text += fmt::format(" ({})", reasons);
  if (coverage.batch_copies_missing != 0)
    text += fmt::format("; copies of batches without GPU time at most {} of {}", coverage.batch_copies_missing,
                        coverage.batch_copies);
  text += fmt::format("; GPU operations {}, with launch {}", coverage.operations, coverage.operations_linked);
  const std::string unlinked = counts_text(coverage.operations_without, kOperationReasonText);
  if (!unlinked.empty()) text += ", " + unlinked;
  const std::string unusable = counts_text(coverage.operations_unusable, kUnusableTimeText);
  if (!unusable.empty()) text += "; GPU operations left out: " + unusable;
  if (coverage.events_not_timed != 0)
    text += fmt::format("; calls and ranges left out: not timed {}", coverage.events_not_timed);
  if (coverage.ranges_closed_early != 0)
    text += fmt::format("; ranges without an end, ended with their caller or thread {}", coverage.ranges_closed_early);
  uint64_t lost = damage.lost;
  for (const auto& [name, counter] : counters) {
    if (counter.second == format::Severity::Loss) lost += counter.first;
  }
  text += fmt::format("; lost records {}", lost);
  if (coverage.overwritten_blocks != 0) {
    text += fmt::format("; overwritten on purpose {} records in {} blocks, before the horizon and left out {}",
                        coverage.overwritten_records, coverage.overwritten_blocks, coverage.before_horizon);
  }
  if (coverage.ranges_begun_before != 0)
    text += fmt::format("; NVTX ranges whose beginning was overwritten {}", coverage.ranges_begun_before);
  if (coverage.stacks) {
    text += fmt::format("; launches with stack {}", coverage.launches_with_stack);
    const std::string gaps = counts_text(coverage.launches_stack_gap, kStackGapText);
    if (!gaps.empty()) text += fmt::format(" ({})", gaps);
  }
  text += counters_text(coverage) + samples_text(coverage) + host_samples_text(coverage) + pc_samples_text(coverage);
  if (coverage.operations_before_launch != 0) {
    text += fmt::format("; GPU start before launch {}", coverage.operations_before_launch);
  }
  if (coverage.operations_reversed != 0) text += fmt::format("; GPU end before start {}", coverage.operations_reversed);
  for (const auto& [name, counter] : counters) {
    if (counter.second == format::Severity::Info) continue;
    text += fmt::format("; {} {}", name, counter.first);
    if (name == "before_ready") text += start_text(coverage, counter.first);
  }
  if (const auto found = counters.find("definitions_inline"); found != counters.end() && found->second.first != 0) {
    const auto bytes = counters.find("definitions_inline_bytes");
    text +=
        fmt::format("; names, shapes and stacks written before each use {} ({:.1f} MB of the log)", found->second.first,
                    bytes == counters.end() ? 0.0 : static_cast<double>(bytes->second.first) / 1e6);
  }
  if (damage.places != 0) text += fmt::format("; damaged places in the input {}", damage.places);
  return text;
}

constexpr struct {
  std::string_view fact, text;
  bool past;  // calls still reach the driver past the hooks
} kBypasses[] = {
    {"bypass.deepbind", "opened with RTLD_DEEPBIND: {}", false},
    {"bypass.deepbind_refused", "opened with RTLD_DEEPBIND: {}", true},
    {"bypass.audit", "an LD_AUDIT auditor replaces {}", false},
    {"bypass.audit_refused", "an LD_AUDIT auditor replaces {}", true},
    {"bypass.namespace", "opened with dlmopen: {}", true},
};

// "; launches that no hook saw 10 (opened with RTLD_DEEPBIND: libplugin.so)". Without GPU times, CUPTI reports no
// launches; it reports none of a driver in another namespace.
std::string unseen_text(const Process& process) {
  std::string reasons;
  bool past = false, elsewhere = false;
  for (const auto& bypass : kBypasses) {
    const std::string what = process.fact(bypass.fact);
    if (what.empty()) continue;
    reasons += (reasons.empty() ? "" : ", ") + fmt::format(fmt::runtime(bypass.text), what);
    past |= bypass.past;
    elsewhere |= bypass.fact == "bypass.namespace";
  }
  const std::string why = reasons.empty() ? "" : fmt::format(" ({})", reasons);
  uint64_t unseen = 0;
  for (const CounterValue& counter : process.counters) unseen += counter.name == kLaunchesUnseen ? counter.value : 0;
  const bool counted = process.fact("gpu_times") == "on";
  std::string text;
  if (unseen != 0) text = fmt::format("; launches that no hook saw {}{}", unseen, why);
  if (elsewhere || (past && !counted))
    text += fmt::format("; {}launches that no hook saw: cannot be known{}", unseen != 0 ? "other " : "", why);
  return text;
}

// Whether a launch without GPU time for this reason is a gap of the recording. `GPU times off` is one if CUPTI refused:
// otherwise an option disabled them, or it was entered before GPU activity was collected, which a counter shows.
bool is_gap(LaunchReason reason, const Process& process) {
  switch (reason) {
    case LaunchReason::Captured:
    case LaunchReason::Failed:
    case LaunchReason::NothingToDo:
    case LaunchReason::Conditional:
    case LaunchReason::Overwritten: return false;
    case LaunchReason::NotCollected: return process.counter(format::LossCounter::cupti_unavailable) != 0;
    case LaunchReason::Pending: return process.fact("gpu_times") != "in bursts";
    default: return true;
  }
}

bool is_gap(OperationReason reason) {
  return reason == OperationReason::RepeatedId || reason == OperationReason::CallPending ||
         reason == OperationReason::LaunchLost || reason == OperationReason::Unlinked;
}

std::string other_devices_text(const Process& process) {
  const std::string devices = process.fact("devices");
  if (devices.empty()) return {};
  return fmt::format("; not recorded by PROF_DEVICES={}: launches {}, GPU operations {}", devices,
                     process.counter(format::LossCounter::other_device_launches),
                     process.counter(format::LossCounter::other_device_operations));
}

// "; host samples not as requested: perf events are refused (perf_event_paranoid is 3)"
std::string host_sampling_text(const Process& process) {
  const std::string reason = process.fact("host_samples");
  if (reason.empty() || process.counter(format::LossCounter::host_samples_unavailable) == 0) return {};
  return fmt::format("; host samples not as requested: {}", reason);
}

// "; PC samples not as requested: PROF_SAMPLING uses the same hardware"
std::string pc_sampling_text(const Process& process) {
  using format::LossCounter;
  const std::string reason = process.fact("pc_sampling");
  if (reason.empty() || (process.counter(LossCounter::pc_sampling_unavailable) == 0 &&
                         process.counter(LossCounter::pc_sampling_yields) == 0))
    return {};
  return fmt::format("; PC samples not as requested: {}", reason);
}

// Every report ends with this text about GPU times; how a report uses them is in its notes.
std::string budget_text(const Process& process) {
  if (process.fact("gpu_times") != "in bursts") return {};
  using format::LossCounter;
  const auto value = [&](LossCounter counter) { return static_cast<double>(process.counter(counter)); };
  const double elapsed = std::max(value(LossCounter::budget_elapsed_ns), 1.0) / 100;
  const double own = value(LossCounter::budget_own_ns) / elapsed;
  const double hooks = value(LossCounter::budget_hooks_ns) / elapsed;
  const double cupti = value(LossCounter::budget_cupti_ns) / elapsed;
  const std::string needed = process.fact("budget_needed");
  const std::string bursts =
      value(LossCounter::budget_bursts) != 0 || needed.empty()
          ? fmt::format("GPU times in {:.0f} bursts only", value(LossCounter::budget_bursts))
          : fmt::format(
                "no GPU times, since at this rate of launches CUPTI costs more than that between bursts alone; {}% "
                "would do",
                needed);
  const double all = own + hooks + cupti;
  const std::string asked = process.fact("budget"), opening_ns = process.fact("budget_opening_ns");
  std::string over, opening;
  if (all > std::strtod(asked.c_str(), nullptr)) {
    over = ", more than requested";
    if (!opening_ns.empty())
      opening = fmt::format(", of it {:.2f} to open CUPTI", std::strtod(opening_ns.c_str(), nullptr) / elapsed);
  }
  return fmt::format(
      "; PROF_BUDGET={}: {}; it cost {:.2f} % of the run{} (own time measured {:.2f}{}, hooks estimated {:.2f}, CUPTI "
      "estimated {:.2f})",
      asked, bursts, all, over, own, opening, hooks, cupti);
}

void add_counters(CounterSums& to, const Process& process) {
  for (const CounterValue& counter : process.counters) {
    if (counter.name == kLaunchesUnseen) continue;  // unseen_text() prints it with its reason
    to[counter.name].first += counter.value;
    to[counter.name].second = counter.severity;
  }
}

}  // namespace

void Coverage::add(const Coverage& other) {
  launches += other.launches;
  launches_with_gpu_time += other.launches_with_gpu_time;
  for (size_t i = 0; i < std::size(launches_without); ++i) launches_without[i] += other.launches_without[i];
  grow(batch_copies, other.batch_copies);
  grow(batch_copies_missing, other.batch_copies_missing);
  operations += other.operations;
  operations_linked += other.operations_linked;
  for (size_t i = 0; i < std::size(operations_without); ++i) operations_without[i] += other.operations_without[i];
  for (size_t i = 0; i < std::size(operations_unusable); ++i) operations_unusable[i] += other.operations_unusable[i];
  events_not_timed += other.events_not_timed;
  ranges_closed_early += other.ranges_closed_early;
  start_threads += other.start_threads;
  start_calls += other.start_calls;
  start_most_ns = std::max(start_most_ns, other.start_most_ns);
  overwritten_blocks += other.overwritten_blocks;
  overwritten_records += other.overwritten_records;
  before_horizon += other.before_horizon;
  ranges_begun_before += other.ranges_begun_before;
  stacks |= other.stacks;
  launches_with_stack += other.launches_with_stack;
  for (size_t i = 0; i < std::size(launches_stack_gap); ++i) launches_stack_gap[i] += other.launches_stack_gap[i];
  operations_reversed += other.operations_reversed;
  operations_before_launch += other.operations_before_launch;
  counters_of_launches += other.counters_of_launches;
  counters_of_ranges += other.counters_of_ranges;
  counters_unplaced += other.counters_unplaced;
  counters_timed += other.counters_timed;
  counters_unmatched += other.counters_unmatched;
  counters_again += other.counters_again;
  counters_unreadable += other.counters_unreadable;
  counters_without_time += other.counters_without_time;
  samples += other.samples;
  samples_unreadable += other.samples_unreadable;
  host_samples += other.host_samples;
  host_samples_unplaced += other.host_samples_unplaced;
  pc_samples += other.pc_samples;
  pc_samples_placed += other.pc_samples_placed;
  pc_samples_dropped += other.pc_samples_dropped;
  pc_samples_non_user += other.pc_samples_non_user;
  pc_samples_without_cubin += other.pc_samples_without_cubin;
  pc_samples_unreadable += other.pc_samples_unreadable;
  grow(samples_missing_ns, other.samples_missing_ns);
}

CoverageGaps coverage_gaps(const Process& process) {
  const Coverage& coverage = process.coverage;
  CoverageGaps gaps;
  const auto missing = [&](uint64_t count, std::string_view words) {
    if (count != 0) gaps.missing.push_back(fmt::format("{} {}", words, count));
  };
  const auto less_exact = [&](uint64_t count, std::string_view words) {
    if (count != 0) gaps.less_exact.push_back(fmt::format("{} {}", words, count));
  };
  const auto later = [&](bool pending, uint64_t count, const std::string& words) {
    if (count != 0)
      (pending && process.copied ? gaps.later : gaps.missing).push_back(fmt::format("{} {}", words, count));
  };
  for (size_t i = 0; i < std::size(coverage.launches_without); ++i) {
    const auto reason = static_cast<LaunchReason>(i);
    if (!is_gap(reason, process)) continue;
    later(reason == LaunchReason::Pending, coverage.launches_without[i],
          fmt::format("launches without GPU time, {}:", kLaunchReasonText[i]));
  }
  missing(coverage.batch_copies_missing, "copies of batches without GPU time, at most");
  for (size_t i = 0; i < std::size(coverage.operations_without); ++i) {
    const auto reason = static_cast<OperationReason>(i);
    if (!is_gap(reason)) continue;
    later(reason == OperationReason::CallPending, coverage.operations_without[i],
          fmt::format("GPU operations without launch, {}:", kOperationReasonText[i]));
  }
  for (size_t i = 0; i < std::size(coverage.operations_unusable); ++i)
    missing(coverage.operations_unusable[i], fmt::format("GPU operations left out, {}:", kUnusableTimeText[i]));
  missing(coverage.events_not_timed, "calls and ranges left out, not timed:");
  missing(coverage.counters_unmatched, "values of hardware counters whose launch or range is missing:");
  missing(coverage.counters_unreadable, "unreadable values of hardware counters:");
  missing(coverage.samples_unreadable, "unreadable samples of hardware counters:");
  missing(coverage.pc_samples_unreadable, "unreadable records of PC samples:");
  if (coverage.samples_missing_ns != 0)
    gaps.missing.push_back(fmt::format("samples of hardware counters for {:.3f} ms",
                                       static_cast<double>(coverage.samples_missing_ns) / 1e6));
  if (const std::string unseen = unseen_text(process); !unseen.empty()) gaps.missing.push_back(unseen.substr(2));
  less_exact(coverage.operations_before_launch, "GPU start before launch");
  less_exact(coverage.operations_reversed, "GPU end before start");
  for (const CounterValue& counter : process.counters) {
    if (counter.severity == format::Severity::Partial && counter.name != kLaunchesUnseen)
      less_exact(counter.value, counter.name);
  }
  return gaps;
}

std::string coverage_line(const Process& process) {
  CounterSums counters;
  add_counters(counters, process);
  Damaged damage;
  damage.add(process);
  return line(process.coverage, counters, damage) + unseen_text(process) + other_devices_text(process) +
         host_sampling_text(process) + pc_sampling_text(process) + budget_text(process);
}

std::string coverage_line(const Trace& trace) {
  Coverage sum;
  CounterSums counters;
  Damaged damage;
  for (const Process& process : trace.processes) {
    sum.add(process.coverage);
    add_counters(counters, process);
    damage.add(process);
  }
  std::string text = line(sum, counters, damage);
  for (const Process& process : trace.processes)
    text += unseen_text(process) + other_devices_text(process) + host_sampling_text(process) +
            pc_sampling_text(process) + budget_text(process);
  return text;
}

}  // namespace prof::analyzer
