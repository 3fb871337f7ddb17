// Where to go on behind damage: in a text with a quote too few or too many, strings and what is between them are the wrong way
// round, so brackets say nothing. What begins an event is looked for as text instead.
#pragma once

#include <string_view>

namespace prof::analyzer {

// The first { in [p, end) that begins an event: behind a comma, and followed by the name of a member that events have. In a text
// that is whole this is found only where an event begins, or an object in a list in the arguments of one. Null: there is none, or
// its name is not all before `end`.
const char* next_event_start(const char* p, const char* end);

// Behind the [ of the first `"traceEvents": [` in [p, end); null: there is none.
const char* find_trace_events(const char* p, const char* end);

// RapidJSON reads it, as tolerantly as events are read.
bool is_well_formed(std::string_view value);

}  // namespace prof::analyzer
