// What the command line may say to a report beyond the selection. Every report reads what concerns it and ignores the rest;
// the flags are declared in command/report_options.h, their meaning in docs/reports/.
#pragma once

#include "analyzer/model/names.h"

#include <cstddef>
#include <string>
#include <vector>

namespace prof::analyzer {

// Whose definition of a thing: docs/reports/definitions.md lists what changes.
enum class Definitions { Ours, Reference, Hta, TraceLens, Nsys };

struct ReportOptions {
  NameForm names = NameForm::Short;
  bool names_given = false;  // --names was there: reports with forms of their own use `names` then
  Definitions definitions = Definitions::Ours;
  std::string window = "gpu";         // gpu | run | step | nvtx:NAME | A..B, see time_window.h
  double wall_ms = 0;                 // of the same program without a profiler; 0: not given
  std::vector<std::string> group_by;  // what makes a row of its own; each report's page says which words it takes
  bool captured =
      false;          // operations of CUDA graphs belong to the ranges that captured them, not to those that launched
  std::string range;  // a name_pattern.h pattern of ranges the report is also about
  bool top_level = false;  // only what is inside nothing else
  // Most characters of these columns in tables of PyTorch's layout; 0: as wide as needed.
  size_t max_name_column_width = 55, max_shapes_column_width = 80, max_src_column_width = 75;
  std::vector<std::string> rules;    // files with categories of kernels, tested before the built-in ones
  bool peaks = false;                // kernels: FLOPs and bytes against what the device can reach
  std::string dtype;                 // of elements where the trace has none; empty: no number then
  std::vector<std::string> devices;  // files with peaks of GPUs
  std::string device_as;             // take every device for this GPU; empty: by their own names
  std::string metric = "gpu-time";   // of the reports about call stacks: stack_tree.h
};

}  // namespace prof::analyzer
