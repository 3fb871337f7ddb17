#include "analyzer/input/kineto/json_cutter.h"

#include "analyzer/base/json/json_quotes.h"
#include "analyzer/input/kineto/json_recover.h"

#include <fmt/format.h>

namespace prof::analyzer {

namespace {

constexpr size_t kMostWord = 4096;               // a text or number of the outermost object longer than this is skipped
constexpr size_t kLongEvent = size_t{16} << 10;  // an event longer than this may have swallowed others
constexpr ptrdiff_t kLookBack = 256;             // kept of what is skipped: the comma before an event

bool is_blank(char c) { return is_json_space(c) || c == ','; }

}  // namespace

class JsonCutter::Stretch {
 public:
  Stretch(std::string_view text, uint64_t at, bool is_last)
      : begin(text.data()), p(text.data()), end(text.data() + text.size()), last(is_last), offset_(at) {}
  uint64_t offset_of(const char* at) const { return offset_ + static_cast<uint64_t>(at - begin); }
  JsonPlace place(const char* from, const char* to) const {
    return {static_cast<uint32_t>(from - begin), static_cast<uint32_t>(to - begin)};
  }
  void skip_blanks() {
    while (p != end && is_blank(*p)) ++p;
  }

  const char* const begin;
  const char* p;  // everything before it is done
  const char* const end;
  const bool last;

