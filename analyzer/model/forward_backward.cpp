#include "analyzer/model/forward_backward.h"

#include "analyzer/model/autograd_numbers.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

namespace prof::analyzer {

namespace {

// A forward operator with a sequence number.
struct Forward {
  uint32_t process;
  int64_t sequence;
  uint32_t thread;
  int64_t begin_ns;
  uint32_t row;
  uint32_t outer = kNone;  // the outermost operator around it with the same number
  uint32_t nests = 0;      // number of different `outer` of this key up to this operator
  auto key() const { return std::tuple(process, sequence, thread); }
};

// Forward operators by (process, number, thread, start), and the thread of each of PyTorch's thread numbers.
class Forwards {
 public:
  std::vector<Forward> all;

  void sort() {
    std::sort(all.begin(), all.end(), [](const Forward& a, const Forward& b) {
      return std::tuple(a.key(), a.begin_ns, a.row) < std::tuple(b.key(), b.begin_ns, b.row);
    });
    for (size_t i = 0; i < all.size(); ++i) {
      const bool same_key = i > 0 && all[i - 1].key() == all[i].key();
      if (!same_key) heads_.push_back(static_cast<uint32_t>(i));
      all[i].nests = !same_key ? 1 : all[i - 1].nests + (all[i - 1].outer != all[i].outer ? 1 : 0);
    }
  }

  // A backward operator with that thread number has that sequence number: votes for each thread with a forward operator
  // of it.
  void vote(uint32_t process, uint32_t number, int64_t sequence) {
    for_each_thread(process, sequence, [&](uint32_t head) { ++votes_[{process, number}][all[head].thread]; });
  }

  // Sets the forward side of a link.
  void find(uint32_t process, uint32_t number, int64_t begin_ns, BackwardLink& link) const {
    const uint32_t thread = thread_of(process, number);
    const Forward* best = nullptr;
    uint32_t nests = 0;
    for_each_thread(process, link.sequence, [&](uint32_t head) {
      if (thread != kNone && all[head].thread != thread) return;
      const auto key = all[head].key();
      const auto after = std::partition_point(
          all.begin() + head, all.end(), [&](const Forward& f) { return f.key() == key && f.begin_ns <= begin_ns; });
      if (after == all.begin() + head) return;
      const Forward& last = *(after - 1);
      nests += last.nests;
      if (best == nullptr || best->begin_ns < last.begin_ns) best = &last;
    });
    if (best == nullptr) return;
    link.forward = best->row;
    link.outer_forward = best->outer;
    link.others = nests - 1;
  }

 private:
  // Calls f for the first forward operator of each thread with that number.
  template <class F> void for_each_thread(uint32_t process, int64_t sequence, F f) const {
    const auto wanted = std::tuple(process, sequence);
    const auto of = [&](uint32_t head) { return std::tuple(all[head].process, all[head].sequence); };
    auto at = std::partition_point(heads_.begin(), heads_.end(), [&](uint32_t head) { return of(head) < wanted; });
    for (; at != heads_.end() && of(*at) == wanted; ++at) f(*at);
  }

  // kNone: undecided.
  uint32_t thread_of(uint32_t process, uint32_t number) const {
    const auto found = votes_.find({process, number});
    if (number == 0 || found == votes_.end()) return kNone;
    uint32_t thread = kNone;
    uint64_t most = 0;
    for (const auto& [candidate, votes] : found->second) {
      if (votes == most) thread = kNone;
      if (votes > most) {
        thread = candidate;
        most = votes;
      }
    }
    return thread;
  }

  std::vector<uint32_t> heads_;
  std::map<std::pair<uint32_t, uint32_t>, std::map<uint32_t, uint64_t>> votes_;
};

// Walks the ranges in order, parents first. Nested operators with one number become one link.
class Collector {
 public:
  Collector(const Trace& trace, Column<uint32_t>& link_of, std::vector<BackwardLink>& links, Forwards& forwards)
      : trace_(trace), numbers_(trace), link_of_(link_of), links_(links), forwards_(forwards) {}

  void run() {
    const size_t ranges = trace_.ranges.size();
    carrier_.resize(ranges);
    outer_.resize(ranges);
    link_of_.resize(ranges);
    for (uint32_t row = 0; row < ranges; ++row) take(row);
    // emit_nvtx marks the engine's wrapper around a backward operator as a forward operator. A wrapper that belongs to
    // a link is removed.
    std::erase_if(forwards_.all, [&](const Forward& f) {
      return link_of_[f.row] != kNone && links_[link_of_[f.row]].outer_backward == f.row;
    });
  }
  uint32_t forward_thread(uint32_t link) const { return threads_[link]; }

