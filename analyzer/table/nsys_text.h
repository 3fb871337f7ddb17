// The layout of `nsys stats` for tables that have nsys's names: a centred header, dashes, thousands with commas.
#pragma once

#include "analyzer/table/table.h"

namespace prof::analyzer {

//  ** CUDA API Summary (cuda_api_sum):
//
//   Time (%)  Total Time (ns)  Num Calls  …  Name
//   --------  ---------------  ---------     ----------------
//       90.0           12,345          3     cudaLaunchKernel
//
// Times in ns unless a unit is given; texts cut to 100 characters. Notes and the rest of the table's lines follow.
void write_nsys_text(const Table& table, TimeUnit unit, Sink& sink);

}  // namespace prof::analyzer