 private:
  const uint64_t offset_;
};

void JsonCutter::tell(uint64_t offset, std::string what) {
  ++damaged_places_;
  if (damage_.size() < limits_.listed_damage) damage_.push_back({offset, std::move(what)});
}

void JsonCutter::tell_lost_event(uint64_t offset, std::string what) {
  ++lost_events_;
  tell(offset, std::move(what));
}

void JsonCutter::ended_inside(const Stretch& s, const char* of_what) {
  tell(s.offset_of(s.p), fmt::format("the text ends inside {} that begins here", of_what));
}

// Each step returns false when it needs more text, or at the end.
void JsonCutter::cut(std::string_view stretch, uint64_t offset, bool last, Cut& cut) {
  Stretch s(stretch, offset, last);
  for (bool more = true; more;) {
    switch (at_) {
      case At::Start: more = start(s); break;
      case At::Members: more = member(s, cut); break;
      case At::FindEvents: more = find_events(s); break;
      case At::Events: more = events(s, cut); break;
      case At::Resync: more = resync(s); break;
      case At::Skip: more = skip(s); break;
      case At::End:
        s.skip_blanks();
        if (s.p != s.end && !told_trailing_) {
          told_trailing_ = true;
          tell(s.offset_of(s.p), "something follows the end of the JSON text; it is not read");
        }
        s.p = s.end;
        more = false;
        break;
    }
  }
  if (last) s.p = s.end;
  cut.consumed = static_cast<size_t>(s.p - s.begin);
}

bool JsonCutter::start(Stretch& s) {
  if (s.end - s.p < 3 && !s.last) return false;
  s.p += byte_order_mark_bytes({s.p, static_cast<size_t>(s.end - s.p)});
  s.skip_blanks();
  if (s.p == s.end) return false;
  const char c = *s.p++;
  array_form_ = found_events_ = c == '[';
  if (c != '[' && c != '{') {
    tell(s.offset_of(s.p - 1), "is neither a JSON object nor an array");
    at_ = At::End;
    told_trailing_ = true;
    return true;
  }
  at_ = array_form_ ? At::Events : At::Members;
  return true;
}

bool JsonCutter::member(Stretch& s, Cut& cut) {
  s.skip_blanks();
  if (s.p == s.end) {
    if (s.last) tell(s.offset_of(s.p), "the text ends before the } of the outermost object");
    return false;
  }
  if (*s.p == '}') {
    ++s.p;
    at_ = At::End;
    return true;
  }
  if (*s.p != '"') return leave_members(s, s.p, "here should be a member of the outermost object");
  const char* const key_end = json_value_end(s.p, s.end);
  const char* value = key_end;
  while (value != nullptr && value != s.end && is_json_space(*value)) ++value;
  const bool colon = value != nullptr && value != s.end && *value == ':';
  if (colon) ++value;
  while (colon && value != s.end && is_json_space(*value)) ++value;
  if (value == nullptr || value == s.end) {
    if (s.last) ended_inside(s, "a member of the outermost object");
    if (!s.last && static_cast<size_t>(s.end - s.p) < limits_.member_bytes) return false;
    return s.last ? false : leave_members(s, s.p, "a member whose name does not end");
  }
  if (!colon) return leave_members(s, value, "here should be a ':'");
  const std::string_view key(s.p + 1, static_cast<size_t>(key_end - s.p) - 2);
  if (key == "traceEvents" && *value == '[') {
    found_events_ = true;
    at_ = At::Events;
    s.p = value + 1;
    return true;
  }
  const char* const value_end = json_value_end(value, s.end);
  if (!found_events_ && find_trace_events(value, value_end == nullptr ? s.end : value_end) != nullptr)
    return leave_members(s, value, "this value has no end before \"traceEvents\"");
  if (value_end != nullptr) {
    cut.members.push_back({std::string(key), s.place(value, value_end)});
    s.p = value_end == value ? value + 1 : value_end;
    return true;
  }
  if (s.last) {
    ended_inside(s, "a member of the outermost object");
    return false;
  }
  // Only these are read; others of any length pass by.
  const size_t so_far = static_cast<size_t>(s.end - s.p);
  const bool table = key == "deviceProperties" || key == "distributedInfo";
  if (so_far < (table ? limits_.member_bytes : kMostWord) && (table || (*value != '{' && *value != '['))) return false;
  s.p = value;
  return start_skip(s, At::Members);
}

// After a damaged member no later member can be trusted, but the events can be found by their name.
bool JsonCutter::leave_members(Stretch& s, const char* at, const char* what) {
  tell(s.offset_of(at),
       fmt::format("{}; {}", what, found_events_ ? "the rest is not read" : "all up to \"traceEvents\" is not read"));
  at_ = found_events_ ? At::End : At::FindEvents;
  told_trailing_ = true;
  return true;
}

bool JsonCutter::find_events(Stretch& s) {
  if (const char* const first = find_trace_events(s.p, s.end); first != nullptr) {
    found_events_ = true;
    at_ = At::Events;
    s.p = first;
    return true;
  }
  if (s.last) {
    at_ = At::End;
    return true;
  }
  if (s.end - s.p > kLookBack) s.p = s.end - kLookBack;
  return false;
}

const char* json_event_end(JsonBrackets& brackets, const char* origin, std::vector<JsonPlace>& nested,
                           uint64_t& deepest) {
  constexpr uint64_t kInArgs = 3;  // the event, its "args", a value
  uint64_t depth = 0;
  uint32_t begin = 0;
  deepest = 0;
  while (const char* const at = brackets.next()) {
    if (*at == '{' || *at == '[') {
      if (++depth == kInArgs) begin = static_cast<uint32_t>(at - origin);
      if (depth > deepest) deepest = depth;
      continue;
    }
    if (depth == kInArgs) nested.push_back({begin, static_cast<uint32_t>(at + 1 - origin)});
    if (--depth == 0) return at + 1;
  }
  return nullptr;
}

namespace {

// Whether a word, a string or a list stands between two commas, as far as the text is read.
bool is_element(const char* p, const char* end) {
  if (*p == '[' || *p == '}' || *p == ':') return true;
  const char* after = json_value_end(p, end);
  while (after != nullptr && after != end && is_json_space(*after)) ++after;
  return after == nullptr || after == end || *after == ',' || *after == ']';
}

// An event that is this long, or has an escaped quote, and is no JSON may hold the next ones: two quotes are missing,
// or closed a text after a backslash, an even number of events apart.
bool swallows_events(const char* p, const char* end, bool escaped_quote) {
  return (escaped_quote || static_cast<size_t>(end - p) > kLongEvent) && next_event_start(p + 1, end) != nullptr &&
         !is_well_formed({p, static_cast<size_t>(end - p)});
}

// What is after an event with an escaped quote: if a text ended with a backslash, brackets are not counted, and the end
// that was found may be too early.
enum class Follows { Element, Other, Unknown };
Follows what_follows(const char* after, const char* end, bool last) {
  while (after != end && is_json_space(*after)) ++after;
  if (after == end) return last ? Follows::Element : Follows::Unknown;
  return *after == ',' || *after == ']' ? Follows::Element : Follows::Other;
}

// The byte after the event at `p` if it is well-formed but for texts that end with a backslash ("C:\logs\"); null: it
// is not.
const char* end_after_backslashes(const char* p, const char* end) {
  const ClosedValue closed = close_backslash_quotes(p, end);
  return closed.end != nullptr && is_well_formed(closed.text) ? closed.end : nullptr;
}

}  // namespace

bool JsonCutter::events(Stretch& s, Cut& cut) {
  JsonBrackets brackets(s.p, s.end);
  size_t nested = cut.nested.size();
  while (true) {
    s.skip_blanks();
    if (s.p == s.end) {
      // The closing bracket of an array of events may be left out.
      if (s.last && !array_form_) tell(s.offset_of(s.p), "the text ends inside \"traceEvents\"");
      return false;
    }
    if (*s.p == ']') {
      ++s.p;
      at_ = array_form_ ? At::End : At::Members;
      return true;
    }
    if (*s.p != '{') return is_element(s.p, s.end) ? start_skip(s, At::Events) : start_resync(s);
    uint64_t deepest = 0;
    const char* const after = json_event_end(brackets, s.begin, cut.nested, deepest);
    const bool broken = brackets.broken() != nullptr && (after == nullptr || brackets.broken() < after);
    const bool escaped_quote = brackets.escaped_quote() != nullptr && brackets.escaped_quote() > s.p;
    const Follows follows = after == nullptr || !escaped_quote ? Follows::Element : what_follows(after, s.end, s.last);
    if (follows == Follows::Unknown) break;
    if (broken || follows == Follows::Other || (after != nullptr && swallows_events(s.p, after, escaped_quote))) {
      cut.nested.resize(nested);
      if (take_closed_event(s, cut)) {
        brackets = JsonBrackets(s.p, s.end);
        continue;
      }
      return start_resync(s);
    }
    if (deepest > limits_.depth) {
      tell_lost_event(s.offset_of(s.p),
                      fmt::format("event skipped, it has more than {} brackets inside each other", limits_.depth));
      cut.nested.resize(nested);
      return start_skip(s, At::Events);
    }
    if (after == nullptr) break;
    nested = cut.nested.size();
    cut.events.push_back({s.place(s.p, after), static_cast<uint32_t>(nested)});
    s.p = after;
  }
  cut.nested.resize(nested);
  if (!s.last && static_cast<size_t>(s.end - s.p) < limits_.event_bytes) return false;
  // Without line breaks only its length, or the end of the text, shows that something is wrong.
  if (take_closed_event(s, cut)) return true;
  if (next_event_start(s.p + 1, s.end) != nullptr) return start_resync(s);
  if (s.last) {
    ++lost_events_;
    ended_inside(s, "an event");
    return false;
  }
  tell_lost_event(s.offset_of(s.p), fmt::format("event skipped, it is longer than {} bytes", limits_.event_bytes));
  return start_skip(s, At::Events);
}

bool JsonCutter::take_closed_event(Stretch& s, Cut& cut) {
  const char* const after = end_after_backslashes(s.p, s.end);
  if (after == nullptr) return false;
  cut.events.push_back({s.place(s.p, after), static_cast<uint32_t>(cut.nested.size())});
  s.p = after;
  return true;
}

bool JsonCutter::start_resync(Stretch& s) {
  skip_begin_ = s.offset_of(s.p);
  ++s.p;  // an event may start here: the search finds the next one
  at_ = At::Resync;
  return true;
}

bool JsonCutter::resync(Stretch& s) {
  const char* const found = next_event_start(s.p, s.end);
  if (found != nullptr) {
    tell_lost_event(skip_begin_,
                    fmt::format("no well-formed event; {} bytes are skipped, up to what begins the next one",
                                s.offset_of(found) - skip_begin_));
    at_ = At::Events;
    s.p = found;
    return true;
  }
  if (s.last) {
    tell_lost_event(skip_begin_, fmt::format("no well-formed event, and none after it: the last {} bytes are skipped",
                                             s.offset_of(s.end) - skip_begin_));
    return false;
  }
  if (s.end - s.p > kLookBack) s.p = s.end - kLookBack;
  return false;
}

// Passes by the value at `s.p`, of whatever length.
bool JsonCutter::start_skip(Stretch& s, At then) {
  const bool nothing = *s.p == '}' || *s.p == ':';  // belongs to no value
  if (then == At::Events && *s.p != '{') ++not_events_;
  extent_.start();
  skip_begin_ = s.offset_of(s.p);
  skip_word_ = *s.p != '{' && *s.p != '[' && *s.p != '"';
  if (nothing) ++s.p;
  at_ = At::Skip;
  after_skip_ = then;
  return true;
}

bool JsonCutter::skip(Stretch& s) {
  if (skip_word_) {
    while (s.p != s.end && *s.p != ',' && *s.p != '}' && *s.p != ']' && !is_json_space(*s.p)) ++s.p;
  } else {
    const char* const value_end = extent_.find_end(s.p, s.end);
    s.p = value_end == nullptr ? s.end : value_end;
    if (value_end != nullptr) at_ = after_skip_;
  }
  if (skip_word_ && s.p != s.end) at_ = after_skip_;
  if (at_ != At::Skip) return true;
  if (s.last) {
    tell(skip_begin_, fmt::format("the text ends inside a value that begins here and is {} brackets deep at its end",
                                  extent_.depth()));
  }
  return false;
}

}  // namespace prof::analyzer
