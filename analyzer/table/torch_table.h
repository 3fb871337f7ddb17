// The table that torch.autograd.profiler prints (key_averages().table()): its layout, cell texts and footers.
#pragma once

#include "analyzer/table/table.h"

#include <cstdint>
#include <string>

namespace prof::analyzer {

// Properties of the whole table, computed over all rows before --limit cuts them.
struct TorchLayout {
  size_t name_width = 0, shapes_width = 0, source_width = 0;
  size_t name_most = 55;                        // longer names are cut; 0: none
  int64_t self_cpu_ns = 0, self_device_ns = 0;  // footers, and the totals of shares
  bool top_level_only = false;
  bool with_estimates = false;  // for the whole run, if only a part of it was timed
  bool with_device = false, with_memory = false, with_device_memory = false;
  bool with_shapes = false, with_stack = false, with_node = false, with_thread = false, with_domain = false;
  uint64_t least_flops = 0;  // smallest number that is not 0; 0: no such column
};

// Reads the columns of report `ops` by their keys. `stack` has frames separated by ";", the innermost first.
std::string torch_table(const Table& table, const TorchLayout& layout);

// 1234567 -> "1.235ms"; a share of 0 is "--"; 1536 -> "1.50 KB".
std::string torch_time(int64_t ns);
std::string torch_share(int64_t ns, int64_t of_ns);
std::string torch_memory(int64_t bytes);

}  // namespace prof::analyzer
