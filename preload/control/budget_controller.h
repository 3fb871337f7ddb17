// When are GPU times collected, so that the whole run stays below a share of its time (PROF_BUDGET)? From what was
// spent, this class decides when a burst starts and ends. It only computes: it must not read a clock or call CUPTI.
// budget.cpp measures and carries out the decisions.
//
//   credit = share × elapsed − spent
//   spent  = own time + launches × what each of them costs in the state in which it was made
//
//   Resting --credit reaches a random multiple of a burst's cost--> Burst
//   Burst --random length is over, or no credit--> Draining --> Resting
//
// Lengths and the required credit are random, so that bursts do not keep step with the program.
#pragma once

#include <algorithm>
#include <cstdint>

namespace prof::preload {

struct LaunchCosts {
  double hook_ns = 0;   // of our hook
  double rest_ns = 0;   // of CUPTI while it is attached and collects nothing
  double burst_ns = 0;  // of CUPTI while it collects
};

class BudgetController {
 public:
  enum class State : uint8_t { Resting, Burst, Draining };
  enum class Step : uint8_t { None, Begin, End };
  struct Totals {  // since the recording started
    uint64_t elapsed_ns = 0, launches = 0, own_ns = 0;
  };
  struct Spent {
    double own_ns = 0, hooks_ns = 0, cupti_ns = 0;
    double all_ns() const { return own_ns + hooks_ns + cupti_ns; }
  };

  BudgetController() = default;
  BudgetController(double share, uint64_t seed) : share_(share), random_(seed | 1) { draw(0); }

  // Checks the totals and returns what must be done now. After a burst, call drained() when its records have arrived.
  Step look(const Totals& now, const LaunchCosts& costs) {
    spend(now, costs);
    const double elapsed = static_cast<double>(now.elapsed_ns);
    credit_ns_ = share_ * elapsed - spent_.all_ns();
    if (state_ == State::Resting) {
      needed_ns_ = burst_cost_ns(costs) * patience_;
      if (launches_at_end_ == now.launches) return Step::None;
      refused_ = !affords_cupti(costs);
      if (refused_ || credit_ns_ < needed_ns_) return Step::None;
      state_ = State::Burst;
      attached_ = true;
      burst_start_ns_ = now.elapsed_ns;
      own_at_begin_ns_ = spent_.own_ns;
      return Step::Begin;
    }
    if (state_ != State::Burst) return Step::None;
    if (static_cast<double>(now.elapsed_ns - burst_start_ns_) < length_ns_ && credit_ns_ > 0) return Step::None;
    state_ = State::Draining;
    return Step::End;
  }

  void drained(const Totals& now, const LaunchCosts& costs) {
    spend(now, costs);
    const double fixed = spent_.own_ns - own_at_begin_ns_;
    fixed_ns_ = bursts_ == 0 ? fixed : fixed_ns_ + 0.25 * (fixed - fixed_ns_);
    ++bursts_;
    launches_at_end_ = now.launches;
    state_ = State::Resting;
    draw(static_cast<double>(now.elapsed_ns));
  }

  // The ns until the next look().
  uint64_t pause_ns(const Totals& now) const {
    if (state_ == State::Draining) return 2'000'000;
    double wait = (needed_ns_ - credit_ns_) / share_;
    if (state_ == State::Burst) wait = length_ns_ - static_cast<double>(now.elapsed_ns - burst_start_ns_);
    return static_cast<uint64_t>(std::clamp(wait, 1e6, state_ == State::Burst ? 20e6 : 100e6));
  }

  State state() const { return state_; }
  const Spent& spent() const { return spent_; }
  uint64_t bursts() const { return bursts_; }
  bool attached() const { return attached_; }
  // Whether no burst starts because CUPTI, once attached, costs every launch more than the share allows. share_needed()
  // is the share that would be enough.
  bool refused() const { return refused_; }
  double share_needed(const LaunchCosts& costs) const {
    return rate() * (costs.hook_ns + costs.rest_ns) / kMostForRest;
  }

 private:
  void spend(const Totals& now, const LaunchCosts& costs) {
    const double launches = static_cast<double>(now.launches - last_.launches);
    const double time = static_cast<double>(now.elapsed_ns - last_.elapsed_ns);
    spent_.own_ns += static_cast<double>(now.own_ns - last_.own_ns);
    spent_.hooks_ns += launches * costs.hook_ns;
    if (attached_) spent_.cupti_ns += launches * (state_ == State::Resting ? costs.rest_ns : costs.burst_ns);
    if (time > 0) {  // launches per ns in about the last 0.1 s
      const double weight = std::min(1.0, time / 100e6);
      recent_rate_ += weight * (launches / time - recent_rate_);
    }
    last_ = now;
  }
  double rate() const {
    const double mean =
        static_cast<double>(last_.launches) / static_cast<double>(std::max<uint64_t>(last_.elapsed_ns, 1));
    return std::max(mean, recent_rate_);
  }
  double burst_cost_ns(const LaunchCosts& costs) const {
    return fixed_ns_ + rate() * length_ns_ * (costs.burst_ns + costs.hook_ns);
  }
  // Once CUPTI has collected, it costs every launch until the process ends. No burst starts if that leaves nothing for
  // bursts.
  bool affords_cupti(const LaunchCosts& costs) const {
    return attached_ || rate() * (costs.hook_ns + costs.rest_ns) < kMostForRest * share_;
  }
  double uniform() {  // [0, 1), xorshift
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    return static_cast<double>(random_ >> 11) * 0x1p-53;
  }
  void draw(double elapsed_ns) {
    // Bursts are longer in long runs, so that a day has thousands of bursts and not millions. They are also longer if
    // their fixed cost is high.
    const double base = std::clamp(std::max(elapsed_ns / 1000, 4 * fixed_ns_), kShortestNs, kLongestNs);
    length_ns_ = base * (0.5 + uniform());
    patience_ = 1 + uniform();
  }

  static constexpr double kMostForRest = 0.75, kShortestNs = 10e6, kLongestNs = 1e9;
  // The assumed cost of a burst without its launches, until the first burst has been measured.
  static constexpr double kFirstFixedNs = 2e6;

  double share_ = 0;
  uint64_t random_ = 1;
  State state_ = State::Resting;
  bool attached_ = false, refused_ = false;
  Totals last_;
  Spent spent_;
  uint64_t bursts_ = 0, burst_start_ns_ = 0, launches_at_end_ = 0;
  double credit_ns_ = 0, needed_ns_ = 0, recent_rate_ = 0, fixed_ns_ = kFirstFixedNs, own_at_begin_ns_ = 0;
  double length_ns_ = 0, patience_ = 1;
};

}  // namespace prof::preload
