// Where are the events in the text of a Chrome trace? Cuts the text stretch by stretch without reading the events. The
// text is an object with "traceEvents" anywhere among its members, or an array of events. A cut event starts with { and
// ends with the matching }; only RapidJSON decides whether it is JSON. An event that is too long or nested too deep is
// refused: skipped at the cost of one counter. If a quote is missing or there is one too many, the cutter continues at
// the next text that starts like an event (json_recover.h) and lists the skipped text as damage.
#pragma once

#include "analyzer/base/json/json_brackets.h"
#include "analyzer/base/json/json_extent.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace prof::analyzer {

// A member of the outermost object. The text of its value is in the stretch.
struct JsonMember {
  std::string key;
  JsonPlace value;
};

struct JsonDamage {
  uint64_t offset = 0;  // in the text
  std::string what;
};

// Larger texts than any tracer writes are refused, so that memory does not grow with them. Tests use smaller numbers.
struct JsonLimits {
  size_t event_bytes = size_t{16} << 20;
  size_t member_bytes = size_t{16} << 20;  // a member of the outermost object, beside the events
  uint64_t depth = 1000;                   // brackets of an event inside each other
  size_t listed_damage = 1000;             // damaged places that are listed; all are counted
};

// The byte after the event that ends at the next bracket; null: it does not end here. Also finds the objects and arrays
// inside its "args". `deepest` becomes the largest number of brackets inside each other.
const char* json_event_end(JsonBrackets& brackets, const char* origin, std::vector<JsonPlace>& nested,
                           uint64_t& deepest);

class JsonCutter {
 public:
  explicit JsonCutter(const JsonLimits& limits = {}) : limits_(limits) {}

  // What one call found. The text after `consumed` must be at the front of the next stretch.
  struct Cut {
    struct Event {
      JsonPlace place;
      uint32_t nested_end = 0;  // its objects and arrays inside "args": up to here in `nested`
    };
    std::vector<Event> events;
    std::vector<JsonPlace> nested;
    std::vector<JsonMember> members;
    size_t consumed = 0;
  };

  // `offset`: of the stretch in the text. `last`: no text follows.
  void cut(std::string_view stretch, uint64_t offset, bool last, Cut& cut);

  bool array_form() const { return array_form_; }
  bool found_events() const { return found_events_; }                // "traceEvents", or the array
  uint64_t not_events() const { return not_events_; }                // elements that are no objects
  const std::vector<JsonDamage>& damage() const { return damage_; }  // the first places
  uint64_t damaged_places() const { return damaged_places_; }
  uint64_t lost_events() const { return lost_events_; }

 private:
  enum class At { Start, Members, FindEvents, Events, Skip, Resync, End };
  class Stretch;
  bool start(Stretch& s);
  bool member(Stretch& s, Cut& cut);
  bool find_events(Stretch& s);
  bool events(Stretch& s, Cut& cut);
  bool take_closed_event(Stretch& s, Cut& cut);  // one whose texts end with a backslash
  bool start_resync(Stretch& s);
  bool resync(Stretch& s);
  bool leave_members(Stretch& s, const char* at, const char* what);
  bool start_skip(Stretch& s, At then);
  bool skip(Stretch& s);
  void ended_inside(const Stretch& s, const char* of_what);
  void tell(uint64_t offset, std::string what);
  void tell_lost_event(uint64_t offset, std::string what);

  const JsonLimits limits_;
  At at_ = At::Start;
  At after_skip_ = At::Members;
  JsonExtent extent_;        // of the value being skipped
  uint64_t skip_begin_ = 0;  // offset of the value being skipped, or of what is skipped
  bool skip_word_ = false;   // it is a number or word
  bool array_form_ = false;
  bool found_events_ = false;
  bool told_trailing_ = false;
  uint64_t not_events_ = 0;
  std::vector<JsonDamage> damage_;
  uint64_t damaged_places_ = 0, lost_events_ = 0;
};

}  // namespace prof::analyzer
