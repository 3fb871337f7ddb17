// Where does the cutter continue after damage? If a quote is missing or there is one too many, strings and the text
// between them are exchanged, so brackets prove nothing. The search looks for the text at the start of an event
// instead.
#pragma once

#include <string_view>

namespace prof::analyzer {

// The first { in [p, end) that starts an event: after a comma, and before the name of a member that events have. In an
// undamaged text only events match, and objects in a list in the arguments of one. Null: there is none, or its name
// continues after `end`.
const char* next_event_start(const char* p, const char* end);

// After the [ of the first `"traceEvents": [` in [p, end); null: there is none.
const char* find_trace_events(const char* p, const char* end);

// The value can be read as an event is read: it is JSON, or can be repaired (json_scan.h).
bool is_well_formed(std::string_view value);

}  // namespace prof::analyzer
