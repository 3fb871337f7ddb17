// Converts text of `prof dump` into the same log, and hand-written text into a log. The result is byte-identical for
// every log. Values that a line omits get the value that a recorder of this version would have written
// (docs/log_format.md, "Text form"): header fields, the kind table, counter names, sequence numbers, records=, end.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace prof::tests {

// Empty: success; otherwise "line N: what is wrong".
std::string undump_log(std::string_view text, std::vector<uint8_t>& log);

}  // namespace prof::tests
