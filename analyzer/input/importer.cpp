#include "analyzer/input/importer.h"

namespace prof::analyzer {

namespace {

struct Row {
  Importer importer;
  bool present;
};

// The last row only keeps the list from being empty.
constexpr Row kImporters[] = {
#define PROF_IMPORTER(function, name, description) {{name, description, sniff_##function, import_##function}, true},
#include "analyzer/input/importers.def"
#undef PROF_IMPORTER
    {{}, false},
};

}  // namespace

const Importer* find_importer(const FileHead& head) {
  for (const Row& row : kImporters) {
    if (row.present && row.importer.sniff(head)) return &row.importer;
  }
  return nullptr;
}

}  // namespace prof::analyzer
