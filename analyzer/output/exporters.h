// In which formats does prof write results other than tables? Each is a row of exporters.def. It is selected by its
// name or by the end of a file's name.
#pragma once

#include "analyzer/output/chrome/chrome_trace.h"
#include "analyzer/output/diff_page.h"
#include "analyzer/output/gate_report.h"
#include "analyzer/output/page/run_page.h"
#include "analyzer/output/roofline_page.h"
#include "analyzer/output/sqlite/databases.h"
#include "analyzer/output/stacks/stack_formats.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace prof::analyzer {

template <class Write> struct Exporter {
  std::string_view name;
  std::string_view extension;  // end of names of files in this format
  Write* write;
};

// Indices into kStackExporters.
enum class StackFormat : uint8_t {
#define PROF_EXPORT_STACKS(id, name, extension, function, reader) id,
#include "analyzer/output/exporters.def"
#undef PROF_EXPORT_STACKS
};

inline constexpr auto kStackExporters = std::to_array<Exporter<decltype(write_pprof)>>({
#define PROF_EXPORT_STACKS(id, name, extension, function, reader) {name, extension, function},
#include "analyzer/output/exporters.def"
#undef PROF_EXPORT_STACKS
});

inline constexpr auto kTraceExporters = std::to_array<Exporter<decltype(write_chrome_trace)>>({
#define PROF_EXPORT_TRACE(id, name, extension, function) {name, extension, function},
#include "analyzer/output/exporters.def"
#undef PROF_EXPORT_TRACE
});

inline constexpr auto kPageExporters = std::to_array<Exporter<decltype(write_run_page)>>({
#define PROF_EXPORT_PAGE(id, name, extension, function) {name, extension, function},
#include "analyzer/output/exporters.def"
#undef PROF_EXPORT_PAGE
});

inline constexpr auto kDatabaseExporters = std::to_array<Exporter<decltype(write_nsys_database)>>({
#define PROF_EXPORT_DATABASE(id, name, extension, function) {name, extension, function},
#include "analyzer/output/exporters.def"
#undef PROF_EXPORT_DATABASE
});

inline constexpr auto kRooflineExporters = std::to_array<Exporter<decltype(write_roofline_page)>>({
#define PROF_EXPORT_ROOFLINE(id, name, extension, function) {name, extension, function},
#include "analyzer/output/exporters.def"
#undef PROF_EXPORT_ROOFLINE
});

inline constexpr auto kDiffExporters = std::to_array<Exporter<decltype(write_diff_page)>>({
#define PROF_EXPORT_DIFF(id, name, extension, function) {name, extension, function},
#include "analyzer/output/exporters.def"
#undef PROF_EXPORT_DIFF
});

// Returns null if no row has that name.
template <class Rows>
constexpr const typename Rows::value_type* exporter_named(const Rows& rows, std::string_view name) {
  const auto found = std::find_if(rows.begin(), rows.end(), [name](const auto& row) { return row.name == name; });
  return found == rows.end() ? nullptr : &*found;
}

inline void write_stacks(const CallTree& tree, StackFormat format, const StackFileInfo& info, Sink& sink) {
  kStackExporters[static_cast<size_t>(format)].write(tree, info, sink);
}

}  // namespace prof::analyzer
