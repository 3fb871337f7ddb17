#include "analyzer/input/kineto/kineto_event.h"

#include "analyzer/base/json/json_scan.h"
#include "analyzer/base/json/json_text.h"
#include "analyzer/input/kineto/json_cutter.h"

#include <rapidjson/error/en.h>

#include <array>
#include <cstring>
#include <iterator>

namespace prof::analyzer {

namespace {

using rapidjson::SizeType;

constexpr unsigned kEventFlags = rapidjson::kParseIterativeFlag | rapidjson::kParseNumbersAsStringsFlag |
                                 rapidjson::kParseInsituFlag | rapidjson::kParseTrailingCommasFlag |
                                 rapidjson::kParseNanAndInfFlag | rapidjson::kParseStopWhenDoneFlag;

struct Key {
  std::string_view text;
  KinetoArgument argument;
  bool json;  // the value's own text is kept
};

constexpr bool kScalar = false, kJson = true;
constexpr Key kKeys[] = {
#define KINETO_ARGUMENT(name, key, form) {key, KinetoArgument::name, form},
#include "analyzer/input/kineto/kineto_arguments.def"
#undef KINETO_ARGUMENT
};

// Keys of one length, one after another: nearly every lookup ends after one comparison.
constexpr size_t kLongestKey = 33;
struct KeyIndex {
  std::array<uint8_t, std::size(kKeys)> order{};
  std::array<uint8_t, kLongestKey + 2> first{};
};
constexpr KeyIndex make_key_index() {
  KeyIndex index;
  uint8_t next = 0;
  for (size_t length = 0; length <= kLongestKey; ++length) {
    index.first[length] = next;
    for (size_t i = 0; i < std::size(kKeys); ++i) {
      if (kKeys[i].text.size() == length) index.order[next++] = static_cast<uint8_t>(i);
    }
  }
  index.first[kLongestKey + 1] = next;
  return index;
}
constexpr KeyIndex kIndex = make_key_index();
static_assert(kIndex.first[kLongestKey + 1] == std::size(kKeys), "a key is longer than kLongestKey");

const Key* find_key(std::string_view text) {
  if (text.empty() || text.size() > kLongestKey) return nullptr;
  for (uint8_t i = kIndex.first[text.size()]; i < kIndex.first[text.size() + 1]; ++i) {
    const Key& key = kKeys[kIndex.order[i]];
    if (key.text.back() == text.back() && std::memcmp(key.text.data(), text.data(), text.size()) == 0) return &key;
  }
  return nullptr;
}

class EventHandler : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, EventHandler> {
 public:
  EventHandler(KinetoEvent& event, TextArena& made) : event_(event), made_(made) {}

  bool StartObject() {
    if (++depth_ == 2) inside_ = expects_;
    drop();
    return true;
  }
  bool EndObject(SizeType) {
    if (--depth_ == 1) inside_ = Inside::Other;
    return true;
  }
  bool StartArray() { return StartObject(); }
  bool EndArray(SizeType) { return EndObject(0); }

  bool Key(const char* text, SizeType length, bool) {
    const std::string_view key(text, length);
    drop();
    if (depth_ == 1) {
      top_key(key);
    } else if (depth_ == 2 && inside_ == Inside::Args) {
      argument_ = find_key(key);
      if (argument_ == nullptr && is_metric_name(key)) metric_ = key;
    } else if (depth_ == 2 && inside_ == Inside::Id2) {
      target_ = &event_.id;
    }
    return true;
  }
  bool String(const char* text, SizeType length, bool) {
    if (argument_ != nullptr && argument_->json) {
      event_.set(argument_->argument, as_json(text, length));
    } else {
      scalar({text, length});
    }
    drop();
    return true;
  }
  bool RawNumber(const char* text, SizeType length, bool) {
    scalar({text, length});
    drop();
    return true;
  }
  bool Bool(bool value) {
    scalar(value ? "true" : "false");
    drop();
    return true;
  }
  bool Null() {
    if (!metric_.empty()) event_.metrics.push_back({metric_, {}});
    drop();
    return true;
  }

 private:
  enum class Inside { Other, Args, Id2 };

  void drop() {
    target_ = nullptr;
    argument_ = nullptr;
    metric_ = {};
    expects_ = Inside::Other;
  }
  void scalar(std::string_view text) {
    if (target_ != nullptr) {
      *target_ = text;
      // A text that was kept before the event was read stays.
    } else if (argument_ != nullptr && !(argument_->json && event_.has(argument_->argument))) {
      event_.set(argument_->argument, text);
    } else if (!metric_.empty()) {
      event_.metrics.push_back({metric_, text});
    }
  }
  // The string as it was written, if it needs no escapes: its quotes are still there, but for the closing one.
  std::string_view as_json(const char* text, SizeType length) {
    for (SizeType i = 0; i < length; ++i) {
      const auto c = static_cast<unsigned char>(text[i]);
      if (c < 0x20 || c == '"' || c == '\\' || c >= 0x7f) return made_.keep(json_string({text, length}));
    }
    const_cast<char*>(text)[length] = '"';
    return {text - 1, size_t{length} + 2};
  }
  void top_key(std::string_view key) {
    const char* const text = key.data();
    const auto is = [text]<size_t size>(const char(&word)[size]) { return std::memcmp(text, word, size - 1) == 0; };
    switch (key.size()) {
      case 2:
        if (is("ph")) target_ = &event_.ph;
        if (is("ts")) {
          target_ = &event_.ts;
          event_.has_ts = true;
        }
        if (is("id")) target_ = &event_.id;
        break;
      case 3:
        if (is("cat")) target_ = &event_.cat;
        if (is("pid")) {
          target_ = &event_.pid;
          event_.has_pid = true;
        }
        if (is("tid")) target_ = &event_.tid;
        if (is("dur")) {
          target_ = &event_.dur;
          event_.has_dur = true;
        }
        if (is("id2")) expects_ = Inside::Id2;
        break;
      case 4:
        if (is("name")) target_ = &event_.name;
        if (is("args")) expects_ = Inside::Args;
        break;
      case 5:
        if (is("scope")) target_ = &event_.scope;
        break;
      default: break;
    }
  }

