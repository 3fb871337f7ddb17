// How are NVTX ranges and marks of an nsys export read, with their domains?
#include "analyzer/input/sqlite/nsys_names.h"

#include <fmt/format.h>

#include <bit>
#include <map>

namespace prof::analyzer {

namespace {

enum EventType : int64_t {
  kCategory = 33,
  kMark = 34,
  kPushPop = 59,
  kStartEnd = 60,
  kTextPushPop = 70,
  kTextStartEnd = 71,
  kDomainCreate = 75,
  kDomainDestroy = 76
};
using DomainKey = std::pair<uint64_t, int64_t>;  // globalTid without the thread, domainId

std::map<DomainKey, StringId> read_domains(const SqliteFile& file, const NsysNames& names, ActivityRows& rows) {
  std::map<DomainKey, StringId> domains;
  SqliteRows in(file, "NVTX_EVENTS", {"eventType", "domainId", "globalTid", "text", "textId"});
  while (in.next()) {
    if (in.integer_or(0, 0) != kDomainCreate) continue;
    const uint64_t process = static_cast<uint64_t>(in.integer_or(2, 0)) >> kNsysTidBits;
    domains[{process, in.integer_or(1, 0)}] = rows.text(in.is_null(3) ? names[in.integer_or(4, -1)] : in.text(3));
  }
  return domains;  // the second reading of the table reports its problems
}

// The payload's bits in NVTX's representation, and its type.
void read_payload(SqliteRows& in, size_t first, Range& range) {
  constexpr uint8_t kTypes = 6, kDouble = 3, kFloat = 6;
  for (uint8_t type = 1; type <= kTypes; ++type) {
    const size_t column = first + type - 1;
    if (in.is_null(column)) continue;
    range.payload_type = type;
    if (type == kDouble) {
      range.payload = std::bit_cast<uint64_t>(in.real(column));
    } else if (type == kFloat) {
      range.payload = std::bit_cast<uint32_t>(static_cast<float>(in.real(column)));
    } else {
      range.payload = static_cast<uint64_t>(in.integer_or(column, 0));
    }
    return;
  }
}

}  // namespace

void read_nsys_ranges(const SqliteFile& file, const NsysNames& names, ActivityRows& rows) {
  const std::map<DomainKey, StringId> domain_names = read_domains(file, names, rows);
  SqliteRows in(
      file, "NVTX_EVENTS",
      {"start", "end", "eventType", "globalTid", "domainId", "text", "textId", "category", "color", "uint64Value",
       "int64Value", "doubleValue", "uint32Value", "int32Value", "floatValue", "endGlobalTid"});
  while (in.next()) {
    const int64_t type = in.integer_or(2, kPushPop);
    Range range;
    switch (type) {
      case kPushPop:
      case kTextPushPop: range.style = RangeStyle::PushPop; break;
      case kStartEnd:
      case kTextStartEnd: range.style = RangeStyle::StartEnd; break;
      case kMark: range.style = RangeStyle::Mark; break;
      case kCategory:
      case kDomainCreate:
      case kDomainDestroy: continue;
      default: in.set_aside(fmt::format("event type {} is not known", type)); continue;
    }
    const std::optional<int64_t> begin = in.wanted(0), end = in.integer(1);
    if (!rows.good_span(in, begin, end, ActivityRows::Reversed::SetAside)) continue;
    const int64_t global = in.integer_or(3, 0), domain = in.integer_or(4, 0);
    range.begin_ns = *begin;
    range.thread = nsys_thread(rows, global);
    const int64_t closed_by = in.integer_or(15, 0);
    range.other_thread = range.style == RangeStyle::StartEnd && closed_by != 0 && closed_by != global;
    Label label;
    label.text = rows.text(in.is_null(5) ? names[in.integer_or(6, -1)] : in.text(5));
    if (domain != 0) {
      const auto found = domain_names.find({static_cast<uint64_t>(global) >> kNsysTidBits, domain});
      label.domain = found != domain_names.end() ? found->second : rows.text(fmt::format("domain {}", domain));
    }
    label.category = static_cast<uint32_t>(in.integer_or(7, 0));
    label.has_color = !in.is_null(8);
    label.color = static_cast<uint32_t>(in.integer_or(8, 0));
    read_payload(in, 9, range);
    range.label = rows.label(label);
    rows.add(range, range.style == RangeStyle::Mark ? begin : end);
  }
  rows.note_problems(in);
}

}  // namespace prof::analyzer
