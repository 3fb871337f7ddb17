// What became of the events of a whole file, as facts and damage of its first process.
#pragma once

#include "analyzer/input/kineto/kineto_header.h"
#include "analyzer/input/kineto/kineto_tally.h"
#include "analyzer/model/trace.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace prof::analyzer {

// KinetoSummary adds up the tallies of all stretches and what the steps after the last stretch skipped, and writes
// the sums where reports read them: into Process::facts ("events", "events kernel", "skipped") and Process::damage.
class KinetoSummary {
 public:
  void add(const KinetoTally& stretch);
  void aside(KinetoAside reason, uint64_t events = 1) { aside_[static_cast<size_t>(reason)] += events; }

  uint64_t events() const { return events_; }
  // There are objects, but none is an event.
  bool no_event_at_all() const {
    return events_ != 0 && aside_[static_cast<size_t>(KinetoAside::UnknownPhase)] == events_;
  }

  // `damage`: what is wrong with the text beyond events that are no JSON. `counter_facts`: lines about hardware
  // counters.
  void write(const KinetoHeader& header, KinetoTextDamage text, const std::vector<std::string>& counter_facts,
             const std::string& path, Process& process) const;

 private:
  void write_partial(Process& process) const;

  uint64_t events_ = 0, damaged_ = 0;
  uint64_t aside_[static_cast<size_t>(KinetoAside::kCount)] = {};
  std::vector<KinetoDamage> damage_;
  std::map<std::string, uint64_t> counts_;  // by category
};

}  // namespace prof::analyzer
