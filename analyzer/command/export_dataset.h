// prof export --format parquet|arrow: what was recorded as tables for DuckDB, Spark and pandas (docs/export.md).
#pragma once

#include <string>
#include <vector>

namespace prof::analyzer {

struct DatasetOptions {
  std::vector<std::string> inputs;  // files
  std::string path;                 // a folder; Arrow: a file, or "-"
  bool force = false;
  std::string run = "main";  // value of the column run of the dataset
  std::string table;         // Arrow: name of the table
};

// Reads one input after the other, in order of their ranks, and returns the exit status. An input that cannot be used
// is named and left out. Throws InputError if none can be used, OutputError if a file cannot be written, and
// std::runtime_error if an option is wrong or the plug-in is not installed.
int export_parquet(const DatasetOptions& options);
int export_arrow(const DatasetOptions& options);
// Measures the clocks of the hosts of a dataset, and writes its table clocks (--align).
int align_dataset(const std::string& folder, const std::string& run);

}  // namespace prof::analyzer
