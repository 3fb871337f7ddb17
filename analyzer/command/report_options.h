// The flags that set analysis/analysis_options.h. Used by `prof report`.
#pragma once

#include "analyzer/analysis/analysis_options.h"
#include "analyzer/command/choices.h"

#include <CLI/CLI.hpp>

#include <string>

namespace prof::analyzer {

// --ranges, which `prof diff` has too.
inline void add_ranges_option(CLI::App& verb, ReportOptions& options) {
  verb.add_option_function<std::string>(
          "--ranges", [&options](const std::string& word) { options.exact_ranges = word == "exact"; },
          "folded: ranges whose names differ only in a counter are one row (step 7 is step *); exact: each text is a "
          "row")
      ->check(one_of({"folded", "exact"}))
      ->option_text("HOW");
}

inline void add_report_options(CLI::App& verb, ReportOptions& options) {
  add_choice<Definitions>(verb, "--definitions", options.definitions,
                          {{"ours", Definitions::Ours},
                           {"reference", Definitions::Reference},
                           {"hta", Definitions::Hta},
                           {"tracelens", Definitions::TraceLens},
                           {"nsys", Definitions::Nsys},
                           {"tb", Definitions::TensorBoard},
                           {"gap-cause", Definitions::GapCause}},
                          "whose definitions: ours, reference, hta, tracelens, nsys, tb or gap-cause")
      ->option_text("WHOSE");
  verb.add_option("--window", options.window,
                  "gpu (first to last GPU operation), run, step (each step of the program), nvtx:NAME (each such "
                  "range) or A..B")
      ->capture_default_str();
  verb.add_option("--wall", options.wall_ms, "wall time in ms of the same run without a profiler")
      ->check(decimal_number(0, 1e12))
      ->option_text("MS");
  verb.add_option("--group-by", options.group_by, "what makes a row of its own: words of the report's page")
      ->delimiter(',')
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false)
      ->option_text("WORDS");
  verb.add_flag(
      "--captured", options.captured,
      "nvtx, --nvtx: what a CUDA graph runs belongs to the ranges that captured it, not to those that launched it");
  verb.add_option("--range", options.range, "graphs: ranges whose text this matches, beside compiled graphs")
      ->option_text("PATTERN");
  add_ranges_option(verb, options);
  verb.add_flag("--top-level", options.top_level, "ops: only what is inside nothing else");
  verb.add_option("--max-name-column-width", options.max_name_column_width, "ops: cut names; 0 does not")
      ->check(whole_number(0))
      ->option_text("N")
      ->capture_default_str();
  verb.add_option("--max-shapes-column-width", options.max_shapes_column_width, "ops: cut shapes; 0 does not")
      ->check(whole_number(0))
      ->option_text("N")
      ->capture_default_str();
  verb.add_option("--max-src-column-width", options.max_src_column_width, "ops: cut source locations; 0 does not")
      ->check(whole_number(0))
      ->option_text("N")
      ->capture_default_str();
  verb.add_flag("--peaks", options.peaks, "kernels: FLOPs and bytes a second, against what the device can reach");
  verb.add_option(
          "--dtype", options.dtype,
          "kernels --peaks, roofline: type of elements where the trace has none (fp64, fp32, fp16, bf16, fp8, int8)")
      ->check(one_of({"fp64", "fp32", "fp16", "bf16", "fp8", "int8"}))
      ->option_text("TYPE");
  verb.add_option(
          "--devices", options.devices,
          "file of peaks of GPUs, looked at before the built-in ones; measured: those of `prof devices --measure`")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false)
      ->option_text("FILE");
  verb.add_option("--device-as", options.device_as, "take every device for this GPU (prof devices)")
      ->option_text("NAME");
  verb.add_option("--kernel", options.kernel, "sass: the kernel, if it is not the one with most samples")
      ->option_text("PATTERN");
  verb.add_option("--metric", options.metric,
                  "stacks, hot-stacks, flame: gpu-time, cpu-time, launches, bytes, allocated-bytes, idle or host-time")
      ->option_text("METRIC")
      ->capture_default_str();
  verb.add_flag("--lines", options.lines,
                "stacks, flame: divide the GPU time of kernels by source line and stall reason, from PC samples");
  verb.add_option("--rules", options.rules, "file of kernel categories, tested before the built-in ones")
      ->option_text("FILE");
}

}  // namespace prof::analyzer
