#include "analyzer/output/chrome/chrome_copy.h"

#include "analyzer/base/json/json_decimal.h"
#include "analyzer/base/json/json_text.h"
#include "analyzer/base/saturated.h"
#include "analyzer/input/kineto/kineto_event.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace prof::analyzer {

namespace {

constexpr uint64_t kPidStep = 10'000'000;

bool comma(std::string_view separator) { return separator.find(',') != std::string_view::npos; }

}  // namespace

void ChromePids::take(uint64_t pid) { used_.insert(fmt::format("{}", pid)); }

const std::string& ChromePids::of(size_t file, std::string_view pid) {
  if (of_file_.size() <= file) of_file_.resize(file + 1);
  std::string key(pid);
  const auto found = of_file_[file].find(key);
  if (found != of_file_[file].end()) return found->second;
  std::string text = key;
  uint64_t number = 0;
  const bool whole = to_uint64(unquoted(pid), number) == DecimalResult::Ok;
  for (uint64_t step = 1; !used_.insert(std::string(unquoted(text))).second; ++step) {
    text = whole       ? fmt::format("{}", number + step * kPidStep)
           : step == 1 ? fmt::format("\"{} ({})\"", unquoted(pid), file)
                       : fmt::format("\"{} ({}.{})\"", unquoted(pid), file, step);
  }
  return of_file_[file].emplace(std::move(key), std::move(text)).first->second;
}

ChromeCopy::ChromeCopy(const Trace& trace, Rows processes, EventList& events, Augment* augment, ChromeArrows* arrows)
    : trace_(trace),
      augment_(augment),
      arrows_(arrows),
      match_(trace, processes),
      processes_(processes),
      process_(ProcessId{processes.first}),
      members_of_event_(events),
      device_pids_(trace.devices.size()) {}

void ChromeCopy::find_row(const EventFields& fields) {
  if (std::exchange(row_known_, true)) return;
  last_row_ = match_.find(fields, expected_);
}

std::string_view ChromeCopy::additions(const EventFields& fields) {
  find_row(fields);
  const ChromeRow row = last_row_;
  const bool expected = expected_;
  if (row.table == ChromeRow::Table::None) {
    if (expected) ++counts_.unmatched;
    return {};
  }
  AugmentKeys present = 0;
  for (const std::string_view name : fields.argument_names) present |= augment_key(name);
  if ((present & bit(EventKey::NvtxPath)) != 0) present |= bit(EventKey::OpPath);  // the same, for logs
  members_of_event_.clear(present);
  switch (row.table) {
    case ChromeRow::Table::None: break;
    case ChromeRow::Table::Host: augment_->host(row.row, members_of_event_); break;
    case ChromeRow::Table::Operations: augment_->operation(row.row, members_of_event_); break;
    case ChromeRow::Table::Ranges: augment_->range(row.row, members_of_event_); break;
    case ChromeRow::Table::Marks: augment_->mark(row.row, members_of_event_); break;
  }
  return members_of_event_.text();
}

void ChromeCopy::note_event(const EventFields& fields, std::string_view pid) {
  const std::string_view phase = unquoted(fields.phase);
  if (phase == "C") counters_.insert(fmt::format("{} {}", fields.name, pid));
  if (arrows_ != nullptr && phase == "s") arrows_->keep(unquoted(fields.category), processes_);
  const bool operation = last_row_.table == ChromeRow::Table::Operations;
  if (operation) {
    std::string& of_device = device_pids_[index(trace_.stream(trace_.operations[last_row_.row].stream()).device)];
    if (of_device.empty()) of_device = pid;
  }
  if (!operation && last_row_.table != ChromeRow::Table::Host) return;
  if (!(operation ? arrows_->wants_operation(last_row_.row) : arrows_->wants_call(last_row_.row))) return;
  // An event without a pid or tid belongs to the track without one.
  std::string track;
  if (!pid.empty()) track += fmt::format("\"pid\":{},", pid);
  if (!fields.tid.empty()) track += fmt::format("\"tid\":{},", fields.tid);
  arrows_->put({!operation, last_row_.row}, track + "\"ts\":");
}

void ChromeCopy::edit(std::string_view text, std::string_view old_part, std::string new_part) {
  edit_texts_.push_back(std::move(new_part));
  edits_.push_back({static_cast<size_t>(old_part.data() - text.data()), old_part.size(), edit_texts_.back()});
}

// Makes an id unique in the same way as ids of our own logs: the upper half is the number of the process.
void ChromeCopy::edit_number(std::string_view text, std::string_view number) {
  int64_t value = 0;
  if (number.empty() || to_int64(unquoted(number), value) != DecimalResult::Ok || value <= 0 || value > UINT32_MAX)
    return;
  edit(text, number, fmt::format("{}", ChromeIds::correlation(process_, static_cast<uint32_t>(value))));
}

