// See rank_blame.h.
#include "analyzer/analysis/collectives/rank_blame.h"

#include "analyzer/analysis/collectives/host_clocks.h"
#include "analyzer/analysis/collectives/process_ranks.h"
#include "analyzer/model/process_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <tuple>

namespace prof::analyzer {

std::string_view state_name(CollectiveState state) {
  switch (state) {
    case CollectiveState::Finished: return "finished";
    case CollectiveState::Launched: return "launched";
    case CollectiveState::Entered: return "entered";
    case CollectiveState::NotEntered: return "not entered";
    case CollectiveState::Unknown: break;
  }
  return "unknown";
}

std::string_view finding_name(FindingKind kind) {
  switch (kind) {
    case FindingKind::NotEntered: return "not entered";
    case FindingKind::OtherCollective: return "other collective";
    case FindingKind::OtherOrder: return "other order";
    case FindingKind::NoPartner: return "no partner";
    case FindingKind::Circle: break;
  }
  return "circle";
}

bool needs_all(CollectiveKind kind) {
  return kind == CollectiveKind::AllReduce || kind == CollectiveKind::AllGather ||
         kind == CollectiveKind::ReduceScatter || kind == CollectiveKind::AllToAll || kind == CollectiveKind::Barrier;
}

CollectiveState state_of_call(const Trace& trace, const CollectiveEntry& entry) {
  const Rows rows = trace.threads[entry.thread].host;
  const HostEvent* const first = trace.host.data() + rows.first;
  const HostEvent* const last = trace.host.data() + rows.last;
  const HostEvent* at = std::lower_bound(
      first, last, entry.time_ns, [](const HostEvent& event, int64_t time_ns) { return event.begin_ns < time_ns; });
  bool launched = false;
  for (const HostEvent* each = at; each != last && each->begin_ns <= entry.end_ns; ++each) {
    if (each->kind() != HostKind::KernelLaunch) continue;
    launched = true;
    if (each->has(kHostHasGpu)) return CollectiveState::Finished;
  }
  if (launched || entry.end_ns == INT64_MAX) return launched ? CollectiveState::Launched : CollectiveState::Entered;
  // Calls of a group are launched at its end.
  for (const HostEvent* each = at; each != last; ++each) {
    if (each->kind() != HostKind::KernelLaunch) continue;
    if (trace.text(trace.kernels[each->subject].name).find("nccl") == std::string_view::npos) continue;
    return each->has(kHostHasGpu) ? CollectiveState::Finished : CollectiveState::Launched;
  }
  return CollectiveState::Entered;
}

bool is_comparable(const Trace& trace, const RankCalls& calls) {
  if (calls.local || calls.several) return false;
  if (calls.recorded) return true;
  const Process& process = trace.processes[calls.process];  // counted calls must be there from the first one on
  return calls.made && !process.ring && why_calls_lost(process).empty();
}

std::string_view why_pairs_unknown(const Trace& trace, const CollectiveEntries& entries, const RankCalls& calls) {
  for (const uint32_t p : entries.parts_of(calls.process)) {
    if (const std::string_view lost = why_calls_lost(trace.processes[p]); !lost.empty()) return lost;
  }
  if (calls.pairs_from_first && is_comparable(trace, calls)) return {};
  return "its log does not have the first ones, or not the making of the communicator";
}

std::string_view why_calls_lost(const Process& process) {
  if (!process.damage.empty()) return "its log is damaged";
  if (process.lost(format::Missing::Calls)) return "its log lacks calls that were lost";
  return {};
}

std::string_view why_end_is_open(const Process& process) {
  const bool stopped = process.finished && !process.fact("recording_ended").empty();  // else at the exit
  if (stopped) return "its recording ended";
  if (process.copied) return "its log was copied";
  if (process.still_written) return "its log was read";
  return process.buffered && !process.finished ? "its log was last written" : std::string_view();
}

std::string_view why_start_is_open(const Process& process) {
  return process.ring ? "its log has no call of this communicator, and its first records were overwritten"
                      : std::string_view();
}

namespace {

std::string wait_text(int64_t ns) {
  const double value = static_cast<double>(std::max<int64_t>(ns, 0)) / 1e9;
  return value >= 10 ? fmt::format("{:.0f} s", value) : fmt::format("{:.2f} s", value);
}

const CollectiveEntry* entry_of(const RankCalls& calls, uint64_t number) {
  const auto at = std::lower_bound(calls.calls.begin(), calls.calls.end(), number,
                                   [](const CollectiveEntry& entry, uint64_t wanted) { return entry.number < wanted; });
  return at != calls.calls.end() && at->number == number ? &*at : nullptr;
}

// Units that wait. Ranks that are absent from one collective share them.
using Waiting = std::shared_ptr<const std::vector<uint32_t>>;

// A rank that others wait for.
struct Absent {
  BlameFinding finding;
  uint32_t thread = kNone;  // thread of its last call on the communicator
  Waiting waiting;
};

// What the ranks of a communicator did after a call that was the last one of another rank.
struct Later {
  const CollectiveEntry* first = nullptr;  // the earliest next call
  uint32_t process = kNone;                // that made it
  Waiting waiting;                         // units whose last call did not finish
};

class Finder {
 public:
  Finder(const Trace& trace, const Views& views, int64_t after_ns)
      : trace_(trace), views_(views), after_ns_(after_ns), entries_(trace), names_(process_names(trace)) {}

