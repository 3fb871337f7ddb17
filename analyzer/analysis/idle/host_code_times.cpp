#include "analyzer/analysis/idle/host_code_times.h"

#include "analyzer/base/statistics.h"

#include <algorithm>
#include <cmath>

namespace prof::analyzer {

namespace {

constexpr double kZ = 1.959964;  // 95 % of a normal distribution

// If the samples of a time are fewer than expected by more than chance (so many standard deviations) and late ticks of
// the sampler (this share) explain, a part of the time was not sampled.
constexpr double kChance = 2, kLate = 0.1;

std::vector<Rows> rows_of_threads(const Column<ThreadId>& threads, size_t count) {
  std::vector<Rows> rows(count);
  for (uint32_t row = 0; row < threads.size(); ++row) {
    Rows& of = rows[index(threads[row])];
    if (of.size() == 0) of.first = row;
    of.last = row + 1;
  }
  return rows;
}

struct Bounds {
  double low = 0, high = 0;
};

// Wilson's interval of a share p of n.
Bounds share_bounds(double p, double n) {
  const double z2 = kZ * kZ, denominator = 1 + z2 / n;
  const double middle = (p + z2 / (2 * n)) / denominator;
  const double half = kZ * std::sqrt(p * (1 - p) / n + z2 / (4 * n * n)) / denominator;
  return {std::max(0.0, middle - half), std::min(1.0, middle + half)};
}

// The score interval of the mean of a count.
Bounds count_bounds(double n) {
  const double z2 = kZ * kZ, half = kZ * std::sqrt(n + z2 / 4);
  return {std::max(0.0, n + z2 / 2 - half), n + z2 / 2 + half};
}

}  // namespace

std::string_view blocked_text(BlockedIn blocked_in) {
  switch (blocked_in) {
    case BlockedIn::None: return "blocked";
    case BlockedIn::File: return "blocked in a file";
    case BlockedIn::Lock: return "waiting for a lock";
    case BlockedIn::Sleep: return "sleeping";
    case BlockedIn::Network: return "waiting for the network";
    case BlockedIn::Pipe: return "waiting for a pipe";
    case BlockedIn::Child: return "waiting for a child process";
    case BlockedIn::Poll: return "waiting in poll";
    case BlockedIn::Thread: return "waiting for the end of a thread";
    case BlockedIn::Condition: return "waiting on a condition, waker not known";
    case BlockedIn::Gil: return "waiting for the GIL";
    case BlockedIn::Other: return "blocked in a system call";
  }
  return "blocked";
}

HostSampleRows::HostSampleRows(const Trace& trace, const Views&)
    : trace_(trace), recorded_(trace.processes.size()), rates_(trace.processes.size()) {
  const HostSampling& sampling = trace.host_sampling;
  samples_ = rows_of_threads(sampling.samples.thread, trace.threads.size());
  states_ = rows_of_threads(sampling.states.thread, trace.threads.size());
  for (const HostSamplingRate& rate : sampling.rates) {
    if (rate.period_ns > 0) recorded_[index(rate.process)] = true;
    rates_[index(rate.process)].push_back({rate.from_ns, rate.period_ns, rate.starved_only});
  }
  for (std::vector<Rate>& rates : rates_) {
    if (!rates.empty()) continue;
    rates.push_back({INT64_MIN, sampling.period_ns, sampling.starved_only && sampling.rates.empty()});
  }
  for (uint32_t thread = 0; thread < trace.threads.size(); ++thread) {
    if (samples_[thread].size() != 0) recorded_[index(trace.threads[thread].process)] = true;
  }
  variation_.assign(trace.threads.size(), 1);
  running_variation_.assign(trace.threads.size(), 1);
  for (uint32_t thread = 0; thread < trace.threads.size(); ++thread) find_variation(thread);
  if (!sampling.states.empty() && !sampling.samples.empty()) {
    weights_.resize(sampling.samples.size());
    for (uint32_t thread = 0; thread < trace.threads.size(); ++thread) find_weights(thread);
  }
  any_ = std::find(recorded_.begin(), recorded_.end(), true) != recorded_.end();
}

// Distances of samples that are taken only at times of the program's choice show the program instead of the sampler.
void HostSampleRows::find_variation(uint32_t thread) {
  const HostSampling& sampling = trace_.host_sampling;
  constexpr uint32_t kEnough = 100;
  const bool states = !sampling.states.empty();
  const Rows rows = samples_[thread];
  double sum = 0, squares = 0;
  uint32_t count = 0;
  for (uint32_t row = rows.first; row + 1 < rows.last; ++row) {
    const HostState* const state = &sampling.samples.state[row];
    if (states && (state[0] == HostState::Running || state[1] == HostState::Running)) continue;
    const int64_t* const time_ns = &sampling.samples.time_ns[row];
    const Rate* const rate = rate_at(thread, time_ns[0]);
    if (rate == nullptr || rate->starved || rate != rate_at(thread, time_ns[1])) continue;
    const auto ns = static_cast<double>(time_ns[1] - time_ns[0]);
    if (ns > 2 * HostCodeTimes::kReach * rate->period_ns) continue;
    sum += ns, squares += ns * ns, ++count;
  }
  if (count >= kEnough && sum > 0) variation_[thread] = std::clamp(squares * count / (sum * sum) - 1, 0.01, 1.0);
}

// The median distance of running samples in running time, over the samples around each one, of one rate. The mean would
// charge time in which the kernel takes no samples, for example inside a system call, to the code that was sampled
// before and after. If only samples of starved times were kept, others are missing between many of them. Then a
// distance is at most the longest period that the recorder chooses, and the lower quartile is the distance without a
// missing one.
void HostSampleRows::find_weights(uint32_t thread) {
  const auto longest = [](const Rate& rate) { return (rate.starved ? 1.6 : 4) * rate.period_ns; };  // none is missing
  constexpr size_t kAround = 8, kEnough = 4;
  const HostSamples& samples = trace_.host_sampling.samples;
  const ThreadStates& states = trace_.host_sampling.states;
  std::vector<uint32_t> running;  // rows
  std::vector<const Rate*> rates;
  std::vector<float> distances;        // from the running sample before; 0: not known
  int64_t before_ns = 0, last_ns = 0;  // running time before the interval, at the last running sample
  uint32_t state = states_[thread].first;
  for (uint32_t row = samples_[thread].first; row < samples_[thread].last; ++row) {
    const int64_t time_ns = samples.time_ns[row];
    for (; state < states_[thread].last && states.end_ns[state] <= time_ns; ++state) {
      if (states.state[state] == HostState::Running) before_ns += states.end_ns[state] - states.begin_ns[state];
    }
    if (state == states_[thread].last) break;
    if (states.state[state] != HostState::Running || states.begin_ns[state] > time_ns) continue;
    const int64_t now_ns = before_ns + time_ns - states.begin_ns[state];
    const auto distance = static_cast<double>(now_ns - last_ns);
    const Rate* const rate = rate_at(thread, time_ns);
    if (rate == nullptr) continue;
    const bool known = !running.empty() && rates.back() == rate && distance <= longest(*rate);
    running.push_back(row);
    rates.push_back(rate);
    distances.push_back(known ? static_cast<float>(distance) : 0);
    last_ns = now_ns;
  }
  constexpr double kMissing = 1.6;  // distances without a sample in between; the variation of longer ones is not random
  double sum = 0, squares = 0;
  uint32_t count = 0;
  std::vector<float> near;
  for (size_t i = 0; i < running.size(); ++i) {
    near.clear();
    for (size_t j = i < kAround ? 0 : i - kAround; j < std::min(running.size(), i + kAround + 1); ++j) {
      if (distances[j] > 0 && rates[j] == rates[i]) near.push_back(distances[j]);
    }
    if (near.size() < kEnough) continue;
    const auto middle = near.begin() + static_cast<ptrdiff_t>(near.size() / (rates[i]->starved ? 4 : 2));
    std::nth_element(near.begin(), middle, near.end());
    weights_[running[i]] = *middle;
    const double relative = static_cast<double>(distances[i]) / static_cast<double>(*middle);
    if (relative <= 0 || relative > kMissing) continue;
    sum += relative, squares += relative * relative, ++count;
  }
  constexpr uint32_t kEnoughDistances = 100;
  constexpr double kLeast = 0.02;  // where the period changes, the time that a sample represents is not exact
  if (count >= kEnoughDistances)
    running_variation_[thread] = std::clamp(squares * count / (sum * sum) - 1, kLeast, 1.0);
}

Rows HostSampleRows::samples_in(uint32_t thread, int64_t begin_ns, int64_t end_ns) const {
  const Column<int64_t>& times = trace_.host_sampling.samples.time_ns;
  const Rows of = samples_[thread];
  const int64_t* const first = std::lower_bound(times.data() + of.first, times.data() + of.last, begin_ns);
  const int64_t* const last = std::lower_bound(first, times.data() + of.last, end_ns);
  return {static_cast<uint32_t>(first - times.data()), static_cast<uint32_t>(last - times.data())};
}

std::string host_state_text(const Trace& trace, const HostCode& code) {
  if (code.state == HostState::Running) return "running";
  if (code.state == HostState::Runnable) return "runnable";
  const std::string_view detail = trace.text(code.detail);
  if (code.blocked_in == BlockedIn::Other && !detail.empty()) return "blocked in " + std::string(detail);
  std::string text(blocked_text(code.blocked_in));
  if (!detail.empty()) text.append(": ").append(detail);
  return text;
}

size_t HostCodeTimes::Hash::operator()(const HostCode& code) const {
  uint64_t word = uint64_t{static_cast<uint32_t>(code.stack)} << 32 | index(code.detail);
  word = word * 0x9e3779b97f4a7c15 + (static_cast<uint64_t>(code.state) << 8 | static_cast<uint64_t>(code.blocked_in));
  return word ^ word >> 29;
}

HostCodeTimes::Counted& HostCodeTimes::counted(const HostCode& code) {
  if (last_ < codes_.size() && codes_[last_] == code) return counts_[last_];
  const auto [found, added] = index_of_.try_emplace(code, static_cast<uint32_t>(codes_.size()));
  if (added) {
    codes_.push_back(code);
    counts_.emplace_back();
  }
  last_ = found->second;
  return counts_[last_];
}

void HostCodeTimes::clear() {
  codes_.clear();
  counts_.clear();
  index_of_.clear();
  reached_ns_ = {};
  far_ns_ = {};
  total_ns_ = 0;
  samples_ = 0;
  for (Pairs& pairs : pairs_) pairs.clear();
  pair_row_ = kNone;
  variation_ = {};
  in_stratum_ = {};
  last_ = 0;
}

// Calls take(begin, end, stratum) for the parts of an interval by the state of the thread, in order of time.
template <class Take> void HostCodeTimes::each_state(uint32_t thread, const Interval& interval, Take&& take) const {
  const ThreadStates& states = trace_->host_sampling.states;
  const Rows of = rows_->states(thread);
  const int64_t* const ends = states.end_ns.data();
  auto row = static_cast<uint32_t>(std::upper_bound(ends + of.first, ends + of.last, interval.begin_ns) - ends);
  int64_t now = interval.begin_ns;
  for (; now < interval.end_ns && row < of.last && states.begin_ns[row] < interval.end_ns; ++row) {
    if (states.begin_ns[row] > now) take(now, states.begin_ns[row], kUnknown);
    const int64_t begin_ns = std::max(now, states.begin_ns[row]), end_ns = std::min(ends[row], interval.end_ns);
    const auto length = static_cast<double>(end_ns - begin_ns);
    const bool is_long =
        states.state[row] == HostState::Blocked && length >= kLongWait * rows_->period_ns(thread, begin_ns);
    if (end_ns > begin_ns) take(begin_ns, end_ns, is_long ? kBlockedLong : static_cast<size_t>(states.state[row]));
    now = std::max(now, end_ns);
  }
  if (now < interval.end_ns) take(now, interval.end_ns, kUnknown);
}

void HostCodeTimes::add(uint32_t thread, const Interval& interval) {
  if (interval.end_ns <= interval.begin_ns) return;
  total_ns_ += interval.length_ns();
  rows_->each_part(thread, interval, [&](const Interval& part, bool sampled) {
    if (sampled) return add_sampled(thread, part);
    pair_row_ = kNone;
    each_state(thread, part,
               [&](int64_t begin_ns, int64_t end_ns, size_t stratum) { far_ns_[stratum] += end_ns - begin_ns; });
  });
}

void HostCodeTimes::add_sampled(uint32_t thread, const Interval& interval) {
  const HostSamples& samples = trace_->host_sampling.samples;
  const Rows rows = rows_->samples_in(thread, interval.begin_ns, interval.end_ns);
  const auto period = [&](int64_t time_ns) { return rows_->period_ns(thread, time_ns); };

  // A short interval without samples may be represented by the samples of others.
  const double first_period = period(rows.size() == 0 ? interval.begin_ns : samples.time_ns[rows.first]);
  const bool near = rows.size() == 0 && static_cast<double>(interval.length_ns()) <= kReach * first_period;
  uint32_t row = rows.first;                                      // the first sample that is not before the part below
  int64_t reach_ns = near ? interval.end_ns : interval.begin_ns;  // end of the reach of the samples before
  each_state(thread, interval, [&](int64_t begin_ns, int64_t end_ns, size_t stratum) {
    int64_t reached_ns = 0, now = begin_ns;
    const auto until = [&](int64_t to_ns) {
      const int64_t covered_ns = std::clamp(reach_ns, now, to_ns);
      reached_ns += covered_ns - now;
      now = to_ns;
    };
    for (; row < rows.last && samples.time_ns[row] < end_ns; ++row) {
      const int64_t time_ns = samples.time_ns[row];
      const double weight = rows_->weight_ns(thread, row);
      const auto reach = static_cast<int64_t>(kReach * period(time_ns));
      const int64_t from_ns = std::max(begin_ns, time_ns - reach);
      if (from_ns > now) until(from_ns);
      reach_ns = std::max(reach_ns, time_ns);
      until(std::max(time_ns, now));
      reach_ns = std::max(reach_ns, time_ns + reach);
      HostCode code{samples.stack[row], samples.detail[row], samples.state[row], samples.blocked_in[row]};
      if (stratum != kUnknown && code.state != state_of(stratum))
        code = {code.stack, {}, state_of(stratum), BlockedIn::None};
      Counted& counted = this->counted(code);
      ++counted.samples;
      counted.weights[stratum].add(weight);
      ++samples_;
      variation_[stratum] += rows_->variation(thread, stratum == static_cast<size_t>(HostState::Running));
      ++in_stratum_[stratum];
      if (pair_row_ != kNone && pair_row_ + 1 == row && pair_stratum_ == stratum && row != rows_->samples(thread).first)
        pairs_[stratum].emplace_back(pair_code_, last_);
      pair_row_ = row, pair_code_ = last_, pair_stratum_ = stratum;
    }
    // The next sample may be in a later part, and reach into this one.
    if (row < rows.last) {
      const auto reach = static_cast<int64_t>(kReach * period(samples.time_ns[row]));
      const int64_t from_ns = std::clamp(samples.time_ns[row] - reach, now, end_ns);
      if (from_ns > now) until(from_ns);
      reached_ns += end_ns - now;
    } else {
      until(end_ns);
    }
    reached_ns_[stratum] += reached_ns;
    far_ns_[stratum] += end_ns - begin_ns - reached_ns;
  });
}

// The variance of the number of samples of a group, as a share of the variance with independent sampling times. If
// samples come in more regular distances than that, they count long stays in a group better than independent ones do.
// How long stays are shows in the correlation r of samples that follow each other. With an exponential correlation, and
// gamma-distributed distances of squared variation c, the share is 1 + 2 (r / (1 - r) - c / (r^-c - 1)).
double HostCodeTimes::design_effect(const PairCounts& pairs, size_t group, double share, double samples,
                                    double variation) {
  constexpr double kMostCorrelation = 0.995, kNoise = 1.5;  // standard deviations of a correlation that is none
  const double own = samples * share * (1 - share);
  if (own <= 0 || variation >= 1) return 1;
  const double together = pairs.both[group] - share * pairs.one[group] + share * share * pairs.all;
  const double noise = kNoise * share * (1 - share) * std::sqrt(pairs.all);
  const double correlation = std::min(kMostCorrelation, (together - noise) / own);
  if (correlation <= 0) {  // a program that alternates as fast as it is sampled: only the next sample is correlated
    const double negative = std::min(0.0, (together + noise) / own);
    return std::clamp((1 + negative) / (1 - negative), variation, 1.0);
  }
  const double effect = 1 + 2 * (correlation / (1 - correlation) - variation / (std::pow(correlation, -variation) - 1));
  return std::clamp(effect, variation, 1.0);
}

HostCodeTimes::PairCounts HostCodeTimes::pair_counts(const Pairs& pairs, const std::vector<size_t>& group_of_code,
                                                     size_t groups) {
  PairCounts counts{std::vector<double>(groups), std::vector<double>(groups), 0};
  for (const auto& [first, second] : pairs) {
    if (group_of_code[first] == group_of_code[second]) ++counts.both[group_of_code[first]];
    ++counts.one[group_of_code[first]];
    ++counts.one[group_of_code[second]];
  }
  counts.all = static_cast<double>(pairs.size());
  return counts;
}

HostCodeDivision HostCodeTimes::divide(const std::function<uint32_t(uint32_t)>& group) const {
  HostCodeDivision division;
  division.total_ns = total_ns_;
  division.samples = samples_;
  std::vector<Counted> sums;
  std::vector<size_t> group_of_code(codes_.size());
  std::unordered_map<uint32_t, size_t> of_group;
  Weights all{};
  for (uint32_t i = 0; i < codes_.size(); ++i) {
    const uint32_t number = group(i);
    const auto [found, added] = of_group.try_emplace(number, sums.size());
    if (added) {
      sums.emplace_back();
      division.groups.push_back({number, 0, 0, 0});
    }
    group_of_code[i] = found->second;
    Counted& sum = sums[found->second];
    sum.samples += counts_[i].samples;
    for (size_t s = 0; s < kStrata; ++s) {
      sum.weights[s].add(counts_[i].weights[s]);
      all[s].add(counts_[i].weights[s]);
    }
  }
  // The part of each stratum that samples represent.
  std::array<double, kStrata> sampled{};
  std::array<bool, kStrata> whole{};
  for (size_t s = 0; s < kStrata; ++s) {
    if (all[s].sum <= 0) continue;
    const auto reached = static_cast<double>(reached_ns_[s]);
    whole[s] = (1 + kLate) * all[s].sum + kChance * std::sqrt(all[s].squares) >= reached;
    sampled[s] = whole[s] ? reached : all[s].sum;
  }
  std::array<PairCounts, kStrata> pairs;
  for (size_t s = 0; s < kStrata; ++s) pairs[s] = pair_counts(pairs_[s], group_of_code, sums.size());
  // Times are rounded so that they sum to the sampled time.
  double exact = 0;
  int64_t rounded = 0;
  for (size_t g = 0; g < sums.size(); ++g) {
    double time = 0, below = 0, above = 0;
    for (size_t s = 0; s < kStrata; ++s) {
      const Weight& own = sums[g].weights[s];
      if (own.sum <= 0) continue;
      const double estimate = sampled[s] * own.sum / all[s].sum;
      Bounds bounds;
      if (whole[s]) {
        const double share = own.sum / all[s].sum, samples = all[s].sum * all[s].sum / all[s].squares;
        bounds =
            share_bounds(share, samples / design_effect(pairs[s], g, share, samples, variation_[s] / in_stratum_[s]));
        bounds = {bounds.low * sampled[s], bounds.high * sampled[s]};
      } else {
        const double mean = own.squares / own.sum;
        bounds = count_bounds(own.sum / mean);
        bounds = {bounds.low * mean, std::min(bounds.high * mean, static_cast<double>(reached_ns_[s]))};
      }
      time += estimate;
      below += std::pow(std::max(0.0, estimate - bounds.low), 2);
      above += std::pow(std::max(0.0, bounds.high - estimate), 2);
    }
    exact += time;
    HostCodeTime& to = division.groups[g];
    to.samples = sums[g].samples;
    to.time_ns = whole_ns(exact) - rounded;
    to.half_ns = whole_ns((std::sqrt(below) + std::sqrt(above)) / 2);
    rounded += to.time_ns;
  }
  division.not_sampled_ns = total_ns_ - rounded;
  for (size_t s = 0; s < kStrata; ++s) {
    if (s == kUnknown) continue;
    int64_t& missing_ns = division.not_sampled_in_state_ns[static_cast<size_t>(state_of(s))];
    missing_ns += std::max<int64_t>(0, reached_ns_[s] + far_ns_[s] - whole_ns(sampled[s]));
    missing_ns = std::min(missing_ns, std::max<int64_t>(0, division.not_sampled_ns));
  }
  std::stable_sort(division.groups.begin(), division.groups.end(),
                   [](const HostCodeTime& a, const HostCodeTime& b) { return a.time_ns > b.time_ns; });
  return division;
}

}  // namespace prof::analyzer
