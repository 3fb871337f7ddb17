// prof dump
#include "analyzer/command/command.h"

namespace prof::analyzer {
void add_dump(CLI::App&, Run&) {}
}  // namespace prof::analyzer