  Blame run() {
    blame_.collectives = entries_.calls();
    for (uint32_t p = 0; p < trace_.processes.size(); ++p) {
      end_ns_ = std::max(end_ns_, end_of_part(p));
      if (const std::optional<uint32_t> job = trace_.processes[p].rank)
        ranks_of_job_ = std::max<uint64_t>(ranks_of_job_, uint64_t{*job} + 1);
      ranks_of_job_ = std::max<uint64_t>(ranks_of_job_, world_size(trace_.processes[p]).value_or(0));
    }
    for (const CommunicatorCalls& communicator : entries_.communicators())
      ranks_of_job_ = std::max(ranks_of_job_, communicator.ranks);
    for (const CommunicatorCalls& communicator : entries_.communicators()) {
      const bool different = find_difference(communicator);
      find_absent(with_others(communicator), different);
      find_partners(communicator);
    }
    choose();
    note_missing();
    return std::move(blame_);
  }

 private:
  // The time of the last thing that the log of a process shows, over all parts of the process.
  int64_t end_of(uint32_t unit) const {
    int64_t end_ns = INT64_MIN;
    for (const uint32_t p : entries_.parts_of(unit)) end_ns = std::max(end_ns, end_of_part(p));
    return end_ns;
  }

  // Why it is not known whether the process made a call at `time_ns` or later. Empty: it made none.
  std::string why_unknown(const RankCalls& calls, uint32_t waiting, int64_t time_ns) const {
    if (calls.several) return "several ranks of this process, whose calls NVTX does not tell apart";
    uint32_t last = calls.process;  // the last part of the process
    for (const uint32_t p : entries_.parts_of(calls.process)) {
      if (const std::string_view lost = why_calls_lost(trace_.processes[p]); !lost.empty()) return std::string(lost);
      if (end_of_part(p) > end_of_part(last)) last = p;
    }
    const Process& process = trace_.processes[last];
    const std::string_view why = why_end_is_open(process);
    if (why.empty()) return {};  // the process is over
    const int64_t end_ns = end_of(calls.process);
    const std::optional<int64_t> bound = clock_bound_ns(trace_, ProcessId{calls.process}, ProcessId{waiting}, time_ns);
    if (!bound) return "the clocks of the hosts cannot be compared";
    if (end_ns >= time_ns + *bound + after_ns_) return {};
    return end_ns < time_ns ? fmt::format("{} {} before the others entered it", why, wait_text(time_ns - end_ns))
                            : fmt::format("{} {} after the others entered it", why, wait_text(end_ns - time_ns));
  }

