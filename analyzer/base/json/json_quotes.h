// Where does a JSON value end if nobody escaped its backslashes and a text ends with one ("path": "C:\logs\")? The
// backslash seems to escape the quote that closes the text, so strings and the text between them are exchanged from
// there on. Used only after the value was found not to be well-formed.
#pragma once

#include <string>

namespace prof::analyzer {

struct ClosedValue {
  const char* end = nullptr;  // the byte after the value; null: it has no such text, or its end is not found
  std::string text;           // the value with the backslashes of these texts escaped
};

// The object or list at `p`. A quote after a backslash closes its text if brackets that close follow, or a comma, and
// then the next text: inside a text with escaped quotes, the next quote would have a backslash in front. A text with a
// line break in it, and a value of more than 1 MiB, have no end here.
ClosedValue close_backslash_quotes(const char* p, const char* end);

}  // namespace prof::analyzer
