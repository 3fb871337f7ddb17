// Columns of every table of single GPU operations, prof's and nsys's: how a kernel was launched, and where an operation
// ran.
#pragma once

#include "analyzer/model/trace.h"
#include "analyzer/table/table.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace prof::analyzer {

// The correlation id, the grid, the block and the registers. add_shape_cells() adds the cells of all but the first.
inline void add_shape_columns(Table& table) {
  if (table.nsys_look) {
    table.add_columns({ColumnId::nsys_correlation, ColumnId::nsys_grid_x, ColumnId::nsys_grid_y, ColumnId::nsys_grid_z,
                       ColumnId::nsys_block_x, ColumnId::nsys_block_y, ColumnId::nsys_block_z,
                       ColumnId::nsys_registers});
  } else {
    table.add_columns({ColumnId::correlation, ColumnId::grid_x, ColumnId::grid_y, ColumnId::grid_z, ColumnId::block_x,
                       ColumnId::block_y, ColumnId::block_z, ColumnId::registers});
  }
}
inline void add_shape_cells(Table::Row& row, const Kernel& kernel) {
  for (const uint32_t value : kernel.grid) row.add(value);
  for (const uint32_t value : kernel.block) row.add(value);
  row.add(kernel.registers);
}

// The memory kinds, the device and the stream. add_place_cells() adds the cells of the device and the stream.
inline void add_place_columns(Table& table) {
  if (table.nsys_look) {
    table.add_columns({ColumnId::nsys_source_kind, ColumnId::nsys_destination_kind, ColumnId::nsys_device_name,
                       ColumnId::nsys_context, ColumnId::nsys_green_context, ColumnId::nsys_stream});
  } else {
    table.add_columns({ColumnId::source_memory, ColumnId::destination_memory, ColumnId::device_name, ColumnId::context,
                       ColumnId::green_context, ColumnId::stream});
  }
}
inline std::vector<std::string> device_names(const Trace& trace) {
  std::vector<std::string> names;
  for (const Device& device : trace.devices) names.push_back(device.name + " (" + std::to_string(device.ordinal) + ")");
  return names;
}
inline void add_place_cells(Table::Row& row, const std::vector<std::string>& device_names, const Stream& stream) {
  row.add(std::string_view(device_names[index(stream.device)])).add(stream.context);
  row.add_if(stream.green_context != kNone, stream.green_context);
  row.add(stream.number);
}

}  // namespace prof::analyzer
