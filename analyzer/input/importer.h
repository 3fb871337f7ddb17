// Which file formats exist, what format does this file have, and what is the model of a list of files? The formats are
// the rows of importers.def: our own logs and the traces of other tools. An importer of another tool's format appends
// the contents of a file as unsorted rows. Then it calls finish_import() (input/import.h), which sorts rows, nests
// ranges, links host and GPU, and counts.
#pragma once

#include "analyzer/base/file_head.h"
#include "analyzer/base/input_error.h"
#include "analyzer/input/import.h"
#include "analyzer/model/trace.h"

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace prof::analyzer {

struct ImportOptions {
  unsigned workers = 0;                  // 0: all cores
  std::function<void(double)> progress;  // fraction of the file that was read; may be empty
};

// One file format. `sniff` reads only the head. `import` appends the file to the model. It throws InputError if nothing
// in the file can be used. It counts what it skipped in Process::damage (with the place) and Process::facts.
struct Importer {
  std::string_view name;         // "kineto-json"; Process::format of files that it read
  std::string_view description;  // "a torch.profiler (Kineto) or Chrome trace"
  bool (*sniff)(const FileHead& head) = nullptr;
  void (*import)(const FileHead& head, Trace& trace, const ImportOptions& options) = nullptr;
  // Reads all files of the format into an empty model, before any other file. Null: files are imported one by one.
  void (*import_together)(const std::vector<std::string>& paths, Trace& trace, const ImportOptions& options) = nullptr;
};

void import_prof_logs(const std::vector<std::string>& paths, Trace& trace, const ImportOptions& options);

#define PROF_IMPORTER(function, name, description, together) \
  bool sniff_##function(const FileHead& head);               \
  void import_##function(const FileHead& head, Trace& trace, const ImportOptions& options);
#include "analyzer/input/importers.def"
#undef PROF_IMPORTER

enum class InputFormat : uint8_t {
#define PROF_IMPORTER(function, name, description, together) function,
#include "analyzer/input/importers.def"
#undef PROF_IMPORTER
};

inline constexpr auto kImporters = std::to_array<Importer>({
#define PROF_IMPORTER(function, name, description, together) \
  {name, description, sniff_##function, import_##function, together},
#include "analyzer/input/importers.def"
#undef PROF_IMPORTER
});

constexpr const Importer& importer_of(InputFormat format) { return kImporters[static_cast<size_t>(format)]; }

// The format of a file, by its contents and never by its name. Null: none of the list.
const Importer* find_importer(const FileHead& head);

// The type of a file that no importer reads: "a program or library (ELF), gzip". Empty if it is unknown.
std::string describe_other_file(const FileHead& head);

// "a report of Nsight Systems, which prof does not read; convert it first: nsys export …". Empty for other files.
std::string conversion_of(const FileHead& head);

// The model of all files, on one time line. Throws InputError for the first file that cannot be used at all.
std::unique_ptr<Trace> read_trace(const std::vector<std::string>& paths, const ImportOptions& options = {});

}  // namespace prof::analyzer
