#include "preload/stacks/rule_table.h"

namespace prof::preload {

RuleTable g_rules;

}  // namespace prof::preload
