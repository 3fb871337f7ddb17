// prof check
#include "analyzer/command/command.h"

namespace prof::analyzer {
void add_check(CLI::App&, Run&) {}
}  // namespace prof::analyzer
