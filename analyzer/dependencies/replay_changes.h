// What do the scenarios of one pass change at a node? Each scenario has a lane. For every part of a node there is a
// mask of the lanes in which it is set to 0 or cut. Used only by replay.cpp, once per node.
#pragma once

#include "analyzer/dependencies/replay.h"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <utility>
#include <vector>

namespace prof::analyzer {

inline constexpr size_t kLanes = 8;  // lane 0 is the unchanged run
inline constexpr size_t kParts = 4;

// One register if the processor has registers of this width, otherwise several.
using Lanes [[gnu::vector_size(kLanes * sizeof(int64_t)), gnu::aligned(kLanes * sizeof(int64_t))]] = int64_t;
static_assert(kLanes == 8, "a bit of a byte for each lane");

// For each part, the lanes in which it is changed.
struct Masks {
  std::array<uint8_t, kParts> of_part{};
  uint8_t partly = 0;  // lanes in which a part may keep some time
  bool any() const { return (of_part[0] | of_part[1] | of_part[2] | of_part[3]) != 0; }
  void add(uint32_t parts, size_t lane) {
    for (size_t part = 0; part < kParts; ++part) {
      if ((parts >> part & 1) != 0) of_part[part] = static_cast<uint8_t>(of_part[part] | 1u << lane);
    }
  }
  void add(const Masks& other) {
    for (size_t part = 0; part < kParts; ++part) of_part[part] |= other.of_part[part];
  }
};

// The times of a node in each lane.
struct NodeTimes {
  Lanes own{}, after_before{}, after_other{};
};

class Changes {
 public:
  explicit Changes(const std::function<bool(const Node&)>& selected) : selected_(selected) {}

  // The change must outlive this object.
  void add(const Change& change, size_t lane) {
    const bool of_all = !change.only && !change.stays && (!selected_ || change.everywhere);
    if (of_all && change.subjects.empty()) {
      for (uint32_t word = 0; word < of_word_.size(); ++word) {
        if (change.concerns(Node::of_kind_and_flags(word))) of_word_[word].add(change.parts, lane);
      }
      return;
    }
    const bool of_subjects = of_all && change.with_flags == 0 && change.without_flags == 0;
    for (uint32_t kind = 0; kind < kNodeKinds; ++kind) {
      if ((change.kinds >> kind & 1) == 0) continue;
      OfKind& of_kind = kinds_[kind];
      if (!of_subjects) {
        of_kind.special.push_back({&change, lane});
        continue;
      }
      if (of_kind.by_subject.size() < change.subjects.size()) of_kind.by_subject.resize(change.subjects.size());
      for (size_t s = 0; s < change.subjects.size(); ++s) {
        if (change.subjects[s]) of_kind.by_subject[s].add(change.parts, lane);
      }
    }
  }

  Masks of(const Node& node) const {
    Masks masks = in_full(node);
    for (const auto& [change, lane] : kinds_[static_cast<size_t>(node.kind())].special) {
      if (!concerns(*change, node)) continue;
      masks.add(change->parts, lane);
      if (change->stays) masks.partly = static_cast<uint8_t>(masks.partly | 1u << lane);
    }
    return masks;
  }

  // Restores the remaining time of parts that are cut.
  void cut(const Node& node, const Masks& masks, const NodeTimes& measured, NodeTimes& times) const {
    for (uint32_t lanes = masks.partly; lanes != 0; lanes &= lanes - 1) {
      const auto lane = static_cast<size_t>(std::countr_zero(lanes));
      const auto put_back = [&](uint32_t part, const Lanes& from, Lanes& to) {
        if ((masks.of_part[part] >> lane & 1) != 0) to[lane] = stays(node, part, lane, from[lane]);
      };
      put_back(0, measured.own, times.own);
      put_back(1, measured.after_before, times.after_before);
      put_back(2, measured.after_other, times.after_other);
    }
  }

 private:
  struct OfKind {
    std::vector<Masks> by_subject;
    std::vector<std::pair<const Change*, size_t>> special;
  };

  bool concerns(const Change& change, const Node& node) const {
    return change.concerns(node) && (!selected_ || change.everywhere || selected_(node));
  }
  // Changes that depend only on kind and flags, or on kind and subject.
  Masks in_full(const Node& node) const {
    Masks masks = of_word_[node.kind_and_flags()];
    const std::vector<Masks>& by_subject = kinds_[static_cast<size_t>(node.kind())].by_subject;
    if (node.subject() < by_subject.size()) masks.add(by_subject[node.subject()]);
    return masks;
  }
  // The remaining time of a changed part in this lane: the minimum over its changes.
  int64_t stays(const Node& node, uint32_t part, size_t lane, int64_t time_ns) const {
    if ((in_full(node).of_part[part] >> lane & 1) != 0) return std::min<int64_t>(time_ns, 0);
    int64_t left_ns = time_ns;
    for (const auto& [change, of_lane] : kinds_[static_cast<size_t>(node.kind())].special) {
      if (of_lane != lane || (change->parts >> part & 1) == 0 || !concerns(*change, node)) continue;
      left_ns = std::min(left_ns, change->stays ? std::max<int64_t>(change->stays(node.row, time_ns), 0) : 0);
    }
    return left_ns;
  }

  const std::function<bool(const Node&)>& selected_;
  std::array<Masks, Node::kKindsAndFlags> of_word_;  // by kind and flags
  std::array<OfKind, 16> kinds_;
};

}  // namespace prof::analyzer
