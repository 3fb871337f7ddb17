#include "analyzer/command/export_dataset.h"

#include "analyzer/analysis/collectives/process_ranks.h"
#include "analyzer/base/file_head.h"
#include "analyzer/base/json/json_text.h"
#include "analyzer/command/command.h"
#include "analyzer/command/inputs.h"
#include "analyzer/command/progress.h"
#include "analyzer/input/importer.h"
#include "analyzer/input/log/log_definitions.h"
#include "analyzer/output/dataset/dataset_clocks.h"
#include "analyzer/output/dataset/dataset_folder.h"
#include "analyzer/output/forms.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <limits>
#include <stdexcept>
#include <utility>

namespace prof::analyzer {

namespace {

constexpr int64_t kNoRank = std::numeric_limits<int64_t>::max();

int64_t number_at(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '"' || text.front() == ':')) text.remove_prefix(1);
  int64_t number = kNoRank;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// The rank in the definitions of a log, or at the start of a trace of torch.profiler; kNoRank: not found there. Only
// the order of rows depends on it.
int64_t rank_of_file(const std::string& path) {
  const FileHead head = read_head(path);
  const Importer* const importer = find_importer(head);
  if (importer == nullptr) return kNoRank;
  if (importer->name == kProfLogFormat) {
    const LogOpenResult opened = LogFile::open(path);
    return opened ? number_at(load_definitions(*opened.log, ReadFrom::DefinitionBlocks).meta_value("rank")) : kNoRank;
  }
  const size_t info = head.bytes.find("\"distributedInfo\"");
  const size_t rank = info == std::string::npos ? info : head.bytes.find("\"rank\"", info);
  return rank == std::string::npos || rank - info > 1000 ? kNoRank : number_at(head.bytes.substr(rank + 6, 40));
}

std::vector<std::string> in_order_of_rank(const std::vector<std::string>& paths) {
  std::vector<std::pair<int64_t, std::string>> ranked;
  for (const std::string& path : paths) ranked.emplace_back(paths.size() == 1 ? kNoRank : rank_of_file(path), path);
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> ordered;
  for (auto& [rank, path] : ranked) ordered.push_back(std::move(path));
  return ordered;
}

// Adds the rows of every input to `target`, a DatasetFolder or a TableStream. Returns the exit status.
template <class DatasetTarget> int add_inputs(const std::vector<std::string>& inputs, DatasetTarget& target) {
  const std::vector<std::string> paths = in_order_of_rank(each_file_once(inputs));
  int status = kComplete;
  size_t used = 0;
  std::string last_error;
  for (size_t i = 0; i < paths.size(); ++i) {
    std::unique_ptr<Trace> trace;
    try {
      ProgressLine progress(fmt::format("exporting {} of {} inputs", i + 1, paths.size()));
      progress.share(static_cast<double>(i) / static_cast<double>(paths.size()));
      trace = read_trace({paths[i]});
      find_ranks(*trace);
    } catch (const InputError& error) {
      if (paths.size() == 1) throw;
      last_error = error.what();
      std::fprintf(stderr, "prof: %s; it is left out\n", readable_lines(last_error).c_str());
      status = kPartial;
      continue;
    }
    ++used;
    status = std::max(status, tell_damage(*trace));
    dataset::add_rows(*trace, target, [&](const dataset::Identity& identity) {
      if (target.add_process(identity)) return true;
      std::fprintf(stderr, "prof: %s: a process of it is in another input already; it is left out\n",
                   readable_lines(paths[i]).c_str());
      status = kPartial;
      return false;
    });
    if (paths.size() == 1) std::fprintf(stderr, "prof: %s\n", coverage_line(*trace).c_str());
  }
  if (used == 0) throw InputError(last_error + "; no input can be used");
  return status;
}

void check_run(const std::string& run) {
  const bool usable = !run.empty() && std::all_of(run.begin(), run.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-' ||
           c == '.';
  });
  if (!usable) throw std::runtime_error(fmt::format("--run {}: use letters, digits and . _ - only", run));
}

}  // namespace

int align_dataset(const std::string& folder, const std::string& run) {
  check_run(run);
  dataset::table_plugin();
  const dataset::ClockSummary found = dataset::write_clocks(folder, run);
  std::fprintf(stderr, "prof: %s: clocks of %zu hosts, %zu processes, by %zu collectives; reference %s",
               readable_lines(folder).c_str(), found.clocks, found.processes, found.collectives,
               readable_lines(found.reference).c_str());
  if (found.measured != 0) std::fprintf(stderr, "; %zu measured, to ±%.0f ns", found.measured, found.bound_ns);
  if (found.unknown != 0) std::fprintf(stderr, "; %zu not known to agree with it", found.unknown);
  std::fprintf(stderr, "\n");
  return kComplete;
}

int export_parquet(const DatasetOptions& options) {
  if (options.path == "-")
    throw std::runtime_error("-o -: a dataset is a folder; --format arrow writes one table to stdout");
  if (!options.table.empty()) throw std::runtime_error("--table is for --format arrow; a dataset has all tables");
  check_run(options.run);
  dataset::table_plugin();
  dataset::DatasetFolder folder(options.path, options.run, options.force);
  const int status = add_inputs(options.inputs, folder);
  folder.finish();
  std::fprintf(stderr, "prof: %s: parquet, %llu rows of %zu process%s in %zu files\n", options.path.c_str(),
               static_cast<unsigned long long>(folder.rows()), folder.processes(), folder.processes() == 1 ? "" : "es",
               folder.files());
  return status;
}

int export_arrow(const DatasetOptions& options) {
  const auto tables = dataset::tables();
  const auto found = std::find_if(tables.begin(), tables.end(), [&](const dataset::TableSchema& table) {
    return table.name == options.table && &table != &dataset::schema_of(dataset::TableId::clocks);
  });
  if (found == tables.end()) {
    std::vector<std::string> names;
    for (const dataset::TableSchema& table : tables) {
      if (table.name != dataset::schema_of(dataset::TableId::clocks).name) names.emplace_back(table.name);
    }
    throw std::runtime_error(fmt::format("--format arrow writes one table: --table {}", words_text(names)));
  }
  dataset::table_plugin();
  dataset::TableStream stream(options.path, static_cast<dataset::TableId>(found - tables.begin()));
  const int status = add_inputs(options.inputs, stream);
  stream.finish();
  if (options.path != "-")
    std::fprintf(stderr, "prof: %s: arrow, %llu rows\n", options.path.c_str(),
                 static_cast<unsigned long long>(stream.rows()));
  return status;
}

}  // namespace prof::analyzer
