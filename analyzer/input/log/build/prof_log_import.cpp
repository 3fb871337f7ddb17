// Our own logs as a row of importers.def.
#include "analyzer/input/importer.h"
#include "analyzer/input/log/build/builder.h"
#include "analyzer/input/log/log_file.h"

#include <cstring>

namespace prof::analyzer {

bool sniff_prof_log(const FileHead& head) {
  const uint64_t magic = format::kFileMagic;
  return head.bytes.size() >= sizeof magic && std::memcmp(head.bytes.data(), &magic, sizeof magic) == 0;
}

void import_prof_logs(const std::vector<std::string>& paths, Trace& trace, const ImportOptions& options) {
  std::vector<std::unique_ptr<LogFile>> logs;
  for (const std::string& path : paths) {
    LogOpenResult opened = LogFile::open(path);
    if (!opened) throw InputError(opened.error.text(path));
    logs.push_back(std::move(opened.log));
  }
  build_trace(std::move(logs), trace, options);
}

void import_prof_log(const FileHead& head, Trace& trace, const ImportOptions& options) {
  import_prof_logs({head.path}, trace, options);
}

}  // namespace prof::analyzer
