// sequences: which short runs of kernels repeat, and how much time is lost between their kernels? Sequences of n operations are
// named by pairs of numbers of their first and last n − 1 operations, length by length: exact, without comparing them, and a
// sequence can only be frequent if both its parts are.
#include "analyzer/analysis/sequences.h"

#include "analyzer/analysis/selected_operations.h"
#include "analyzer/analysis/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <unordered_map>

namespace prof::analyzer {

namespace {

constexpr uint32_t kMostDistinct = 1u << 20;
constexpr size_t kMostCandidates = 512;  // of each length
constexpr uint32_t kLeastCount = 2;

// All operations looked at, stream by stream; `name` kNone stands between streams and where a stream paused.
struct Positions {
  struct Sums {  // of everything before
    int64_t gpu_ns = 0, gap_ns = 0, launch_ns = 0;
    uint64_t short_kernels = 0;
  };
  std::vector<uint32_t> name;
  std::vector<uint32_t> row;
  std::vector<Sums> before;        // gap_ns: the one before position i is in before[i + 1]
  std::vector<uint8_t> is_kernel;  // by name
};

// Numbers the names of operations: kernels by name, copies by kind, memsets.
class NameNumbers {
 public:
  explicit NameNumbers(const AnalysisInput& input) : input_(input), of_string_(input.trace.strings.size(), kNone) {}

  uint32_t of(const GpuOperation& operation, Positions& positions) {
    uint32_t* number = &fill_;
    const bool is_kernel = operation.has_kernel();
    if (is_kernel) {
      number = &of_string_[index(input_.trace.kernels[index(input_.views.names().named_by(operation))].name)];
    } else if (operation.kind() == GpuKind::Copy) {
      number = &of_copy_[operation.detail & 0xff];
    }
    if (*number == kNone) {
      *number = static_cast<uint32_t>(positions.is_kernel.size());
      positions.is_kernel.push_back(is_kernel ? 1 : 0);
    }
    return *number;
  }

 private:
  const AnalysisInput& input_;
  std::vector<uint32_t> of_string_;
  std::array<uint32_t, 256> of_copy_ = [] {
    std::array<uint32_t, 256> none{};
    none.fill(kNone);
    return none;
  }();
  uint32_t fill_ = kNone;
};

Positions positions_of(const AnalysisInput& input, const std::vector<Window>& windows) {
  const Trace& trace = input.trace;
  const IntervalSet wanted = union_of(windows);
  Positions all;
  NameNumbers numbers(input);
  uint32_t stream = kNone, launch = kNone;
  int64_t until_ns = 0;
  const auto put = [&](uint32_t name, uint32_t row, const Positions::Sums& own) {
    if (all.before.empty()) all.before.emplace_back();
    const Positions::Sums& sums = all.before.back();
    all.name.push_back(name), all.row.push_back(row);
    all.before.push_back({add_saturated(sums.gpu_ns, own.gpu_ns), sums.gap_ns + own.gap_ns,
                          add_saturated(sums.launch_ns, own.launch_ns), sums.short_kernels + own.short_kernels});
  };
  for_each_selected(
      input, [](StreamId) { return true; },
      [&](uint32_t row, const GpuOperation& operation) {
        if (!wanted.contains(operation.start_ns)) return;
        const bool same_stream = stream == operation.stream_index;
        const int64_t gap_ns = same_stream ? std::max<int64_t>(operation.start_ns - until_ns, 0) : 0;
        if (!same_stream || gap_ns > kSequencePause) put(kNone, kNone, {});
        Positions::Sums own;
        own.gpu_ns = std::max<int64_t>(operation.duration_ns(), 0);
        own.gap_ns = gap_ns > kSequencePause ? 0 : gap_ns;
        if (operation.linked() && operation.launch != launch)
          own.launch_ns = std::max<int64_t>(trace.host[operation.launch].duration_ns(), 0);
        own.short_kernels = operation.has_kernel() && own.gpu_ns < kShortKernel ? 1 : 0;
        put(numbers.of(operation, all), row, own);
        until_ns = same_stream ? std::max(until_ns, operation.end_ns) : operation.end_ns;
        stream = operation.stream_index, launch = operation.launch;
      });
  return all;
}

struct Counted {
  uint64_t key = 0;
  uint32_t count = 0;
  uint32_t end = 0;  // of the last occurrence counted
  uint32_t first = 0;
  bool covered = false;  // by a longer one that occurs as often
  int64_t gpu_ns = 0, gap_ns = 0, launch_ns = 0;
  uint64_t short_kernels = 0;
};

// Sequences of one length, by key: open addressing over a table that grows with what is in it.
class CountedTable {
 public:
  // kNone: there are too many.
  uint32_t find_or_add(uint64_t key) {
    if (2 * (entries_.size() + 1) > slots_.size()) grow();
    for (size_t at = slot(key);; at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at] == kNone) {
        if (entries_.size() == kMostDistinct) return kNone;
        slots_[at] = static_cast<uint32_t>(entries_.size());
        entries_.push_back({key});
        return slots_[at];
      }
      if (entries_[slots_[at]].key == key) return slots_[at];
    }
  }
  std::vector<Counted>& entries() { return entries_; }

