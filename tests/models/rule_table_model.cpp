// preload/stacks/rule_table.h: the rule of one address is never taken for another's.
#include "tests/models/models.h"

namespace model {
namespace {

struct UnwindRule {
  uint64_t word = 0;
  uint8_t epoch() const { return static_cast<uint8_t>(word & 0xff); }
  UnwindRule with_epoch(uint8_t epoch) const { return {(word & ~uint64_t{0xff}) | epoch}; }
};

#include "rule_table.inc"

// All addresses share the only slot.
struct RuleTableTest : rl::test_suite<RuleTableTest, 3> {
  RuleTable table;
  RuleTable::Slot* slot;
  void before() {
    slot = new RuleTable::Slot;
    table.open(slot);
  }
  void after() { delete slot; }
  void thread(unsigned index) {
    if (index < 2) {
      for (uint64_t key = 100; key <= 300; key += 100) table.put(key + index, {(key + index) << 8}, 1);
      return;
    }
    for (uint64_t key = 100; key <= 300; key += 100) {
      for (uint64_t of = 0; of < 2; ++of) {
        const UnwindRule rule = table.find(key + of, 1);
        RL_ASSERT(rule.word == 0 || rule.word >> 8 == key + of);
      }
    }
  }
};

}  // namespace

void add_rule_table(Models& models) { models.add<RuleTableTest>("a rule is that of its address"); }

}  // namespace model
