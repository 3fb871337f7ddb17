// Text of `prof dump` back into the log it was made of, and hand-written text into a log. Byte-identical for every log.
// What a line leaves out gets the value a recorder of this version would have written (docs/log_format.md,
// "Text form"): header fields, the kind table, counter names, sequence numbers, records=, end.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace prof::tests {

// Empty: it worked; else "line N: what is wrong".
std::string undump_log(std::string_view text, std::vector<uint8_t>& log);

}  // namespace prof::tests
