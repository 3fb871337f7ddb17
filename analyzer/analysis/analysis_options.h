// The options of a report beyond the selection. Every report reads the options that concern it and ignores the rest.
// command/report_options.h declares the flags, and docs/reports/ describes them.
#pragma once

#include "analyzer/model/names.h"

#include <cstddef>
#include <string>
#include <vector>

namespace prof::analyzer {

// Whose definition of a quantity a report uses. docs/reports/definitions.md lists the differences.
// GapCause: one cause for each gap of a device, which is not divided.
enum class Definitions { Ours, Reference, Hta, TraceLens, Nsys, TensorBoard, GapCause };

struct ReportOptions {
  NameForm names = NameForm::Short;
  bool names_given = false;  // --names was given; a report with name forms of its own uses `names` only then
  Definitions definitions = Definitions::Ours;
  std::string window = "gpu";         // gpu | run | step | nvtx:NAME | A..B, see time_window.h
  double wall_ms = 0;                 // duration of the same program without a profiler; 0: not given
  std::vector<std::string> group_by;  // what rows are grouped by; the page of each report lists the accepted words
  bool captured =
      false;          // operations of CUDA graphs belong to the ranges that captured them, not to those that launched
  std::string range;  // a name_pattern.h pattern of the ranges that the report also covers
  bool exact_ranges = false;  // counters in the names of ranges make rows of their own: range_counters.h
  bool top_level = false;     // only operators, ranges or calls that no other one encloses
  // Maximum number of characters of these columns in tables of PyTorch's layout; 0: as wide as needed.
  size_t max_name_column_width = 55, max_shapes_column_width = 80, max_src_column_width = 75;
  std::vector<std::string> rules;    // files with categories of kernels, matched before the built-in ones
  bool peaks = false;                // kernels: FLOPs and bytes as a share of the device's peaks
  std::string dtype;                 // data type of elements where the trace has none; empty: no FLOPs or bytes then
  std::vector<std::string> devices;  // files with peaks of GPUs
  std::string device_as;             // the GPU whose peaks are used for every device; empty: each device's own
  std::string kernel;                // sass: a name_pattern.h pattern of the kernel; empty: the one with most samples
  bool lines = false;                // GPU time inside kernels by source line, from PC samples
  std::string metric = "gpu-time";   // metric of the reports about call stacks: stack_tree.h
};

}  // namespace prof::analyzer