void ChromeCopy::edit_ids(std::string_view text, const EventFields& fields, size_t file, ChromePids& pids) {
  if (!fields.pid.empty()) {
    const std::string& pid = pids.of(file, fields.pid);
    if (pid != fields.pid) edit(text, fields.pid, pid);
  }
  int64_t time_ns = 0;
  if (match_.moves_times() && unquoted(fields.phase) != "M" && match_.time_ns(fields.ts, time_ns)) {
    char digits[32];
    edit(text, fields.ts, std::string(digits, put_micros(digits, time_ns)));
  }
  if (index(process_) == 0) return;
  for (const std::string_view number : {fields.id, fields.correlation, fields.external_id, fields.record_correlation}) {
    edit_number(text, number);
  }
}

void ChromeCopy::put(std::string_view separator, std::string_view text, const EventFields* fields, Sink& sink) {
  ++counts_.events;
  const std::string_view members = fields == nullptr || augment_ == nullptr ? std::string_view() : additions(*fields);
  if (!members.empty() && !fields->args_are_something_else) {
    ++counts_.augmented;
    insertion_.clear();
    const bool no_args = fields->args.empty();
    if (no_args) insertion_ += ",\"args\":{";
    if (!no_args && !fields->argument_names.empty()) insertion_ += ',';
    insertion_ += members;
    if (no_args) insertion_ += '}';
    const char* const end = no_args ? text.data() + text.size() : fields->args.data() + fields->args.size();
    edits_.push_back({static_cast<size_t>(end - 1 - text.data()), 0, insertion_});
  }
  size_t room = separator.size() + text.size();
  for (const Edit& each : edits_) room += each.insert.size();
  char* to = put_bytes(sink.room(room), separator);
  if (edits_.size() > 1)
    std::sort(edits_.begin(), edits_.end(), [](const Edit& a, const Edit& b) { return a.at < b.at; });
  size_t done = 0;
  for (const Edit& each : edits_) {
    to = put_bytes(to, text.substr(done, each.at - done));
    to = put_bytes(to, each.insert);
    done = each.at + each.remove;
  }
  sink.filled(put_bytes(to, text.substr(done)));
  edits_.clear();
  edit_texts_.clear();
}

// The text of a piece. If strict readers would refuse it, the text is repaired, and `fields` are read from the repaired
// text.
std::string_view ChromeCopy::strict(const ChromeText& piece, const EventFields*& fields) {
  if (!piece.not_strict()) return piece.text();
  ++counts_.repaired;
  strict_text_ = strict_json(piece.text());
  const size_t size = strict_text_.size();
  strict_text_.append(kJsonPadding, '\0');
  if (fields != nullptr) {
    JsonScan scan;
    scan.set_end(strict_text_.data() + size);
    fields = read_event(scan, strict_text_.data(), strict_fields_) != nullptr ? &strict_fields_ : nullptr;
  }
  return std::string_view(strict_text_).substr(0, size);
}

void ChromeCopy::note_damage(const ChromeText& text) {
  constexpr size_t kMost = 20;
  ++counts_.damaged;
  if (counts_.damage.size() < kMost) counts_.damage.push_back(text.damage());
}

void ChromeCopy::whole(ChromeText& text, Sink& sink, EventList& events,
                       const std::function<void(const ChromeCopy&)>& append) {
  bool open = false, in_events = false, closed = false, appended = false;
  bool none_written = true;  // of the current array: a trace may have several
  const auto end_events = [&] {
    in_events = false;
    if (!std::exchange(appended, true)) {
      events.follow(counts_.events);
      append(*this);
    }
  };
  for (;;) {
    const ChromeText::Piece piece = text.next();
    const EventFields* fields = nullptr;
    switch (piece) {
      case ChromeText::Piece::Open:
        open = true;
        in_events = text.only_events();
        sink.write(text.text());
        break;
      case ChromeText::Piece::Member:
      case ChromeText::Piece::EventsBegin:
        in_events = piece == ChromeText::Piece::EventsBegin;
        none_written = true;
        sink.write(text.separator());
        sink.write(strict(text, fields));
        break;
      case ChromeText::Piece::Event: {
        fields = text.fields();
        last_row_ = {};
        row_known_ = false;
        const std::string_view separator = text.separator();
        const std::string_view event = strict(text, fields);
        if (!selected(fields)) break;
        const bool others_left_out = std::exchange(none_written, false) && comma(separator);
        put(others_left_out ? "\n" : separator, event, fields, sink);
        if (fields != nullptr) note_event(*fields, fields->pid);
        break;
      }
      case ChromeText::Piece::NotWellFormed: note_damage(text); break;
      case ChromeText::Piece::EventsEnd:
        if (text.not_strict()) ++counts_.repaired;  // an extra comma
        end_events();
        sink.write(text.text());
        break;
      case ChromeText::Piece::Close:
        if (text.not_strict()) ++counts_.repaired;
        closed = true;
        sink.write(text.text());
        break;
      case ChromeText::Piece::Space: sink.write(text.text()); break;
      case ChromeText::Piece::Damage: note_damage(text); [[fallthrough]];
      case ChromeText::Piece::End:
        if (in_events) {
          end_events();
          sink.write("\n]");
          closed |= text.only_events();
        }
        if (open && !closed && !text.only_events()) sink.write("\n}\n");
        return;
    }
  }
}