 private:
  size_t slot(uint64_t key) const {
    const uint64_t mixed = (key ^ key >> 31) * 0x9e3779b97f4a7c15u;
    return static_cast<size_t>(mixed >> 20) & (slots_.size() - 1);
  }
  void grow() {
    slots_.assign(std::max<size_t>(slots_.size() * 2, 1024), kNone);
    for (uint32_t i = 0; i < entries_.size(); ++i) {
      size_t at = slot(entries_[i].key);
      while (slots_[at] != kNone) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = i;
    }
  }
  std::vector<uint32_t> slots_;
  std::vector<Counted> entries_;
};

// A sequence that may be worth a row.
struct Candidate {
  uint32_t length = 0;
  Counted counted;
};

bool worth_more(const Candidate& a, const Candidate& b) {
  return std::tuple(b.counted.gap_ns, b.counted.launch_ns, a.length, a.counted.first) <
         std::tuple(a.counted.gap_ns, a.counted.launch_ns, b.length, b.counted.first);
}

class Search {
 public:
  explicit Search(const AnalysisInput& input, const std::vector<Window>& windows) : at_(positions_of(input, windows)) {}

  std::vector<Candidate> candidates() {
    std::vector<uint32_t> ids = at_.name;
    std::vector<Counted> shorter;
    for (uint32_t length = kShortestSequence; length <= kLongestSequence; ++length) {
      std::vector<Counted> longer = count(ids, length);
      for (const Counted& each : longer) {
        if (each.count < kLeastCount || length == kShortestSequence) continue;
        for (const uint64_t part : {each.key >> 32, each.key & UINT32_MAX}) {
          if (shorter[part].count == each.count) shorter[part].covered = true;
        }
      }
      keep(shorter, length - 1);
      shorter = std::move(longer);
    }
    keep(shorter, kLongestSequence);
    std::sort(candidates_.begin(), candidates_.end(), worth_more);
    return std::move(candidates_);
  }
  const Positions& positions() const { return at_; }
  uint64_t set_aside() const { return set_aside_; }

 private:
  // ids: of the sequence of length − 1 at each position, kNone if that is not frequent; afterwards of `length`.
  std::vector<Counted> count(std::vector<uint32_t>& ids, uint32_t length) {
    CountedTable table;
    for (size_t i = 0; i < ids.size(); ++i) {
      const bool possible = i + 1 < ids.size() && ids[i] != kNone && ids[i + 1] != kNone;
      if (!possible) {
        ids[i] = kNone;
        continue;
      }
      const uint32_t id = table.find_or_add(uint64_t{ids[i]} << 32 | ids[i + 1]);
      ids[i] = id;
      if (id == kNone) {
        ++set_aside_;
        continue;
      }
      Counted& entry = table.entries()[id];
      if (entry.count != 0 && i < entry.end) continue;
      if (entry.count++ == 0) entry.first = static_cast<uint32_t>(i);
      entry.end = static_cast<uint32_t>(i + length);
      const Positions::Sums &before = at_.before[i], &after = at_.before[i + length];
      entry.gpu_ns = add_saturated(entry.gpu_ns, after.gpu_ns - before.gpu_ns);
      entry.gap_ns += after.gap_ns - at_.before[i + 1].gap_ns;  // not the gap before the first
      entry.launch_ns = add_saturated(entry.launch_ns, after.launch_ns - before.launch_ns);
      entry.short_kernels += after.short_kernels - before.short_kernels;
    }
    for (uint32_t& id : ids) {
      if (id != kNone && table.entries()[id].count < kLeastCount) id = kNone;
    }
    return std::move(table.entries());
  }

  void keep(const std::vector<Counted>& all, uint32_t length) {
    std::vector<Candidate> kept;
    for (const Counted& each : all) {
      if (each.count >= kLeastCount && !each.covered && has_kernel(each.first, length)) kept.push_back({length, each});
    }
    if (kept.size() > kMostCandidates) {
      std::nth_element(kept.begin(), kept.begin() + kMostCandidates, kept.end(), worth_more);
      kept.resize(kMostCandidates);
    }
    candidates_.insert(candidates_.end(), kept.begin(), kept.end());
  }
  bool has_kernel(uint32_t first, uint32_t length) const {
    for (uint32_t i = first; i < first + length; ++i) {
      if (at_.is_kernel[at_.name[i]] != 0) return true;
    }
    return false;
  }

