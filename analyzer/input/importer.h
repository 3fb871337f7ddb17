// Formats of other tools. An importer appends what a file holds to a model as unsorted rows and calls finish_import()
// (input/import.h), which puts rows in order, nests ranges, joins host and GPU and counts. The list is importers.def.
#pragma once

#include "analyzer/base/file_head.h"
#include "analyzer/base/input_error.h"
#include "analyzer/input/import.h"
#include "analyzer/model/trace.h"

#include <functional>
#include <string>
#include <string_view>

namespace prof::analyzer {

struct ImportOptions {
  unsigned workers = 0;                  // 0: all cores
  std::function<void(double)> progress;  // share of the file read; may be empty
};

// One file format. `sniff` looks at the head only; `import` throws InputError if nothing of the file can be used, and
// puts what it had to set aside into Process::damage (with the place) and Process::facts.
struct Importer {
  std::string_view name;         // "kineto-json"
  std::string_view description;  // "a torch.profiler (Kineto) or Chrome trace"
  bool (*sniff)(const FileHead& head) = nullptr;
  void (*import)(const FileHead& head, Trace& trace, const ImportOptions& options) = nullptr;
};

#define PROF_IMPORTER(function, name, description) \
  bool sniff_##function(const FileHead& head);     \
  void import_##function(const FileHead& head, Trace& trace, const ImportOptions& options);
#include "analyzer/input/importers.def"
#undef PROF_IMPORTER

// The format of a file; null: none of the list. Logs are not in it.
const Importer* find_importer(const FileHead& head);

}  // namespace prof::analyzer
