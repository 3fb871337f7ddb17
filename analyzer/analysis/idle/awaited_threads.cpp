#include "analyzer/analysis/idle/awaited_threads.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace prof::analyzer {

namespace {

// Texts of the recorder (thread_wait.cpp).
constexpr std::string_view kNamesThread[] = {"held by thread ", "end of thread "};

// kNone: the detail names no thread.
uint32_t tid_in(std::string_view detail) {
  for (const std::string_view begin : kNamesThread) {
    if (!detail.starts_with(begin)) continue;
    uint32_t tid = kNone;
    const std::string_view digits = detail.substr(begin.size());
    std::from_chars(digits.data(), digits.data() + digits.size(), tid);
    return tid;
  }
  return kNone;
}

}  // namespace

std::string awaited_text(const Trace& trace, const Awaited& awaited) {
  if (awaited.holder == kNone) return fmt::format("thread {}", trace.threads[awaited.thread].tid);
  const PipeHolder& holder = trace.host_sampling.holders[awaited.holder];
  std::string text = fmt::format("process {}", holder.pid);
  if (awaited.thread != kNone && trace.threads[awaited.thread].tid != holder.pid)
    text += fmt::format(" thread {}", trace.threads[awaited.thread].tid);
  std::string_view command = trace.text(holder.command);
  if (command.empty() && holder.holder) command = trace.processes[index(*holder.holder)].command_line;
  return command.empty() ? text : fmt::format("{} ({})", text, command);
}

std::string_view why_not_charged(const Awaited& awaited) {
  return awaited.proven ? "no log in the input" : "not proven: another thread waits for it";
}

bool any_awaited(const Trace& trace) {
  if (!trace.host_sampling.holders.empty()) return true;
  const Column<StringId>& details = trace.host_sampling.samples.detail;
  StringId last{};
  for (size_t row = 0; row < details.size(); ++row) {
    if (std::exchange(last, details[row]) != details[row] && tid_in(trace.text(details[row])) != kNone) return true;
  }
  return false;
}

void AwaitedThreads::add_holders(uint32_t thread, std::string_view pipe, std::vector<Awaited>& to) const {
  const std::vector<PipeHolder>& holders = trace_.host_sampling.holders;
  for (uint32_t row = 0; row < holders.size(); ++row) {
    const PipeHolder& holder = holders[row];
    if (holder.waiting != trace_.threads[thread].process || trace_.text(holder.pipe) != pipe) continue;
    bool sampled = false;
    for (uint32_t other = 0; holder.holder && other < trace_.threads.size(); ++other) {
      if (trace_.threads[other].process != *holder.holder) continue;
      if (rows_.samples(other).size() == 0 && rows_.states(other).size() == 0) continue;
      to.push_back({other, row});
      sampled = true;
    }
    if (!sampled) to.push_back({kNone, row});
  }
}

std::vector<Awaited> AwaitedThreads::find(uint32_t thread, StringId detail) const {
  std::vector<Awaited> found;
  std::string_view text = trace_.text(detail);
  if (const uint32_t tid = tid_in(text); tid != kNone) {
    for (uint32_t other = 0; other < trace_.threads.size(); ++other) {
      const Thread& each = trace_.threads[other];
      if (other != thread && each.tid == tid && each.process == trace_.threads[thread].process &&
          rows_.samples(other).size() + rows_.states(other).size() != 0)
        found.push_back({other, kNone});
    }
    return found;
  }
  while (!text.empty()) {
    const std::string_view pipe = text.substr(0, text.find(' '));
    if (pipe.starts_with("pipe:[") || pipe.starts_with("socket:[")) add_holders(thread, pipe, found);
    text.remove_prefix(std::min(pipe.size() + 1, text.size()));
  }
  // A process may have several of the ends that poll() waits for.
  const auto number = [&](const Awaited& each) {
    return each.thread != kNone ? std::pair(each.thread, 0u)
                                : std::pair(kNone, trace_.host_sampling.holders[each.holder].pid);
  };
  std::stable_sort(found.begin(), found.end(),
                   [&](const Awaited& a, const Awaited& b) { return number(a) < number(b); });
  const auto same = [&](const Awaited& a, const Awaited& b) { return number(a) == number(b); };
  found.erase(std::unique(found.begin(), found.end(), same), found.end());
  return found;
}

const std::vector<Awaited>& AwaitedThreads::named_by(uint32_t thread, StringId detail) {
  const auto [found, added] = named_.try_emplace({thread, index(detail)});
  if (added && detail != StringId{}) found->second = find(thread, detail);
  return found->second;
}

// By the first of the samples that names any. Null: none does.
const std::vector<Awaited>* AwaitedThreads::of_samples(uint32_t thread, Rows samples) {
  const HostSamples& all = trace_.host_sampling.samples;
  for (uint32_t row = samples.first; row < samples.last; ++row) {
    if (all.state[row] != HostState::Blocked) continue;
    const std::vector<Awaited>& named = named_by(thread, all.detail[row]);
    if (!named.empty()) return &named;
  }
  return nullptr;
}