void ChromeCopy::events_of(ChromeText& text, size_t file, ChromePids& pids, EventList& events) {
  for (;;) {
    const ChromeText::Piece piece = text.next();
    const EventFields* fields = nullptr;
    switch (piece) {
      case ChromeText::Piece::Member: {
        const std::string name(text.member_name());
        members_.emplace_back(name,
                              text.not_strict() ? strict_json(text.member_value()) : std::string(text.member_value()));
        break;
      }
      case ChromeText::Piece::Event: {
        fields = text.fields();
        last_row_ = {};
        row_known_ = false;
        const std::string_view event = strict(text, fields);
        if (!selected(fields)) break;
        if (fields != nullptr) edit_ids(event, *fields, file, pids);
        put(events.separator(), event, fields, events.sink());
        events.follow(events.events() + 1);
        if (fields != nullptr) note_event(*fields, fields->pid.empty() ? "" : pids.of(file, fields->pid));
        break;
      }
      case ChromeText::Piece::NotWellFormed: note_damage(text); break;
      case ChromeText::Piece::Damage: note_damage(text); return;
      case ChromeText::Piece::End: return;
      default:
        if (text.not_strict()) ++counts_.repaired;
        break;
    }
  }
}

void ChromeCopy::packets_of(ChromeText& text, size_t file, ChromePids* pids, CopiedEvents& to) {
  for (;;) {
    const ChromeText::Piece piece = text.next();
    const EventFields* fields = nullptr;
    switch (piece) {
      case ChromeText::Piece::Event: {
        fields = text.fields();
        last_row_ = {};
        row_known_ = false;
        const std::string_view event = strict(text, fields);
        if (fields == nullptr || !selected(fields)) break;
        if (pids != nullptr) edit_ids(event, *fields, file, *pids);
        ++counts_.events;
        const std::string_view members = augment_ == nullptr ? std::string_view() : additions(*fields);
        if (!members.empty() && !fields->args_are_something_else) ++counts_.augmented;
        std::sort(edits_.begin(), edits_.end(), [](const Edit& a, const Edit& b) { return a.at < b.at; });
        std::string edited;
        size_t done = 0;
        for (const Edit& each : edits_) {
          (edited += event.substr(done, each.at - done)) += each.insert;
          done = each.at + each.remove;
        }
        edited += event.substr(done);
        // The args of the edited text lie where those of the event lie, moved by the edits before them.
        EventFields of_edited;
        JsonScan scan;
        const size_t size = edited.size();
        edited.append(kJsonPadding, '\0');
        scan.set_end(edited.data() + size);
        if (read_event(scan, edited.data(), of_edited) != nullptr)
          to.add(std::string_view(edited).substr(0, size), of_edited.args, members);
        edits_.clear();
        edit_texts_.clear();
        const std::string_view pid = fields->pid;
        note_event(*fields, pid.empty() || pids == nullptr ? pid : std::string_view(pids->of(file, pid)));
        break;
      }
      case ChromeText::Piece::NotWellFormed: note_damage(text); break;
      case ChromeText::Piece::Damage: note_damage(text); return;
      case ChromeText::Piece::End: return;
      default:
        if (text.not_strict()) ++counts_.repaired;
        break;
    }
  }
}

// Metadata are always selected. Others are by their time, those that have a row of the model also by that row.
bool ChromeCopy::selected(const EventFields* fields) {
  if (selection_ == nullptr) return true;
  if (!selection_->has_process(process_)) return false;
  if (fields == nullptr || unquoted(fields->phase) == "M") return true;
  int64_t begin_ns = 0, duration_ns = 0;
  if (!match_.time_ns(fields->ts, begin_ns)) return true;
  if (micros_to_ns(unquoted(fields->duration), duration_ns) != DecimalResult::Ok) duration_ns = 0;
  if (!selection_->in_window(begin_ns, add_saturated(begin_ns, std::max<int64_t>(duration_ns, 0)))) return false;
  if (selection_->devices.empty() && !selection_->nvtx.given()) return true;
  find_row(*fields);
  const uint32_t row = last_row_.row;
  switch (last_row_.table) {
    case ChromeRow::Table::None: break;
    case ChromeRow::Table::Host: return selection_->nvtx.has_call(row);
    case ChromeRow::Table::Operations: return selection_->has(trace_, trace_.operations[row]);
    case ChromeRow::Table::Ranges: return selection_->nvtx.has_range(row);
    case ChromeRow::Table::Marks: return selection_->nvtx.has_moment(trace_.marks[row].thread, begin_ns);
  }
  return true;
}

}  // namespace prof::analyzer
