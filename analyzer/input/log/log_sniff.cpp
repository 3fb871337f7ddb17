// See log_sniff.h.
#include "analyzer/input/log/log_sniff.h"

#include "analyzer/base/file_head.h"

#include <sqlite3.h>

#include <string_view>
#include <vector>

namespace prof::analyzer {

namespace {

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

std::string sniff_json(std::string_view text) {
  if (has(text, "\"traceEvents\"")) {
    if (has(text, "\"deviceProperties\"") || has(text, "\"schemaVersion\"") || has(text, "\"distributedInfo\"")) {
      return "a torch.profiler (Kineto) trace";
    }
    return "a Chrome trace";
  }
  if (text[0] == '[' && has(text, "\"ph\"")) return "a Chrome trace (an array of events)";
  if (has(text, "\"schemaVersion\"") && has(text, "\"deviceProperties\"")) return "a torch.profiler (Kineto) trace";
  return "something else than a trace";
}

std::string sniff_sqlite(const std::string& path) {
  sqlite3* database = nullptr;
  if (sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READONLY, nullptr) != SQLITE_OK) {
    sqlite3_close(database);
    return "a SQLite database that cannot be opened";
  }
  std::string tables = " ";
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database, "SELECT name FROM sqlite_master WHERE type='table'", -1, &statement, nullptr) ==
      SQLITE_OK) {
    while (sqlite3_step(statement) == SQLITE_ROW) {
      const unsigned char* const name = sqlite3_column_text(statement, 0);
      if (name != nullptr) tables.append(reinterpret_cast<const char*>(name)).append(" ");
    }
  }
  sqlite3_finalize(statement);
  sqlite3_close(database);
  if (has(tables, " StringIds ") &&
      (has(tables, " TARGET_INFO_") || has(tables, " CUPTI_ACTIVITY_KIND_") || has(tables, " NVTX_EVENTS "))) {
    return "a Nsight Systems SQLite export";
  }
  if (has(tables, " StringTable ") && has(tables, " CUPTI_ACTIVITY_KIND_")) return "an nvprof SQLite profile";
  if (tables == " ") return "a SQLite database that is empty or damaged";
  return "a SQLite database of an unknown program";
}

}  // namespace

std::string sniff_foreign_file(const std::string& path) {
  const FileHead head = read_head(path);
  const bool compressed = head.compressed;
  const std::string_view view(head.bytes);
  const std::string suffix = compressed ? ", gzip" : "";
  if (view.starts_with("SQLite format 3")) return compressed ? "a SQLite database, gzip" : sniff_sqlite(path);
  if (view.starts_with("prof-log-text ")) return "the text of a log, made by `prof dump`" + suffix;
  if (view.starts_with("\x7f"
                       "ELF"))
    return "a program or library (ELF)" + suffix;
  const size_t begin = view.find_first_not_of(std::string_view(" \t\r\n\xef\xbb\xbf"));
  if (begin != std::string_view::npos && (view[begin] == '{' || view[begin] == '[')) {
    return sniff_json(view.substr(begin)) + (compressed ? ", gzip JSON" : ", JSON");
  }
  return compressed ? "gzip of something unknown" : "";
}

}  // namespace prof::analyzer
