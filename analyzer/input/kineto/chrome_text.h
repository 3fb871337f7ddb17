// A Chrome trace as text: its events and the text between them, piece by piece. Every byte of the file is in exactly
// one piece. `prof trace` uses it to copy events as they are; KinetoModel makes the model. Memory: one piece and the
// text read ahead.
//
//   {"schemaVersion":1 , "deviceProperties":[…] , "traceEvents":[  {…} , {…}  ] , "traceName":"x" }
//   \______ Member __/ \______ Member ________/ \ EventsBegin __/\Event/\Event/\EventsEnd/\Member_____/ Close
//   Open                                          (a file that is only an array: Open, then its events)
#pragma once

#include "analyzer/base/json/json_scan.h"
#include "analyzer/base/text_source.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace prof::analyzer {

// Values as in the text, strings with their quotes; empty: the event has no such member.
struct EventFields {
  std::string_view phase, category, name, pid, tid, ts, duration, id;
  std::string_view correlation, external_id, record_correlation;  // of args
  std::string_view args;                                          // an object
  bool args_are_something_else = false;
  std::vector<std::string_view> argument_names;  // without quotes, as in the text
};

// Reads the object at `at`; null as JsonScan's functions.
const char* read_event(JsonScan& scan, const char* at, EventFields& fields);

class ChromeText {
 public:
  // Throws InputError if the file cannot be opened.
  explicit ChromeText(const std::string& path);
  // `path` names the text in messages; `stretch_bytes` are read at a time.
  ChromeText(TextSource source, const std::string& path, size_t stretch_bytes);

  enum class Piece {
    Open,           // up to the first bracket
    Member,         // of the outer object, with the comma before it
    EventsBegin,    // `,"traceEvents":[`
    Event,          // one element of that array; separator() is the comma before it
    EventsEnd,      // `]`
    Close,          // `}`
    Space,          // white space after that
    End,            // nothing is left
    NotWellFormed,  // an element that has its brackets but is no JSON: damage() says where; the next piece follows
    Damage          // what follows is no trace; damage() says where and why
  };
  Piece next();

  // The piece, without the separator. Valid until next().
  std::string_view text() const { return text_; }
  // Comma and white space before a member or event (without the comma if the file has one too many).
  std::string_view separator() const { return separator_; }
  // Of a Member: its name without quotes and its value.
  std::string_view member_name() const { return name_; }
  std::string_view member_value() const { return value_; }
  // Of an Event; null: no object.
  const EventFields* fields() const { return is_object_ ? &fields_ : nullptr; }
  // The piece is not strict JSON; strict_json() helps.
  bool not_strict() const { return scan_.not_strict(); }
  bool only_events() const { return only_events_; }
  const std::string& damage() const { return damage_; }

 private:
  bool fill();       // more bytes after end_; false at the end of the file
  Piece try_next();  // Damage may only mean that more bytes are needed
  Piece open_piece();
  Piece next_member();
  Piece next_event();
  bool take_closed_event();  // one whose texts end with a backslash ("C:\logs\"): text() has them escaped
  enum class Skip { Done, NeedsMore, Cannot };
  Skip skip_event();  // an element that is not well-formed but has its brackets
  Piece rest();
  Piece take(Piece piece, const char* separator_begin, const char* text_begin, const char* text_end);
  // The comma before an element, then its first byte or the bracket that closes; null: neither.
  const char* next_element(char closing);
  Piece failed(const char* at) {
    scan_.fail(at);
    return Piece::Damage;
  }
  std::string what_is_wrong() const;
  uint64_t offset_of(const char* at) const { return offset_of_buffer_ + static_cast<uint64_t>(at - buffer_.get()); }

  std::string path_;
  TextSource source_;
  size_t stretch_bytes_;
  std::unique_ptr<char[]> buffer_;
  size_t capacity_ = 0;
  char* at_ = nullptr;
  char* end_ = nullptr;
  uint64_t offset_of_buffer_ = 0;  // in the inflated text
  JsonScan scan_;
  enum class State { Start, Members, Events, Closed, Finished } state_ = State::Start;
  bool first_ = true;  // no element of the open array or object yet
  bool only_events_ = false;
  std::string closed_text_;  // of take_closed_event()
  std::string_view text_, separator_, name_, value_;
  EventFields fields_;
  bool is_object_ = false;
  std::string damage_;
};

}  // namespace prof::analyzer