  CollectiveState state_of(const CollectiveEntry& entry) const { return state_of_call(trace_, entry); }

  std::string rank_text(const RankCalls& calls) const {
    if (calls.rank) {
      const std::optional<uint32_t> job = trace_.processes[calls.process].rank;
      if (job && static_cast<int64_t>(*job) != *calls.rank)
        return fmt::format("{} (rank {} of the communicator)", names_[calls.process], *calls.rank);
      if (!job) return fmt::format("rank {} ({})", *calls.rank, names_[calls.process]);
    }
    return names_[calls.process];
  }

  std::string call_text(const CommunicatorCalls& communicator, const CollectiveEntry& entry) const {
    if (entry.number == 0) return fmt::format("{} of communicator {}", entries_.text(entry.text), communicator.name);
    return fmt::format("{} #{} of communicator {}", entries_.kind(entry.text), entry.number, communicator.name);
  }

  // Members of a communicator whose calls can be compared with those of the others.
  bool comparable(const RankCalls& calls) const { return is_comparable(trace_, calls); }

  // The first collective that the ranks entered with different arguments. Ranges of NCCL name other arguments than
  // records of starts, so ranks with the one are not compared with ranks with the other.
  bool find_difference(const CommunicatorCalls& communicator) {
    return find_difference(communicator, true) || find_difference(communicator, false);
  }

  bool find_difference(const CommunicatorCalls& communicator, bool recorded) {
    uint64_t most = 0;
    std::vector<const RankCalls*> members;
    for (const RankCalls& calls : communicator.of_rank) {
      if (calls.recorded != recorded || !comparable(calls) || calls.calls.empty()) continue;
      members.push_back(&calls);
      most = std::max(most, calls.calls.back().number);
    }
    if (members.size() < 2) return false;
    for (uint64_t number = 1; number <= most; ++number) {
      std::map<uint32_t, std::vector<const RankCalls*>> ranks;  // by arguments
      for (const RankCalls* const calls : members) {
        if (const CollectiveEntry* const entry = entry_of(*calls, number)) ranks[entry->text].push_back(calls);
      }
      if (ranks.size() < 2) {
        number = next_number(members, number) - 1;
        continue;
      }
      report_difference(communicator, number, ranks, members.size());
      return true;
    }
    return false;
  }

  // The number after `number`; rings begin late, so most numbers may have no call.
  static uint64_t next_number(const std::vector<const RankCalls*>& members, uint64_t number) {
    uint64_t next = UINT64_MAX;
    for (const RankCalls* const calls : members) {
      const auto at =
          std::upper_bound(calls->calls.begin(), calls->calls.end(), number,
                           [](uint64_t wanted, const CollectiveEntry& entry) { return wanted < entry.number; });
      if (at != calls->calls.end()) next = std::min(next, at->number);
    }
    return next;
  }

