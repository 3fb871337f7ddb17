#include "analyzer/input/importer.h"

#include "analyzer/base/input_error.h"
#include "analyzer/base/json/json_extent.h"
#include "analyzer/base/shell_word.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace prof::analyzer {

namespace {

// Formats that prof recognises but does not read.
struct OtherFormat {
  bool (*sniff)(std::string_view bytes);
  std::string_view plain, compressed;  // {}: "gzip"
};

constexpr OtherFormat kOtherFormats[] = {
    {[](std::string_view bytes) { return bytes.starts_with("prof-log-text "); },
     "the text of a log, made by `prof dump`", "the text of a log, made by `prof dump`, {}"},
    {[](std::string_view bytes) {
       return bytes.starts_with(
           "\x7f"
           "ELF");
     },
     "a program or library (ELF)", "a program or library (ELF), {}"},
    {[](std::string_view bytes) { return is_json_document(bytes); }, "something else than a trace, JSON",
     "something else than a trace, {} JSON"},
};

// Files of other tools that a command of that tool converts into a format which prof reads. The name decides, because
// the formats have no documented first bytes, except for archives.
struct ConvertedFormat {
  std::string_view extension, magic, what;
  std::string_view command;  // FILE is the name of the file, STEM.x that of the same name with another extension
};

constexpr ConvertedFormat kConverted[] = {
    {".nsys-rep", "", "a report of Nsight Systems", "nsys export --type sqlite --output STEM.sqlite FILE"},
    {".qdrep", "", "a report of Nsight Systems", "nsys export --type sqlite --output STEM.sqlite FILE"},
    {".xplane.pb", "", "a profile of the XLA profiler (JAX, TensorFlow)",
     "python3 -c 'import sys; from xprof.convert import raw_to_tool_data as r; "
     "print(r.xspace_to_tool_data(sys.argv[1:], \"trace_viewer\", {})[0])' FILE > STEM.json"},
    {".pftrace", "", "a trace of Perfetto", "traceconv json FILE STEM.json"},
    {".pftrace.gz", "", "a trace of Perfetto", "traceconv json FILE STEM.json"},
    {".perfetto-trace", "", "a trace of Perfetto", "traceconv json FILE STEM.json"},
    {".zip", "PK\x03\x04", "a ZIP archive", "unzip FILE"},
};

}  // namespace

std::string conversion_of(const FileHead& head) {
  for (const ConvertedFormat& format : kConverted) {
    const bool named = head.path.ends_with(format.extension);
    if (!named && (format.magic.empty() || !head.bytes.starts_with(format.magic))) continue;
    const std::string stem = named ? head.path.substr(0, head.path.size() - format.extension.size()) : head.path;
    std::string command;
    for (std::string_view rest = format.command; !rest.empty();) {
      std::string word(rest.substr(0, rest.find(' ')));
      rest.remove_prefix(std::min(rest.size(), word.size() + 1));
      if (word == "FILE") word = shell_word(head.path);
      if (word.starts_with("STEM")) word = shell_word(fmt::format("{}{}", stem, std::string_view(word).substr(4)));
      if (!command.empty()) command += ' ';
      command += word;
    }
    return fmt::format("{}, which prof does not read; convert it first: {}", format.what, command);
  }
  return "";
}

const Importer* find_importer(const FileHead& head) {
  const auto found = std::find_if(kImporters.begin(), kImporters.end(),
                                  [&head](const Importer& importer) { return importer.sniff(head); });
  return found == kImporters.end() ? nullptr : &*found;
}

std::string describe_other_file(const FileHead& head) {
  for (const OtherFormat& format : kOtherFormats) {
    if (!format.sniff(head.bytes)) continue;
    return head.compressed ? fmt::format(fmt::runtime(format.compressed), head.compression) : std::string(format.plain);
  }
  return head.compressed ? fmt::format("{} of something unknown", head.compression) : "";
}

std::unique_ptr<Trace> read_trace(const std::vector<std::string>& paths, const ImportOptions& options) {
  std::array<std::vector<std::string>, kImporters.size()> together;
  std::vector<std::pair<FileHead, const Importer*>> one_by_one;
  for (const std::string& path : paths) {
    FileHead head = read_head(path);
    const Importer* importer = find_importer(head);
    // A file that no row recognises is opened as a log. The error of the log reader describes what was found.
    if (importer == nullptr) {
      if (const std::string other = conversion_of(head); !other.empty())
        throw InputError(fmt::format("{}: is {}", path, other));
      importer = &importer_of(InputFormat::prof_log);
    }
    if (importer->import_together != nullptr) {
      together[static_cast<size_t>(importer - kImporters.data())].push_back(path);
    } else {
      one_by_one.emplace_back(std::move(head), importer);
    }
  }
  auto trace = std::make_unique<Trace>();
  for (size_t i = 0; i < kImporters.size(); ++i) {
    if (together[i].empty()) continue;
    const std::string& first = together[i].front();
    const std::string files =
        together[i].size() == 1 ? first : fmt::format("{} and {} more files", first, together[i].size() - 1);
    reading_file(files, [&] { kImporters[i].import_together(together[i], *trace, options); });
  }
  for (const auto& [head, importer] : one_by_one) {
    const auto first_process = static_cast<uint32_t>(trace->processes.size());
    reading_file(head.path, [&, &file = head, format = importer] { format->import(file, *trace, options); });
    for (uint32_t p = first_process; p < trace->processes.size(); ++p) {
      trace->processes[p].source = head.path;
      trace->processes[p].format = importer->name;
    }
  }
  return trace;
}

}  // namespace prof::analyzer
