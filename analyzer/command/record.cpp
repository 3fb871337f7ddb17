// prof record
#include "analyzer/command/command.h"

namespace prof::analyzer {
void add_record(CLI::App&, Run&) {}
}  // namespace prof::analyzer