  void report_difference(const CommunicatorCalls& communicator, uint64_t number,
                         const std::map<uint32_t, std::vector<const RankCalls*>>& ranks, size_t members) {
    const auto most = std::max_element(ranks.begin(), ranks.end(),
                                       [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
    const bool majority = 2 * most->second.size() > members;
    for (const auto& [text, of_text] : ranks) {
      if (majority && text == most->first) continue;
      for (const RankCalls* const calls : of_text) {
        const auto& other = majority ? *most
                                     : *std::find_if(ranks.begin(), ranks.end(),
                                                     [text = text](const auto& each) { return each.first != text; });
        const RankCalls& others = *other.second.front();
        const CollectiveEntry *const mine_next = entry_of(*calls, number + 1), *const others_next =
                                                                                   entry_of(others, number + 1);
        const bool order = (mine_next != nullptr && mine_next->text == other.first) &&
                           (others_next == nullptr || others_next->text == text);
        BlameFinding finding;
        finding.kind = order ? FindingKind::OtherOrder : FindingKind::OtherCollective;
        finding.process = calls->process;
        finding.communicator = communicator.name;
        finding.rank = calls->rank;
        const std::string as = majority ? "the others" : rank_text(others);
        finding.text = fmt::format("{} entered {} as #{} of communicator {}, {} entered {}{}", rank_text(*calls),
                                   entries_.text(text), number, communicator.name, as, entries_.text(other.first),
                                   order ? fmt::format(", which it entered as #{}: in another order", number + 1) : "");
        certain_.push_back(std::move(finding));
      }
    }
  }

  // With the ranks that made no call on the communicator, not even the one that makes it, and whose logs have other
  // calls. They are known if ranks of the communicator are those of the job.
  CommunicatorCalls with_others(const CommunicatorCalls& communicator) const {
    // In a job of 4 ranks, a communicator of 2 ranks may be of any two.
    if (communicator.ranks < ranks_of_job_) return communicator;
    CommunicatorCalls whole = communicator;
    std::set<int64_t> ranks;
    for (const RankCalls& calls : communicator.of_rank) {
      const std::optional<uint32_t> job = trace_.processes[calls.process].rank;
      if (!calls.rank || !job || *calls.rank != static_cast<int64_t>(*job)) return whole;
      ranks.insert(*calls.rank);
    }
    std::map<int64_t, uint32_t> others;
    for (uint32_t p = 0; p < trace_.processes.size(); ++p) {
      const std::optional<uint32_t> job = trace_.processes[p].rank;
      if (!job || entries_.unit_of()[p] != p || !entries_.recorded()[p] || ranks.contains(*job)) continue;
      if (*job < communicator.ranks && !others.try_emplace(*job, p).second) return communicator;
    }
    for (const auto& [rank, unit] : others) {
      RankCalls& calls = whole.of_rank.emplace_back();
      calls.process = unit;
      calls.rank = rank;
      calls.recorded = true;
    }
    std::stable_sort(whole.of_rank.begin(), whole.of_rank.end(), [](const RankCalls& a, const RankCalls& b) {
      return a.rank.value_or(INT64_MAX) < b.rank.value_or(INT64_MAX);
    });
    return whole;
  }

  // The number of the last call; 0: the communicator was made; -1: not even that.
  static int64_t last_number(const RankCalls& calls) {
    if (!calls.calls.empty()) return static_cast<int64_t>(calls.calls.back().number);
    return calls.made ? 0 : -1;
  }

  // Ranks that did not enter what others entered, and the state of each rank.
  void find_absent(const CommunicatorCalls& communicator, bool different) {
    BlameCommunicator& shown = blame_.communicators.emplace_back();
    shown.name = communicator.name;
    shown.ranks = communicator.ranks;
    int64_t reached = -1;
    for (const RankCalls& calls : communicator.of_rank) {
      if (comparable(calls)) reached = std::max(reached, last_number(calls));
    }
    std::map<int64_t, Later> later;  // by number of the call
    std::set<int64_t> ranks;
    const int64_t finished = all_entered(communicator);
    bool waits = false;  // the last collective did not finish where it was entered
    for (const RankCalls& calls : communicator.of_rank) {
      BlameRank& row = shown.of_rank.emplace_back();
      row.process = calls.process;
      row.rank = calls.rank;
      if (calls.rank) ranks.insert(*calls.rank);
      if (!calls.calls.empty()) {
        const CollectiveEntry& last = calls.calls.back();
        row.number = last.number;
        row.collective = entries_.text(last.text);
        row.ago_ns = end_ns_ - last.time_ns;
        row.state = state_of(last);
        if (last_number(calls) == reached && row.state != CollectiveState::Finished &&
            end_ns_ - last.time_ns >= after_ns_)
          waits = true;
      }
      if (!comparable(calls)) {
        row.note = calls.local     ? "the making of its communicator is not recorded, so its number is not known"
                   : calls.several ? "several ranks of this process, whose calls NVTX does not tell apart"
                                   : "its log lacks calls, or the making of the communicator, so its calls have no "
                                     "numbers without --collectives 1";
        if (communicator.ranks != 1) blame_.unknown.push_back(fmt::format("{}: {}", rank_text(calls), row.note));
        row.state = CollectiveState::Unknown;
        continue;
      }
      const int64_t last = last_number(calls);
      if (last == reached) continue;
      const auto [known, fresh] = later.try_emplace(last);
      if (fresh) known->second = later_than(communicator, last);
      absent(communicator, calls, known->second, finished > last, different, row);
    }
    add_ranks_without_log(communicator, ranks, reached, waits && !different, shown);
  }

  // The number of the last call that needs all ranks and that a rank finished: all ranks entered it. -1: none.
  int64_t all_entered(const CommunicatorCalls& communicator) const {
    int64_t number = -1;
    for (const RankCalls& calls : communicator.of_rank) {
      if (!comparable(calls)) continue;
      for (auto entry = calls.calls.rbegin(); entry != calls.calls.rend(); ++entry) {
        const auto of_entry = static_cast<int64_t>(entry->number);
        if (of_entry <= number) break;
        if (!needs_all(collective_kind(entries_.text(entry->text)))) continue;
        if (state_of(*entry) == CollectiveState::Finished) number = of_entry;
      }
    }
    return number;
  }

  Later later_than(const CommunicatorCalls& communicator, int64_t last) const {
    Later found;
    std::vector<uint32_t> waiting;
    for (const RankCalls& other : communicator.of_rank) {
      if (!comparable(other)) continue;
      const auto next = std::partition_point(other.calls.begin(), other.calls.end(), [&](const CollectiveEntry& entry) {
        return static_cast<int64_t>(entry.number) <= last;
      });
      if (next == other.calls.end()) continue;
      if (found.first == nullptr || next->time_ns < found.first->time_ns)
        found.first = &*next, found.process = other.process;
      if (state_of(other.calls.back()) != CollectiveState::Finished) waiting.push_back(other.process);
    }
    found.waiting = std::make_shared<const std::vector<uint32_t>>(std::move(waiting));
    return found;
  }

  void absent(const CommunicatorCalls& communicator, const RankCalls& calls, const Later& later, bool entered,
              bool different, BlameRank& row) {
    const CollectiveEntry* const first = later.first;
    if (first == nullptr) return;
    const bool waits = !later.waiting->empty();
    row.state = CollectiveState::NotEntered;
    std::string why = why_unknown(calls, later.process, first->time_ns);
    if (why.empty() && last_number(calls) < 0) why = why_start_is_open(trace_.processes[calls.process]);
    if (why.empty() && entered) why = "others finished it, so a call of this rank is not recorded";
    if (!why.empty()) {
      row.state = CollectiveState::Unknown;
      row.note = why;
    }
    const int64_t waited_ns = end_ns_ - first->time_ns;
    if (!waits || waited_ns < after_ns_ || different) {
      if (row.note.empty() && waits)
        row.note = fmt::format("others entered {} {} ago", call_text(communicator, *first), wait_text(waited_ns));
      return;
    }
    if (row.state == CollectiveState::Unknown) {
      const std::string text =
          fmt::format("whether {} entered {}: {}", rank_text(calls), call_text(communicator, *first), why);
      blame_.unknown.push_back(text);
      wait_for_unknown_.insert(later.waiting);
      return;
    }
    Absent found;
    found.finding.kind = FindingKind::NotEntered;
    found.finding.process = calls.process;
    found.finding.communicator = communicator.name;
    found.finding.rank = calls.rank;
    found.finding.text =
        fmt::format("{} never entered {}, which {} entered {} ago", rank_text(calls), call_text(communicator, *first),
                    others_text(*later.waiting), wait_text(waited_ns));
    found.thread = calls.calls.empty() ? kNone : calls.calls.back().thread;
    found.waiting = later.waiting;
    absent_.push_back(std::move(found));
  }

  static std::string others_text(const std::vector<uint32_t>& waiting) {
    return waiting.size() == 1 ? "another rank" : fmt::format("{} others", waiting.size());
  }

  void add_ranks_without_log(const CommunicatorCalls& communicator, const std::set<int64_t>& ranks, int64_t reached,
                             bool waits, BlameCommunicator& shown) {
    if (communicator.ranks <= communicator.of_rank.size()) return;
    const uint64_t missing = communicator.ranks - communicator.of_rank.size();
    constexpr uint64_t kMost = 1024;
    std::string list;
    uint64_t listed = 0;
    for (uint64_t rank = 0; rank < communicator.ranks && ranks.size() == communicator.of_rank.size(); ++rank) {
      if (ranks.contains(static_cast<int64_t>(rank))) continue;
      if (++listed > kMost) break;
      BlameRank& row = shown.of_rank.emplace_back();
      row.rank = static_cast<int64_t>(rank);
      row.note = "no log of this rank";
      if (listed <= 8) list += fmt::format("{}{}", list.empty() ? "" : ", ", rank);
    }
    if (!waits) return;
    blame_.unknown.push_back(fmt::format("{} of {} ranks of communicator {} have no log{}", missing, communicator.ranks,
                                         communicator.name,
                                         list.empty() ? "" : fmt::format(": {}{}", list, listed > 8 ? ", …" : "")));
    for (const RankCalls& calls : communicator.of_rank) {
      if (comparable(calls) && last_number(calls) == reached) waits_for_unknown_.insert(calls.process);
    }
  }

  // Sends and receives match in order, by their two ranks.
  void find_partners(const CommunicatorCalls& communicator) {
    std::map<int64_t, const RankCalls*> by_rank;  // null: several processes have this rank
    for (const RankCalls& calls : communicator.of_rank) {
      if (!calls.rank) continue;
      const auto [known, fresh] = by_rank.try_emplace(*calls.rank, &calls);
      if (!fresh) known->second = nullptr;
    }
    for (const auto& [rank, calls] : by_rank) {
      if (calls == nullptr) continue;
      for (const auto& [peer, sends] : calls->sends) match_pair(communicator, *calls, peer, sends, by_rank, true);
      for (const auto& [peer, receives] : calls->receives)
        match_pair(communicator, *calls, peer, receives, by_rank, false);
    }
  }

  void match_pair(const CommunicatorCalls& communicator, const RankCalls& calls, int64_t peer,
                  const std::vector<CollectiveEntry>& mine, const std::map<int64_t, const RankCalls*>& by_rank,
                  bool sends) {
    const auto found = by_rank.find(peer);
    const RankCalls* const other = found == by_rank.end() ? nullptr : found->second;
    const std::string_view what = sends ? "send" : "receive", partner = sends ? "receive" : "send";
    // It is not known whether the partner of a call was made. That matters if the rank waits in it.
    const auto unknown = [&](const CollectiveEntry& open, size_t number, std::string_view why) {
      if (state_of(open) == CollectiveState::Finished || end_ns_ - open.time_ns < after_ns_) return;
      const std::string whom =
          other == nullptr ? fmt::format("rank {} of communicator {}", peer, communicator.name) : rank_text(*other);
      blame_.unknown.push_back(fmt::format("whether {} has the {} for the {} #{} of {} on communicator {}: {}", whom,
                                           partner, what, number, rank_text(calls), communicator.name, why));
      waits_for_unknown_.insert(calls.process);
    };
    if (other == nullptr) {
      unknown(mine.back(), mine.size(), found == by_rank.end() ? "it has no log" : "several processes have this rank");
      return;
    }
    static const std::vector<CollectiveEntry> no_entries;
    const auto& lists = sends ? other->receives : other->sends;
    const auto list = lists.find(*calls.rank);
    const std::vector<CollectiveEntry>& theirs = list == lists.end() ? no_entries : list->second;
    std::string_view why = why_pairs_unknown(trace_, entries_, *other);
    if (why.empty()) why = why_pairs_unknown(trace_, entries_, calls);
    if (!why.empty()) {
      note_pairs_ = true;
      unknown(mine.back(), mine.size(), why);
      return;
    }
    const bool alike = calls.recorded == other->recorded;  // see find_difference()
    for (size_t i = 0; sends && alike && i < std::min(mine.size(), theirs.size()); ++i) {
      const std::string_view a = entries_.pair_arguments(mine[i].text), b = entries_.pair_arguments(theirs[i].text);
      if (a == b) continue;
      BlameFinding finding;
      finding.kind = FindingKind::OtherCollective;
      finding.process = other->process;
      finding.communicator = communicator.name;
      finding.rank = other->rank;
      finding.text = fmt::format("send #{} of {} to {} on communicator {} has {}, its receive {}", i + 1,
                                 rank_text(calls), rank_text(*other), communicator.name, a, b);
      certain_.push_back(std::move(finding));
      return;
    }
    if (mine.size() <= theirs.size()) return;
    const CollectiveEntry& open = mine[theirs.size()];
    const int64_t waited_ns = end_ns_ - open.time_ns;
    if (state_of(open) == CollectiveState::Finished || waited_ns < after_ns_) return;
    if (const std::string late = why_unknown(*other, calls.process, open.time_ns); !late.empty()) {
      unknown(open, theirs.size() + 1, late);
      return;
    }
    Absent absent;
    absent.finding.kind = FindingKind::NoPartner;
    absent.finding.process = other->process;
    absent.finding.communicator = communicator.name;
    absent.finding.rank = other->rank;
    absent.finding.text = fmt::format("{} never entered the {} for {} #{} of {} on communicator {}, which waits for {}",
                                      rank_text(*other), partner, what, theirs.size() + 1, rank_text(calls),
                                      communicator.name, wait_text(waited_ns));
    absent.thread = thread_of(*other);
    absent.waiting = std::make_shared<const std::vector<uint32_t>>(1, calls.process);
    absent_.push_back(std::move(absent));
  }

  static uint32_t thread_of(const RankCalls& calls) {
    const CollectiveEntry* last = nullptr;
    const auto take = [&](const CollectiveEntry& entry) {
      if (last == nullptr || entry.time_ns > last->time_ns) last = &entry;
    };
    for (const CollectiveEntry& entry : calls.calls) take(entry);
    for (const auto* const lists : {&calls.sends, &calls.receives}) {
      for (const auto& [peer, list] : *lists) take(list.back());
    }
    return last == nullptr ? kNone : last->thread;
  }

  // A rank that itself waits for another one in another communicator does not hold the job.
  void choose() {
    blame_.findings = std::move(certain_);
    const bool any_unknown = !waits_for_unknown_.empty() || !wait_for_unknown_.empty();
    std::set<Waiting> lists = std::move(wait_for_unknown_);
    for (const Absent& absent : absent_) lists.insert(absent.waiting);
    std::vector<bool> waits(trace_.processes.size());
    for (const Waiting& list : lists) {
      for (const uint32_t unit : *list) waits[unit] = true;
    }
    for (const uint32_t unit : waits_for_unknown_) waits[unit] = true;
    bool any = false;
    for (Absent& absent : absent_) {
      if (waits[absent.finding.process]) continue;
      any = true;
      absent.finding.text += ": " + place_text(absent.finding.process, absent.thread);
      blame_.findings.push_back(std::move(absent.finding));
    }
    if (any || absent_.empty() || !blame_.findings.empty() || any_unknown) return;
    for (Absent& absent : absent_) {  // each waits for another one
      absent.finding.kind = FindingKind::Circle;
      absent.finding.text +=
          ": it waits in another communicator, and the ranks wait for each other in a circle, "
          "because they entered the communicators in another order";
      blame_.findings.push_back(std::move(absent.finding));
    }
  }

  std::string place_text(uint32_t unit, uint32_t thread) const {
    uint32_t process = unit;  // the last part
    for (const uint32_t p : entries_.parts_of(unit)) {
      if (end_of_part(p) >= end_of_part(process)) process = p;
    }
    const Process& row = trace_.processes[process];
    const int64_t end_ns = end_of(unit), early_ns = end_ns_ - end_ns;
    if (row.finished && row.fact("recording_ended").empty())
      return fmt::format("its process exited {} before the end of the logs", wait_text(early_ns));
    if (!row.still_written && !row.finished && early_ns >= std::max<int64_t>(after_ns_, kAnchorNs))
      return fmt::format("its log ends {} before the others: its process was killed, or the log was copied then",
                         wait_text(early_ns));
    uint32_t main = kNone;
    for (const uint32_t t : views_.derived<ThreadRows>().of_process[process]) {
      if (trace_.threads[t].tid == row.pid) main = t;
    }
    if (thread == kNone || index(trace_.threads[thread].process) != process) thread = main;
    if (thread == kNone) return "the log has none of its threads";
    const std::vector<ThreadPlace> places = thread_places(trace_, views_, process, thread);
    const std::string name =
        thread == main ? "its main thread" : fmt::format("its thread {}", trace_.threads[thread].tid);
    return fmt::format("{} is {}", name, places.front().text);
  }
  int64_t end_of_part(uint32_t p) const { return std::max(trace_.processes[p].last_ns, trace_.processes[p].alive_ns); }

  // What was not recorded, and which option records it.
  void note_missing() {
    std::vector<std::string> without, only_ranges, without_samples;
    std::vector<bool> sampled(trace_.processes.size());
    for (const HostSamplingRate& rate : trace_.host_sampling.rates) sampled[index(rate.process)] = true;
    for (uint32_t p = 0; p < trace_.processes.size(); ++p) {
      if (entries_.unit_of()[p] != p) continue;
      if (entries_.recorded()[p]) {
        if (!sampled[p]) without_samples.push_back(names_[p]);
      } else {
        (entries_.has_ranges()[p] ? only_ranges : without).push_back(names_[p]);
      }
    }
    const auto note = [&](const std::vector<std::string>& names, std::string_view text) {
      if (names.empty()) return;
      blame_.notes.push_back(
          fmt::format("{}: {}", names.size() == 1 ? names[0] : fmt::format("{} processes", names.size()), text));
    };
    note(only_ranges,
         "calls are from NCCL's NVTX: no type of elements, and numbers by counting; prof record --collectives records "
         "both, and samples threads");
    note(without, "no call of NCCL is recorded; prof record --collectives 1 records them");
    note(without_samples,
         "threads were not sampled; prof record --host-samples 10 (while they run: prof ctl PID samples 10) shows what "
         "they wait for");
    if (note_pairs_)
      blame_.notes.emplace_back(
          "sends and receives are not matched where a log does not have all of them from the first one on");
    if (blame_.collectives == 0) blame_.unknown.emplace_back("no call of NCCL is recorded");
  }

  static constexpr int64_t kAnchorNs = 2'500'000'000;  // logs read their clocks once a second

  const Trace& trace_;
  const Views& views_;
  const int64_t after_ns_;
  const CollectiveEntries entries_;
  const std::vector<std::string> names_;
  int64_t end_ns_ = INT64_MIN;
  uint64_t ranks_of_job_ = 0;
  Blame blame_;
  std::vector<BlameFinding> certain_;
  std::vector<Absent> absent_;
  std::set<uint32_t> waits_for_unknown_;
  std::set<Waiting> wait_for_unknown_;  // lists of the same
  bool note_pairs_ = false;
};

}  // namespace

Blame find_blame(const Trace& trace, const Views& views, int64_t after_ns) {
  return Finder(trace, views, after_ns).run();
}

}  // namespace prof::analyzer
