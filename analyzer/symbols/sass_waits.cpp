#include "analyzer/symbols/sass_waits.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace prof::analyzer {

namespace {

constexpr uint64_t kInstructionBytes = 16;
constexpr uint8_t kNoBarrier = 7;
constexpr size_t kMostEdges = 10'000'000;  // a compiler makes about one for each instruction
constexpr size_t kMostSteps = 100'000;     // of one walk back; kernels of 20,000 instructions need fewer

// What is known about a predicate at a place of a path: nothing, that it is true, or that it is false.
struct Known {
  SassRegister predicate = kNoSassRegister;
  bool value = false;

  // Predicates are 512 to 543 (sass_operation.cpp).
  uint32_t code() const { return predicate == kNoSassRegister ? 0 : 1 + 2 * (predicate & 31u) + (value ? 1 : 0); }
};
constexpr uint32_t kKnownCodes = 65;

bool contains(const std::vector<SassRegister>& sorted, SassRegister wanted) {
  return std::binary_search(sorted.begin(), sorted.end(), wanted);
}

void keep_once(std::vector<uint32_t>& list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

}  // namespace

// Bits 105 to 125 of the instruction: stall cycles (4), yield (1), scoreboard of the result (3), of the operands (3),
// mask of those that are waited for (6).
SassBarriers sass_barriers(std::span<const uint8_t, 16> code) {
  uint64_t high = 0;
  std::memcpy(&high, code.data() + 8, sizeof high);
  const uint64_t control = high >> 41;
  return {static_cast<uint8_t>(control >> 11 & 63), static_cast<uint8_t>(control >> 5 & 7),
          static_cast<uint8_t>(control >> 8 & 7)};
}

SassWaits::SassWaits(std::span<const SassInstruction> instructions,
                     std::span<const std::pair<std::string, uint64_t>> labels, std::span<const uint8_t> code)
    : instructions_(instructions), labels_(labels) {
  operations_.reserve(instructions.size());
  for (const SassInstruction& each : instructions) operations_.push_back(parse_sass_operation(each.text));
  const bool whole = !instructions.empty() && !code.empty() &&
                     std::all_of(instructions.begin(), instructions.end(), [&](const SassInstruction& each) {
                       return each.offset <= code.size() && code.size() - each.offset >= kInstructionBytes;
                     });
  for (size_t i = 0; whole && i < instructions.size(); ++i)
    barriers_.push_back(sass_barriers(code.subspan(instructions[i].offset).first<kInstructionBytes>()));
  link();
}

std::optional<uint32_t> SassWaits::find(uint64_t offset) const {
  const auto found =
      std::lower_bound(instructions_.begin(), instructions_.end(), offset,
                       [](const SassInstruction& instruction, uint64_t wanted) { return instruction.offset < wanted; });
  if (found == instructions_.end() || found->offset != offset) return std::nullopt;
  return static_cast<uint32_t>(found - instructions_.begin());
}

// Which instructions may follow each other.
void SassWaits::link() {
  using Flow = SassOperation::Flow;
  const auto count = static_cast<uint32_t>(operations_.size());
  std::unordered_map<std::string_view, uint32_t> places;
  for (const auto& [label, offset] : labels_) {
    if (const std::optional<uint32_t> place = find(offset)) places.emplace(label, *place);
  }
  const auto place_of = [&](std::string_view label) -> std::optional<uint32_t> {
    const auto found = places.find(label);
    return found == places.end() ? std::nullopt : std::optional(found->second);
  };
  // Functions that are called, where they start, and where their callers go on.
  std::vector<std::pair<uint32_t, uint32_t>> calls;                        // entry, next of the caller
  std::unordered_map<SassRegister, std::vector<uint32_t>> meeting_places;  // by B register
  for (uint32_t i = 0; i < count; ++i) {
    const SassOperation& each = operations_[i];
    const std::optional<uint32_t> target = each.targets.empty() ? std::nullopt : place_of(each.targets[0]);
    if (each.flow == Flow::Call && target) calls.emplace_back(*target, i + 1);
    if (each.flow == Flow::Enter && target && !each.writes.empty()) meeting_places[each.writes[0]].push_back(*target);
  }
  std::sort(calls.begin(), calls.end());
  std::vector<std::pair<uint32_t, uint32_t>> edges;  // to, from
  const auto add = [&](uint32_t from, uint32_t to) {
    if (to < count && edges.size() < kMostEdges) edges.emplace_back(to, from);
  };
  after_unknown_.resize(count + 1);
  for (uint32_t i = 0; i < count; ++i) {
    const SassOperation& each = operations_[i];
    switch (each.flow) {
      case Flow::Next:
      case Flow::Enter: add(i, i + 1); break;
      case Flow::Jump: {
        size_t known = 0;
        for (const std::string_view label : each.targets) {
          const std::optional<uint32_t> target = place_of(label);
          if (!target) continue;
          add(i, *target);
          ++known;
        }
        if (known == 0) {  // an indirect jump without a list of its targets
          for (const auto& place : places) add(i, place.second);
        }
        if (each.conditional) add(i, i + 1);
        break;
      }
      case Flow::Call: {
        const std::optional<uint32_t> target = each.targets.empty() ? std::nullopt : place_of(each.targets[0]);
        if (target) {
          add(i, *target);
        } else {
          after_unknown_[i + 1] = true;
        }
        if (each.conditional) add(i, i + 1);
        break;
      }
      case Flow::Return: {
        auto entry = std::upper_bound(calls.begin(), calls.end(), std::pair(i, UINT32_MAX));
        if (entry != calls.begin()) {
          const uint32_t function = std::prev(entry)->first;
          for (; entry != calls.begin() && std::prev(entry)->first == function; --entry)
            add(i, std::prev(entry)->second);
        }
        if (each.conditional) add(i, i + 1);
        break;
      }
      case Flow::End:
        if (each.conditional) add(i, i + 1);
        break;
      case Flow::Meet: {
        const auto found = each.reads.empty() ? meeting_places.end() : meeting_places.find(each.reads.back());
        const bool next = found == meeting_places.end() ||
                          std::find(found->second.begin(), found->second.end(), i + 1) != found->second.end();
        if (next || each.guard != kNoSassRegister) add(i, i + 1);
        if (!next) {
          for (const uint32_t place : found->second) add(i, place);
        }
        break;
      }
    }
  }
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  first_before_.assign(count + 1, 0);
  for (const auto& edge : edges) {
    ++first_before_[edge.first + 1];
    before_.push_back(edge.second);
  }
  for (uint32_t i = 0; i < count; ++i) first_before_[i + 1] += first_before_[i];
}

// Walks back along all paths until something writes `wanted` for certain, or has waited for it. Instructions are issued
// in order.
bool SassWaits::seek(uint32_t from, SassRegister wanted, Seek what, std::vector<uint32_t>& found) const {
  std::unordered_set<uint64_t> seen;
  std::vector<std::pair<uint32_t, Known>> open;
  const auto go_before = [&](uint32_t instruction, Known known) {
    if (after_unknown_[instruction]) return;  // other code may have written it
    for (const uint32_t each : before(instruction)) {
      if (seen.insert(uint64_t{each} * kKnownCodes + known.code()).second) open.emplace_back(each, known);
    }
  };
  const SassOperation& start = operations_[from];
  go_before(from, {start.guard, !start.guard_negated});
  while (!open.empty()) {
    if (seen.size() > kMostSteps) return false;
    const uint32_t i = open.back().first;
    Known known = open.back().second;
    open.pop_back();
    const SassOperation& each = operations_[i];
    if (known.predicate != kNoSassRegister && contains(each.writes, known.predicate)) known = {};
    const bool same = each.guard != kNoSassRegister && each.guard == known.predicate;
    const bool executed = !each.never && (!same || known.value != each.guard_negated);
    if (executed && what == Seek::Readers && contains(each.reads, wanted)) found.push_back(i);
    if (executed && contains(each.writes, wanted)) {
      if (what == Seek::Writers) found.push_back(i);
      if (each.guard == kNoSassRegister || same) continue;
      if (known.predicate == kNoSassRegister) known = {each.guard, each.guard_negated};  // else it would have written
    } else if (what == Seek::Writers && !each.never && contains(each.reads, wanted)) {
      continue;  // this instruction waited for the register, whether it was executed or not
    }
    go_before(i, known);
  }
  return true;
}

// DEPBAR.LE SB0, n waits for the asynchronous copies of the group that n groups follow.
void SassWaits::seek_copies(uint32_t from, uint64_t left, std::vector<uint32_t>& found) const {
  constexpr uint64_t kMostGroups = 16;
  left = std::min(left, kMostGroups - 2);
  std::vector<bool> seen(operations_.size() * kMostGroups);
  std::vector<std::pair<uint32_t, uint64_t>> open;  // instruction, groups that ended after it
  const auto go_before = [&](uint32_t instruction, uint64_t groups) {
    for (const uint32_t each : before(instruction)) {
      if (seen[each * kMostGroups + groups]) continue;
      seen[each * kMostGroups + groups] = true;
      open.emplace_back(each, groups);
    }
  };
  go_before(from, 0);
  while (!open.empty()) {
    auto [i, groups] = open.back();
    open.pop_back();
    if (operations_[i].commits_copies && ++groups > left + 1) continue;
    if (operations_[i].starts_copy && groups == left + 1) found.push_back(i);
    go_before(i, groups);
  }
}

// Walks back along all paths while `visit` of an instruction returns true.
template <class Visit> void SassWaits::walk_back(uint32_t from, Visit&& visit) const {
  std::vector<bool> seen(operations_.size());
  std::vector<uint32_t> open;
  const auto go_before = [&](uint32_t instruction) {
    for (const uint32_t each : before(instruction)) {
      if (seen[each]) continue;
      seen[each] = true;
      open.push_back(each);
    }
  };
  go_before(from);
  while (!open.empty()) {
    const uint32_t i = open.back();
    open.pop_back();
    if (visit(i)) go_before(i);
  }
}

// The instructions that use a scoreboard, until one waits for it.
void SassWaits::seek_barrier(uint32_t from, unsigned barrier, std::vector<uint32_t>& found) const {
  walk_back(from, [&](uint32_t i) {
    if (barriers_[i].result == barrier || barriers_[i].read == barrier) found.push_back(i);
    return (barriers_[i].waits >> barrier & 1) == 0;
  });
}

// The last instruction of that kind on each path. Only the next instruction waits for a branch.
void SassWaits::seek_last(uint32_t from, SassStall stall, std::vector<uint32_t>& found) const {
  walk_back(from, [&](uint32_t i) {
    const bool is_it = operations_[i].stall == stall && !operations_[i].never;
    if (is_it) found.push_back(i);
    return !is_it && stall != SassStall::Branch;
  });
}

// Keeps those that use a scoreboard that the instruction waits for.
void SassWaits::reduce(const SassBarriers& of, bool readers, std::vector<uint32_t>& found) const {
  std::erase_if(found, [&](uint32_t each) {
    const uint8_t barrier = readers ? barriers_[each].read : barriers_[each].result;
    return barrier >= kNoBarrier || (of.waits >> barrier & 1) == 0;
  });
}

SassWait SassWaits::at(uint64_t offset, SassStall stall) const {
  SassWait wait;
  const std::optional<uint32_t> from = find(offset);
  if (!from) return wait;
  const SassOperation& stalled = operations_[*from];
  if (!is_scoreboard(stall)) {
    const bool of_warpgroup = stalled.opcode == "WARPGROUP" && stall == SassStall::Barrier;
    seek_last(*from, of_warpgroup ? SassStall::Matrix : stall, wait.producers);
    keep_once(wait.producers);
    return wait;
  }
  if (stalled.copies_left >= 0) {
    seek_copies(*from, static_cast<uint64_t>(stalled.copies_left), wait.producers);
    keep_once(wait.producers);
    return wait;
  }
  // The scoreboards of the machine code decide, if the instruction waits for some.
  const bool decided = !barriers_.empty() && barriers_[*from].waits != 0;
  const auto take = [&](std::vector<uint32_t> found, bool readers, bool exact) {
    std::erase_if(found, [&](uint32_t each) { return !is_scoreboard(operations_[each].stall); });
    keep_once(found);
    if (exact) reduce(barriers_[*from], readers, found);
    std::vector<uint32_t> same;
    std::copy_if(found.begin(), found.end(), std::back_inserter(same),
                 [&](uint32_t each) { return operations_[each].stall == stall; });
    wait.producers = same.empty() ? std::move(found) : std::move(same);
    wait.overwrites = readers && !wait.producers.empty();
    return !wait.producers.empty();
  };
  std::vector<uint32_t> writers, readers, others;
  const auto seek_all = [&](const std::vector<SassRegister>& registers, Seek what, std::vector<uint32_t>& found) {
    for (const SassRegister each : registers) wait.cut = !seek(*from, each, what, found) || wait.cut;
  };
  seek_all(stalled.reads, Seek::Writers, writers);
  seek_all(stalled.writes, Seek::Writers, writers);
  if (take(writers, false, decided)) return wait;
  seek_all(stalled.writes, Seek::Readers, readers);
  if (take(readers, true, decided) || !decided) return wait;
  for (unsigned barrier = 0; barrier < 6; ++barrier) {
    if ((barriers_[*from].waits >> barrier & 1) != 0) seek_barrier(*from, barrier, others);
  }
  if (take(others, false, false) || take(writers, false, false)) return wait;
  take(readers, true, false);
  return wait;
}

}  // namespace prof::analyzer