 private:
  // carrier_: the innermost range with a number that is this range or encloses it.
  void take(uint32_t row) {
    const Range& range = trace_.ranges[row];
    const uint32_t around = range.parent == kNone ? kNone : carrier_[range.parent];
    const uint32_t link_around = range.parent == kNone ? kNone : link_of_[range.parent];
    link_of_[row] = link_around;
    carrier_[row] = around;
    outer_[row] = row;
    const AutogradNumber number = numbers_.of(row);
    if (number.sequence < 0) return;
    carrier_[row] = row;
    const AutogradNumber outside = around == kNone ? AutogradNumber{} : numbers_.of(around);
    const bool chained = outside.sequence == number.sequence;
    if (number.backward) {
      if (chained && outside.backward && link_around != kNone) {
        if (links_[link_around].backward == around) links_[link_around].backward = row;
        return;
      }
      link_of_[row] = static_cast<uint32_t>(links_.size());
      BackwardLink& link = links_.emplace_back();
      link.backward = link.outer_backward = row;
      link.sequence = number.sequence;
      const uint32_t engine = chained && !outside.backward ? around : number.engine;
      if (engine != kNone) {
        link.outer_backward = engine;
        link_of_[engine] = link_of_[row];
      }
      threads_.push_back(number.forward_thread);
      return;
    }
    if (chained && !outside.backward) outer_[row] = outer_[around];
    const uint32_t process = index(trace_.thread(range.thread).process);
    forwards_.all.push_back({process, number.sequence, index(range.thread), range.begin_ns, row, outer_[row]});
  }

  const Trace& trace_;
  AutogradNumbers numbers_;
  Column<uint32_t>& link_of_;
  std::vector<BackwardLink>& links_;
  Forwards& forwards_;
  Column<uint32_t> carrier_, outer_;
  std::vector<uint32_t> threads_;  // PyTorch's number of the forward thread, by link
};

}  // namespace

ForwardBackward::ForwardBackward(const Trace& trace) {
  Forwards forwards;
  Collector collector(trace, link_of_, links_, forwards);
  collector.run();
  forwards.sort();
  const auto process_of = [&](const BackwardLink& link) {
    return index(trace.thread(trace.ranges[link.backward].thread).process);
  };
  for (uint32_t i = 0; i < links_.size(); ++i)
    forwards.vote(process_of(links_[i]), collector.forward_thread(i), links_[i].sequence);
  for (uint32_t i = 0; i < links_.size(); ++i) {
    BackwardLink& link = links_[i];
    const int64_t begin_ns = trace.ranges[link.outer_backward].begin_ns;
    forwards.find(process_of(link), collector.forward_thread(i), begin_ns, link);
    unmatched_ += link.forward == kNone ? 1 : 0;
    ambiguous_ += link.others != 0 ? 1 : 0;
  }
  // By start: the forward operator of a link ran earlier, and so did the backward operator around it.
  std::vector<uint32_t> order(links_.size()), place(links_.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    const Range &x = trace.ranges[links_[a].backward], &y = trace.ranges[links_[b].backward];
    return std::tuple(x.begin_ns, links_[a].backward) < std::tuple(y.begin_ns, links_[b].backward);
  });
  std::vector<BackwardLink> sorted;
  for (uint32_t i = 0; i < order.size(); ++i) {
    sorted.push_back(links_[order[i]]);
    place[order[i]] = i;
  }
  links_ = std::move(sorted);
  if (links_.empty()) link_of_.free();
  for (uint32_t& link : link_of_) link = link == kNone ? kNone : place[link];
  for (uint32_t i = 0; i < links_.size(); ++i) {
    const uint32_t within = links_[i].forward == kNone ? kNone : link_of_[links_[i].forward];
    if (within != kNone && within < i) links_[i].order = links_[within].order + 1;
  }
}

const BackwardLink* ForwardBackward::around(uint32_t range_row) const {
  return range_row >= link_of_.size() || link_of_[range_row] == kNone ? nullptr : &links_[link_of_[range_row]];
}

}  // namespace prof::analyzer
