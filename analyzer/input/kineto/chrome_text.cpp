#include "analyzer/input/kineto/chrome_text.h"

#include "analyzer/base/json/json_extent.h"
#include "analyzer/base/json/json_quotes.h"
#include "analyzer/input/kineto/json_recover.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

namespace prof::analyzer {

namespace {

constexpr size_t kReadBytes = size_t{1} << 20;
constexpr size_t kLargestPiece = size_t{64} << 20;

std::string_view between(const char* begin, const char* end) { return {begin, static_cast<size_t>(end - begin)}; }

// The name of a member and where its value begins; null as JsonScan's functions.
const char* member_name(JsonScan& scan, const char* at, std::string_view& name) {
  if (*at != '"') return scan.fail(at);
  const char* const end = scan.string(at);
  if (end == nullptr) return nullptr;
  name = between(at + 1, end - 1);
  at = skip_json_space(end);
  if (*at != ':') return scan.fail(at);
  return skip_json_space(at + 1);
}

// Calls take(name, value) for each member of the object at `at`. take_value(name, at) gives the end of the value.
template <class TakeValue> const char* each_member(JsonScan& scan, const char* at, TakeValue take_value) {
  at = skip_json_space(at + 1);
  if (*at == '}') return at + 1;
  for (;;) {
    std::string_view name;
    if ((at = member_name(scan, at, name)) == nullptr) return nullptr;
    if ((at = take_value(name, at)) == nullptr) return nullptr;
    at = skip_json_space(at);
    if (*at == '}') return at + 1;
    if (*at != ',') return scan.fail(at);
    at = skip_json_space(at + 1);
    if (*at == '}') {
      scan.note_not_strict();
      return at + 1;
    }
  }
}

std::string_view* event_field(EventFields& fields, std::string_view name) {
  switch (name.size()) {
    case 2: return name == "ph" ? &fields.phase : name == "ts" ? &fields.ts : name == "id" ? &fields.id : nullptr;
    case 3:
      return name == "pid"   ? &fields.pid
             : name == "tid" ? &fields.tid
             : name == "dur" ? &fields.duration
             : name == "cat" ? &fields.category
                             : nullptr;
    case 4: return name == "name" ? &fields.name : nullptr;
    default: return nullptr;
  }
}

std::string_view* argument_field(EventFields& fields, std::string_view name) {
  switch (name.size()) {
    case 11: return name == "correlation" ? &fields.correlation : name == "External id" ? &fields.external_id : nullptr;
    case 33: return name == "wait_on_cuda_event_record_corr_id" ? &fields.record_correlation : nullptr;
    default: return nullptr;
  }
}

}  // namespace

const char* read_event(JsonScan& scan, const char* at, EventFields& fields) {
  std::vector<std::string_view> names = std::move(fields.argument_names);
  names.clear();
  fields = {};
  fields.argument_names = std::move(names);
  return each_member(scan, at, [&](std::string_view name, const char* value) {
    const bool args = name == "args" && *value == '{';
    const char* const end = args ? each_member(scan, value,
                                               [&](std::string_view argument, const char* begin) {
                                                 fields.argument_names.push_back(argument);
                                                 std::string_view* const field = argument_field(fields, argument);
                                                 const char* const past = scan.member_value(begin);
                                                 if (field != nullptr && past != nullptr) *field = between(begin, past);
                                                 return past;
                                               })
                                 : scan.member_value(value);
    if (end == nullptr) return end;
    if (args) {
      fields.args = between(value, end);
    } else if (name == "args") {
      fields.args_are_something_else = true;
    } else if (std::string_view* const field = event_field(fields, name)) {
      *field = between(value, end);
    }
    return end;
  });
}

ChromeText::ChromeText(const std::string& path) : ChromeText(TextSource(path), path, kReadBytes) {}

ChromeText::ChromeText(TextSource source, const std::string& path, size_t stretch_bytes)
    : path_(path),
      source_(std::move(source)),
      stretch_bytes_(stretch_bytes),
      buffer_(std::make_unique<char[]>(2 * stretch_bytes + kJsonPadding)),
      capacity_(2 * stretch_bytes),
      at_(buffer_.get()),
      end_(buffer_.get()) {
  scan_.set_end(end_);
}

bool ChromeText::fill() {
  const auto left = static_cast<size_t>(end_ - at_);
  if (left >= kLargestPiece) return false;
  const auto failed = scan_.failed_at() - at_;  // relative: the buffer may move
  if (capacity_ - left < stretch_bytes_) {
    auto larger = std::make_unique<char[]>(2 * capacity_ + kJsonPadding);
    std::memcpy(larger.get(), at_, left);
    offset_of_buffer_ += static_cast<uint64_t>(at_ - buffer_.get());
    buffer_ = std::move(larger);
    capacity_ *= 2;
  } else {
    offset_of_buffer_ += static_cast<uint64_t>(at_ - buffer_.get());
    std::memmove(buffer_.get(), at_, left);
  }
  at_ = buffer_.get();
  const size_t got = source_.read(at_ + left, capacity_ - left);
  end_ = at_ + left + got;
  std::memset(end_, 0, kJsonPadding);
  scan_.set_end(end_);
  scan_.fail(at_ + failed);
  return got > 0;
}

ChromeText::Piece ChromeText::next() {
  for (;;) {
    scan_.clear_notes();
    const Piece piece = try_next();
    if (piece != Piece::Damage) return piece;
    if (scan_.needs_more() && fill()) continue;
    if (state_ == State::Events) {
      if (take_closed_event()) return Piece::Event;
      const Skip skip = skip_event();
      if (skip == Skip::Done) return Piece::NotWellFormed;
      if (skip == Skip::NeedsMore && fill()) continue;
    }
    // An array of events needs no end.
    const bool nothing_left = skip_json_space(at_) == end_ ||
                              (*skip_json_space(at_) == ',' && skip_json_space(skip_json_space(at_) + 1) == end_);
    if (state_ == State::Closed && skip_json_space(at_) == end_) return Piece::End;
    if (state_ == State::Events && only_events_ && nothing_left && source_.damage().empty()) {
      state_ = State::Finished;
      return Piece::End;
    }
    damage_ = what_is_wrong();
    state_ = State::Finished;
    return Piece::Damage;
  }
}

std::string ChromeText::what_is_wrong() const {
  const uint64_t offset = offset_of(scan_.failed_at());
  const char* const place = state_ == State::Events ? "in traceEvents" : "in the outer object";
  if (!scan_.needs_more()) {
    const char* const what = state_ == State::Closed  ? "there is more text after the end"
                             : state_ == State::Start ? "it is no JSON object or array"
                                                      : "the JSON is not well-formed";
    return fmt::format("{}: byte {}: {}; what follows is left out", path_, offset, what);
  }
  if (static_cast<size_t>(end_ - at_) >= kLargestPiece) {
    return fmt::format("{}: byte {}: a value of more than {} MiB; what follows is left out", path_, offset_of(at_),
                       kLargestPiece >> 20);
  }
  return source_.damage().empty() ? fmt::format("{}: byte {}: ends {}", path_, offset, place)
                                  : fmt::format("{}: byte {}: {}", path_, offset, source_.damage());
}

ChromeText::Piece ChromeText::try_next() {
  switch (state_) {
    case State::Start: return open_piece();
    case State::Members: return next_member();
    case State::Events: return next_event();
    case State::Closed: return rest();
    case State::Finished: break;
  }
  return Piece::End;
}

ChromeText::Piece ChromeText::take(Piece piece, const char* separator_begin, const char* text_begin,
                                   const char* text_end) {
  separator_ = between(separator_begin, text_begin);
  text_ = between(text_begin, text_end);
  at_ += text_end - at_;
  return piece;
}

ChromeText::Piece ChromeText::open_piece() {
  const char* at = at_ + byte_order_mark_bytes({at_, 3});  // the padding makes three bytes readable
  at = skip_json_space(at);
  if (*at != '{' && *at != '[') return failed(at);
  only_events_ = *at == '[';
  state_ = only_events_ ? State::Events : State::Members;
  return take(Piece::Open, at_, at_, at + 1);
}

const char* ChromeText::next_element(char closing) {
  const char* at = skip_json_space(at_);
  if (*at == closing || first_) return at;
  if (*at != ',') return scan_.fail(at);
  at = skip_json_space(at + 1);
  if (*at == closing) scan_.note_not_strict();
  return at;
}

ChromeText::Piece ChromeText::next_member() {
  const char* const at = next_element('}');
  if (at == nullptr) return Piece::Damage;
  if (*at == '}') {
    state_ = State::Closed;
    return take(Piece::Close, at_, scan_.not_strict() ? at : at_, at + 1);
  }
  std::string_view name;
  const char* const value = ::prof::analyzer::member_name(scan_, at, name);
  if (value == nullptr) return Piece::Damage;
  if (name == "traceEvents" && *value == '[') {
    state_ = State::Events;
    first_ = true;
    return take(Piece::EventsBegin, at_, at, value + 1);
  }
  const char* const end = scan_.member_value(value);
  if (end == nullptr) return Piece::Damage;
  first_ = false;
  name_ = name;
  value_ = between(value, end);
  return take(Piece::Member, at_, at, end);
}

ChromeText::Piece ChromeText::next_event() {
  const char* const at = next_element(']');
  if (at == nullptr) return Piece::Damage;
  if (*at == ']') {
    state_ = only_events_ ? State::Closed : State::Members;
    first_ = false;
    return take(Piece::EventsEnd, at_, scan_.not_strict() ? at : at_, at + 1);
  }
  is_object_ = *at == '{';
  const char* const end = is_object_ ? read_event(scan_, at, fields_) : scan_.value(at);
  if (end == nullptr) return Piece::Damage;
  first_ = false;
  return take(Piece::Event, at_, at, end);
}

bool ChromeText::take_closed_event() {
  const char* const failed = scan_.failed_at();
  const char* const at = next_element(']');
  const ClosedValue closed = at != nullptr && *at == '{' ? close_backslash_quotes(at, end_) : ClosedValue();
  bool read = false;
  if (closed.end != nullptr) {
    closed_text_ = closed.text + std::string(kJsonPadding, '\0');
    const char* const begin = closed_text_.data();
    scan_.set_end(begin + closed.text.size());
    read = read_event(scan_, begin, fields_) == begin + closed.text.size();
    scan_.set_end(end_);
  }
  if (!read) {
    scan_.fail(failed);
    return false;
  }
  scan_.note_not_strict();
  is_object_ = true;
  first_ = false;
  separator_ = between(at_, at);
  text_ = std::string_view(closed_text_).substr(0, closed.text.size());
  at_ += closed.end - at_;
  return true;
}

ChromeText::Skip ChromeText::skip_event() {
  const char* const failed = scan_.failed_at();
  const char* const at = next_element(']');
  const bool bracket = at != nullptr && (*at == '{' || *at == '[');
  const char* end = bracket ? json_value_end(at, end_) : nullptr;
  // If a quote is missing, brackets prove nothing. The element ends at the latest before the start of the next event.
  const char* const start = next_event_start(at == nullptr ? at_ : at + 1, end_);
  if (start != nullptr && (end == nullptr || start < end)) {
    for (end = start - 1; *end != ',';) --end;
  }
  if (end == nullptr) {
    scan_.fail(failed);
    return bracket || static_cast<size_t>(end_ - at_) < kLargestPiece ? Skip::NeedsMore : Skip::Cannot;
  }
  damage_ = fmt::format("{}: byte {}: an event that is not well-formed JSON is left out", path_, offset_of(failed));
  at_ += end - at_;
  first_ = false;
  return Skip::Done;
}

ChromeText::Piece ChromeText::rest() {
  const char* const at = skip_json_space(at_);
  if (at == at_ || *at != 0) return failed(at);
  return take(Piece::Space, at_, at_, at);
}

}  // namespace prof::analyzer