std::vector<Awaited> AwaitedThreads::of_other_threads(uint32_t thread, const Interval& interval, Rows samples) {
  const HostSamples& all = trace_.host_sampling.samples;
  std::vector<Awaited> found;
  const auto is_condition = [&](uint32_t row) {
    return all.blocked_in[row] == BlockedIn::Condition ||
           (all.blocked_in[row] == BlockedIn::Lock && all.detail[row] == StringId{});
  };
  if (trace_.host_sampling.holders.empty() || samples.size() == 0 || !is_condition(samples.first)) return found;
  for (uint32_t other = 0; other < trace_.threads.size(); ++other) {
    if (other == thread || trace_.threads[other].process != trace_.threads[thread].process) continue;
    const auto* const named = of_samples(other, rows_.samples_in(other, interval.begin_ns, interval.end_ns));
    if (named == nullptr) continue;
    for (const Awaited& each : *named) {
      if (each.holder != kNone) found.push_back({kNone, each.holder, false});
    }
  }
  // A process has several threads.
  const auto pid = [&](const Awaited& each) { return trace_.host_sampling.holders[each.holder].pid; };
  std::stable_sort(found.begin(), found.end(), [&](const Awaited& a, const Awaited& b) { return pid(a) < pid(b); });
  const auto same = [&](const Awaited& a, const Awaited& b) { return pid(a) == pid(b); };
  found.erase(std::unique(found.begin(), found.end(), same), found.end());
  return found;
}

void AwaitedThreads::each(uint32_t thread, const Interval& interval,
                          const std::function<void(const Interval&, std::span<const Awaited>)>& take) {
  const auto give = [&](int64_t begin_ns, int64_t end_ns, Rows samples) {
    const Interval part{std::max(begin_ns, interval.begin_ns), std::min(end_ns, interval.end_ns)};
    if (part.end_ns <= part.begin_ns) return;
    if (const std::vector<Awaited>* const named = of_samples(thread, samples)) return take(part, *named);
    const std::vector<Awaited> others = of_other_threads(thread, {begin_ns, end_ns}, samples);
    if (!others.empty()) take(part, others);
  };
  const Rows of = rows_.states(thread);
  if (of.size() != 0) {
    const ThreadStates& states = trace_.host_sampling.states;
    const int64_t* const ends = states.end_ns.data();
    auto row = static_cast<uint32_t>(std::upper_bound(ends + of.first, ends + of.last, interval.begin_ns) - ends);
    for (; row < of.last && states.begin_ns[row] < interval.end_ns; ++row) {
      const int64_t begin_ns = states.begin_ns[row], end_ns = states.end_ns[row];
      if (states.state[row] == HostState::Blocked) give(begin_ns, end_ns, rows_.samples_in(thread, begin_ns, end_ns));
    }
    return;
  }
  // Without states, a sample represents the time up to the middle between it and its neighbours.
  const Column<int64_t>& times = trace_.host_sampling.samples.time_ns;
  const Rows all = rows_.samples(thread);
  const auto reach = static_cast<int64_t>(HostCodeTimes::kReach * rows_.period_ns(thread, interval.begin_ns));
  const Rows near = rows_.samples_in(thread, interval.begin_ns - reach, interval.end_ns + reach);
  for (uint32_t row = near.first; row < near.last; ++row) {
    const int64_t half = reach / 2, time_ns = times[row];
    const int64_t begin_ns =
        row == all.first ? time_ns - half : time_ns - std::min(half, (time_ns - times[row - 1]) / 2);
    const int64_t end_ns =
        row + 1 == all.last ? time_ns + half : time_ns + std::min(half, (times[row + 1] - time_ns) / 2);
    give(begin_ns, end_ns, {row, row + 1});
  }
}

void AwaitedTimes::add(uint32_t thread, const Interval& interval) {
  threads_.each(thread, interval, [&](const Interval& part, std::span<const Awaited> named) {
    for (const Awaited& who : named) {
      const auto number =
          who.thread != kNone
              ? of_thread_.try_emplace(who.thread, sums_.size()).first->second
              : unlogged_.try_emplace({awaited_text(trace_, who), who.proven}, sums_.size()).first->second;
      if (number == sums_.size()) sums_.push_back({who, 0, HostCodeTimes(trace_, rows_)});
      Sum& sum = sums_[number];
      sum.waited_ns += part.length_ns();
      if (who.thread != kNone) sum.times.add(who.thread, part);
    }
  });
}

void AwaitedTimes::clear() {
  sums_.clear();
  unlogged_.clear();
  of_thread_.clear();
}

std::vector<const AwaitedTimes::Sum*> AwaitedTimes::sums() const {
  std::vector<const Sum*> sorted;
  for (const Sum& sum : sums_) sorted.push_back(&sum);
  std::stable_sort(sorted.begin(), sorted.end(), [](const Sum* a, const Sum* b) {
    const bool a_logged = a->who.thread != kNone, b_logged = b->who.thread != kNone;
    return a_logged != b_logged ? a_logged : a->waited_ns > b->waited_ns;
  });
  return sorted;
}

}  // namespace prof::analyzer
