// Registers Kineto and Chrome JSON traces as an input format (importers.def).
#include "analyzer/base/json/json_extent.h"
#include "analyzer/input/importer.h"
#include "analyzer/input/kineto/kineto_import.h"

#include <string_view>

namespace prof::analyzer {

bool sniff_kineto_json(const FileHead& head) {
  const std::string_view text = json_document(head.bytes);
  const auto has = [&](std::string_view part) { return text.find(part) != std::string_view::npos; };
  if (text.starts_with('[')) return true;
  return text.starts_with('{') && (has("\"traceEvents\"") || has("\"deviceProperties\"") || has("\"schemaVersion\"") ||
                                   has("\"displayTimeUnit\"") || has("\"ph\""));
}

void import_kineto_json(const FileHead& head, Trace& trace, const ImportOptions& options) {
  import_kineto(TextSource(head.path), head.path, trace, options);
}

}  // namespace prof::analyzer