  Positions at_;
  std::vector<Candidate> candidates_;
  uint64_t set_aside_ = 0;
};

using Names = std::array<uint32_t, kLongestSequence>;

Names names_at(const Positions& at, uint32_t first, uint32_t length) {
  Names names;
  names.fill(kNone);
  std::copy_n(at.name.begin() + first, length, names.begin());
  return names;
}

struct NamesHash {
  size_t operator()(const Names& names) const {
    uint64_t hash = 0;
    for (const uint32_t name : names) hash = (hash ^ name) * 0x9e3779b97f4a7c15u, hash ^= hash >> 29;
    return static_cast<size_t>(hash);
  }
};

// The rotation that comes first: equal for all rotations of a loop's body.
Names least_rotation(const Names& names, uint32_t length) {
  Names least = names, rotated = names;
  for (uint32_t turn = 1; turn < length; ++turn) {
    std::rotate(rotated.begin(), rotated.begin() + 1, rotated.begin() + length);
    least = std::min(least, rotated);
  }
  return least;
}

// The shortest p such that every operation is the one p before it.
uint32_t period_of(const Names& names, uint32_t length) {
  uint32_t period = 1;
  while (period < length && !std::equal(names.begin() + period, names.begin() + length, names.begin())) ++period;
  return period;
}

// Puts last what may only show a loop out of step, a rotation of one that occurs more often or a body and a part of the next:
// these get only the positions that the loop itself leaves.
void put_echoes_last(const Positions& at, std::vector<Candidate>& candidates) {
  std::unordered_map<Names, uint32_t, NamesHash> counts, most_of_rotations;
  for (const Candidate& each : candidates) {
    const Names names = names_at(at, each.counted.first, each.length);
    counts[names] = each.counted.count;
    uint32_t& most = most_of_rotations[least_rotation(names, each.length)];
    most = std::max(most, each.counted.count);
  }
  std::stable_partition(candidates.begin(), candidates.end(), [&](const Candidate& each) {
    const Names names = names_at(at, each.counted.first, each.length);
    if (each.counted.count < most_of_rotations[least_rotation(names, each.length)]) return false;
    const uint32_t period = period_of(names, each.length);
    if (period == 1 || period == each.length) return true;
    const auto body = counts.find(names_at(at, each.counted.first, period));
    return body == counts.end() || body->second <= each.counted.count;
  });
}

// How many occurrences of each candidate lie outside those of better ones, when every position is given to one.
std::vector<uint32_t> share_positions(const Positions& at, const std::vector<Candidate>& candidates) {
  std::unordered_map<Names, uint32_t, NamesHash> rank_of;
  for (uint32_t rank = 0; rank < candidates.size(); ++rank)
    rank_of[names_at(at, candidates[rank].counted.first, candidates[rank].length)] = rank;
  // Which lengths the candidates have that begin with a name, a bit each: looking up costs.
  std::vector<uint16_t> lengths_from(at.is_kernel.size());
  for (const Candidate& each : candidates) {
    uint16_t& lengths = lengths_from[at.name[each.counted.first]];
    lengths = static_cast<uint16_t>(lengths | 1u << each.length);
  }

  std::vector<uint16_t> best(at.name.size(), UINT16_MAX);
  for (uint32_t i = 0; i < at.name.size(); ++i) {
    const uint32_t lengths = at.name[i] == kNone ? 0 : lengths_from[at.name[i]];
    if (lengths == 0) continue;
    Names names;
    names.fill(kNone);
    names[0] = at.name[i];
    for (uint32_t length = 2; lengths >> length != 0 && i + length <= at.name.size(); ++length) {
      if (at.name[i + length - 1] == kNone) break;
      names[length - 1] = at.name[i + length - 1];
      if ((lengths >> length & 1) == 0) continue;
      if (const auto found = rank_of.find(names); found != rank_of.end())
        best[i] = std::min(best[i], static_cast<uint16_t>(found->second));
    }
  }
  std::vector<uint32_t> given(candidates.size());
  for (uint32_t i = 0; i < best.size();) {
    if (best[i] == UINT16_MAX) {
      ++i;
      continue;
    }
    const uint32_t end = i + candidates[best[i]].length;
    const bool better_inside =
        std::any_of(best.begin() + i + 1, best.begin() + end, [&](uint16_t other) { return other < best[i]; });
    if (!better_inside) ++given[best[i]];
    i = better_inside ? i + 1 : end;
  }
  return given;
}

}  // namespace

