// The layout of `nsys stats` for tables with nsys's names: a centred header, dashes, thousands with commas.
#pragma once

#include "analyzer/table/table.h"

namespace prof::analyzer {

//  ** CUDA API Summary (cuda_api_sum):
//
//   Time (%)  Total Time (ns)  Num Calls  …  Name
//   --------  ---------------  ---------     ----------------
//       90.0           12,345          3     cudaLaunchKernel
//
// Times are in ns unless a unit is given; texts are cut to 100 characters. Notes and the table's other lines follow.
void write_nsys_text(const Table& table, TimeUnit unit, Sink& sink);

}  // namespace prof::analyzer