  KinetoEvent& event_;
  TextArena& made_;
  unsigned depth_ = 0;
  Inside inside_ = Inside::Other, expects_ = Inside::Other;
  std::string_view* target_ = nullptr;
  const prof::analyzer::Key* argument_ = nullptr;
  std::string_view metric_;
};

// The key in front of a value that begins at `value`; empty: there is none.
std::string_view key_before(const char* begin, const char* value) {
  const char* p = value;
  const auto skip_spaces = [&] {
    while (p != begin && is_json_space(p[-1])) --p;
  };
  skip_spaces();
  if (p == begin || *--p != ':') return {};
  skip_spaces();
  if (p == begin || *--p != '"') return {};
  const char* const key_end = p;
  while (p != begin && p[-1] != '"') --p;
  return {p, static_cast<size_t>(key_end - p)};
}

}  // namespace

void KinetoEvent::clear() {
  ph = cat = name = pid = tid = ts = dur = id = scope = {};
  has_ts = has_dur = has_pid = repaired = escapes = false;
  present_ = 0;
  metrics.clear();
}

// Keeps the value's text if a row needs it, and puts a number in its place.
void KinetoEventReader::keep_nested(char* origin, JsonPlace event_place, JsonPlace place, KinetoEvent& event) {
  char* const value = origin + place.begin;
  const size_t size = place.end - place.begin;
  const std::string_view name = key_before(origin + event_place.begin, value);
  const Key* const key = find_key(name);
  if (key != nullptr && key->json) event.set(key->argument, made_.keep({value, size}));
  *value = '0';
  std::memset(value + 1, ' ', size - 1);
  if (key == nullptr && is_metric_name(name)) std::memset(value, '"', 2);  // no number, not 0
}

bool KinetoEventReader::read(char* origin, JsonPlace place, std::span<const JsonPlace> nested, KinetoEvent& event,
                             Error& error) {
  original_.assign(origin + place.begin, place.end - place.begin);
  if (!parse(origin, place, nested, event, error) && !read_repaired(event, error)) return false;
  event.escapes = original_.find('\\') != std::string::npos;
  return true;
}

bool KinetoEventReader::read_repaired(KinetoEvent& event, Error& error) {
  size_t failed_at = 0;
  std::string text = repaired_json(original_, &failed_at);
  if (text.empty()) {
    // What RapidJSON met before that place can be repaired.
    if (failed_at > error.offset + 1) error = {failed_at, "its members cannot be told apart."};
    return false;
  }
  const size_t size = text.size();
  text.append(kJsonPadding, '\0');
  char* const copy = const_cast<char*>(made_.keep(text).data());
  std::vector<JsonPlace> nested;
  JsonBrackets brackets(copy, copy + size);
  uint64_t deepest = 0;
  if (json_event_end(brackets, copy, nested, deepest) == nullptr ||
      !parse(copy, {0, static_cast<uint32_t>(size)}, nested, event, error))
    return false;
  event.repaired = true;
  return true;
}

bool KinetoEventReader::parse(char* origin, JsonPlace place, std::span<const JsonPlace> nested, KinetoEvent& event,
                              Error& error) {
  event.clear();
  for (const JsonPlace& each : nested) keep_nested(origin, place, each, event);
  EventHandler handler(event, made_);
  rapidjson::InsituStringStream stream(origin + place.begin);
  const rapidjson::ParseResult result = reader_.Parse<kEventFlags>(stream, handler);
  if (!result.IsError()) return true;
  error = {result.Offset(), rapidjson::GetParseError_En(result.Code())};
  return false;
}

bool read_shape(std::string_view text, uint32_t (&shape)[3]) {
  size_t count = 0;
  for (size_t i = 0; i < text.size();) {
    if (text[i] < '0' || text[i] > '9') {
      ++i;
      continue;
    }
    uint64_t value = 0;
    for (; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i) {
      value = value * 10 + static_cast<uint64_t>(text[i] - '0');
      if (value > UINT32_MAX) return false;
    }
    if (count == 3) return false;
    shape[count++] = static_cast<uint32_t>(value);
  }
  for (size_t i = count; i < 3; ++i) shape[i] = 1;
  return count != 0;
}

std::string path_with_backslashes(std::string_view text) {
  constexpr std::string_view kControls = "\b\f\n\r\t", kLetters = "bfnrt";
  if (text.find_first_of(kControls) == std::string_view::npos) return {};
  std::string path;
  for (const char c : text) {
    const size_t control = kControls.find(c);
    if (control != std::string_view::npos) path += '\\';
    path += control != std::string_view::npos ? kLetters[control] : c;
  }
  return path;
}

bool is_metric_name(std::string_view key) {
  const size_t unit_end = key.find("__");
  return unit_end != std::string_view::npos && unit_end != 0 && unit_end + 2 < key.size() &&
         key.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.") ==
             std::string_view::npos;
}

}  // namespace prof::analyzer