Sequences find_sequences(const AnalysisInput& input, const std::vector<Window>& windows) {
  Search search(input, windows);
  std::vector<Candidate> candidates = search.candidates();
  const Positions& at = search.positions();
  put_echoes_last(at, candidates);
  const std::vector<uint32_t> given = share_positions(at, candidates);
  Sequences result;
  result.set_aside = search.set_aside();
  for (size_t i = 0; i < candidates.size(); ++i) {
    const Counted& counted = candidates[i].counted;
    if (given[i] < kLeastCount || 2 * given[i] < counted.count) continue;
    Sequence& sequence = result.found.emplace_back();
    for (uint32_t p = counted.first; p < counted.first + candidates[i].length; ++p)
      sequence.example.push_back(at.row[p]);
    sequence.count = counted.count;
    sequence.gpu_ns = counted.gpu_ns, sequence.gap_ns = counted.gap_ns, sequence.launch_ns = counted.launch_ns;
    sequence.short_kernels = static_cast<uint32_t>(counted.short_kernels);
  }
  std::stable_sort(result.found.begin(), result.found.end(), [](const Sequence& a, const Sequence& b) {
    return std::tuple(a.gap_ns, a.launch_ns) > std::tuple(b.gap_ns, b.launch_ns);
  });
  return result;
}

namespace {

// What a compiler of tensor programs joins: operators over elements and reductions, its own kernels and the framework's.
bool can_fuse(const AnalysisInput& input, const Sequence& sequence) {
  return std::all_of(sequence.example.begin(), sequence.example.end(), [&](uint32_t row) {
    const GpuOperation& operation = input.trace.operations[row];
    if (!operation.has_kernel()) return false;
    const std::string_view category = input.views.categories().category(operation);
    return category == "pointwise" || category == "reduction" || category == "persistent_reduction" ||
           category == "foreach" || category == "pytorch" || category == "xla";
  });
}

bool in_graph(const AnalysisInput& input, const Sequence& sequence) {
  return std::all_of(sequence.example.begin(), sequence.example.end(),
                     [&](uint32_t row) { return input.trace.operations[row].graph_node != 0; });
}

}  // namespace

Table report_sequences(const AnalysisInput& input) {
  const std::vector<Window> windows = report_windows(input);
  const Sequences sequences = find_sequences(input, windows);
  Table table("sequences", "Sequences of kernels that repeat");
  table.add_column("Candidate for", "candidate", CellType::Text);
  table.add_column("Length", "length", CellType::Count);
  table.add_column("Count", "count", CellType::Count);
  table.add_column("GPU time", "gpu_time", CellType::Nanoseconds);
  table.add_column("Gaps inside", "gaps", CellType::Nanoseconds);
  table.add_column("Window (%)", "gaps_window_percent", CellType::Real, 2);
  table.add_column("Launch time", "launch_time", CellType::Nanoseconds);
  table.add_column("Short kernels", "short_kernels", CellType::Count);
  table.add_column("Sequence", "sequence", CellType::Text);
  int64_t window_ns = 0;
  for (const Window& window : windows) {
    window_ns += window.length_ns();
    if (windows.size() <= 20) table.notes.push_back(window_note(window));
  }
  table.notes.push_back(
      fmt::format("gaps inside: time the stream waited between the operations of a sequence, the most that joining "
                  "them could save on "
                  "it; short: below {}; a pause of {} ends a sequence",
                  scaled_time(kShortKernel), scaled_time(kSequencePause)));
  if (sequences.set_aside != 0) {
    table.notes.push_back(
        fmt::format("too many distinct sequences: {} occurrences were not looked at", sequences.set_aside));
  }
  for (const Sequence& sequence : sequences.found) {
    const bool fusion = can_fuse(input, sequence), graph = in_graph(input, sequence);
    Table::Row row = table.row();
    row.add(std::string_view(fusion ? graph ? "fusion" : "fusion, graph" : graph ? "" : "graph"));
    row.add(static_cast<uint64_t>(sequence.example.size())).add(sequence.count).add(sequence.gpu_ns);
    row.add(sequence.gap_ns);
    window_ns <= 0 ? row.empty() : row.add(100 * static_cast<double>(sequence.gap_ns) / static_cast<double>(window_ns));
    row.add(sequence.launch_ns).add(sequence.short_kernels);
    std::string text;
    for (const uint32_t each : sequence.example) {
      text += text.empty() ? "" : "; ";
      text += operation_name(input.views.names(), input.trace.operations[each], input.options.names);
    }
    row.add(std::string_view(text));
  }
  return table;
}

}  // namespace prof::analyzer
