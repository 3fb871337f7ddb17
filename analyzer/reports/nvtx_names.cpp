// nvtx-names: what did the program name through NVTX? Threads, devices, contexts, streams, events, other objects by
// handle, and categories of ranges. Definitions: docs/reports/nvtx-names.md.
#include "analyzer/reports/reports.h"
#include "preload/format/events.h"

#include <fmt/format.h>

#include <set>
#include <tuple>

namespace prof::analyzer {

namespace {

// The type of an NVTX identifier: [class | index].
std::string_view type_name(uint32_t type) {
  switch (type) {
    case 1u << 16 | 1: return "pointer";
    case 1u << 16 | 2: return "handle";
    case 1u << 16 | 4: return "pthread";
    case 3u << 16 | 1: return "mutex";
    case 3u << 16 | 2: return "condition";
    case 3u << 16 | 3: return "rwlock";
    case 3u << 16 | 4: return "barrier";
    case 3u << 16 | 5: return "spinlock";
    case 3u << 16 | 6: return "once";
    default: return type >> 16 == 2 ? "OS synchronisation object" : "other";
  }
}

std::string_view kind_name(const GivenName& given) {
  switch (static_cast<format::NamedKind>(given.what)) {
    case format::NamedKind::Thread: return "thread";
    case format::NamedKind::Device: return "device";
    case format::NamedKind::Context: return "context";
    case format::NamedKind::Stream: return "stream";
    case format::NamedKind::Event: return "event";
    case format::NamedKind::Other: break;
  }
  return type_name(given.type);
}

bool is_number(const GivenName& given) { return given.what <= static_cast<uint32_t>(format::NamedKind::Context); }

}  // namespace

Table report_nvtx_names(const AnalysisInput& input) {
  const Trace& trace = input.trace;
  Table table("nvtx-names", "Names that the program gave through NVTX");
  table.add_columns({ColumnId::kind, ColumnId::name, ColumnId::object, ColumnId::domain, ColumnId::pid, ColumnId::since,
                     ColumnId::note});
  for (const GivenName& given : trace.given_names) {
    if (!input.selection.has_process(given.process)) continue;
    Table::Row row = table.row();
    row.add(kind_name(given)).add(trace.text(given.name));
    row.add(std::string_view(is_number(given) ? fmt::format("{}", given.object) : fmt::format("0x{:x}", given.object)));
    row.add(trace.text(given.domain)).add_owner(given.process).add(given.time_ns);
    row.add(std::string_view(given.gone ? "taken back" : ""));
  }
  // Categories are facts about the run and have no time. Categories without a range or mark are not listed.
  std::set<std::tuple<StringId, uint32_t, StringId>> categories;
  for (const Label& label : trace.labels) {
    if (index(label.category_name) != 0) categories.insert({label.domain, label.category, label.category_name});
  }
  for (const auto& [domain, category, name] : categories) {
    Table::Row row = table.row();
    row.add("category").add(trace.text(name)).add(std::string_view(fmt::format("{}", category)));
    row.add(trace.text(domain));
  }
  return table;
}

}  // namespace prof::analyzer
