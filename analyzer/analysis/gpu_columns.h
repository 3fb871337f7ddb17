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

// "CorrId", the grid, the block and "Reg/Trd". add_shape_cells() adds the cells of all but the first.
inline void add_shape_columns(Table& table) {
  for (const auto& [title, key] : {std::pair{"CorrId", "correlation"},
                                   {"GrdX", "grid_x"},
                                   {"GrdY", "grid_y"},
                                   {"GrdZ", "grid_z"},
                                   {"BlkX", "block_x"},
                                   {"BlkY", "block_y"},
                                   {"BlkZ", "block_z"},
                                   {"Reg/Trd", "registers"}})
    table.add_column(title, key, CellType::Count);
}
inline void add_shape_cells(Table::Row& row, const Kernel& kernel) {
  for (const uint32_t value : kernel.grid) row.add(value);
  for (const uint32_t value : kernel.block) row.add(value);
  row.add(kernel.registers);
}

// The memory kinds, the device and the stream. add_place_cells() adds the cells of the device and the stream.
inline void add_place_columns(Table& table) {
  table.add_column("SrcMemKd", "source_memory", CellType::Text);
  table.add_column("DstMemKd", "destination_memory", CellType::Text);
  table.add_column("Device", "device", CellType::Text);
  for (const auto& [title, key] : {std::pair{"Ctx", "context"}, {"GreenCtx", "green_context"}, {"Strm", "stream"}})
    table.add_column(title, key, CellType::Count);
}
inline std::vector<std::string> device_names(const Trace& trace) {
  std::vector<std::string> names;
  for (const Device& device : trace.devices) names.push_back(device.name + " (" + std::to_string(device.ordinal) + ")");
  return names;
}
inline void add_place_cells(Table::Row& row, const std::vector<std::string>& device_names, const Stream& stream) {
  row.add(std::string_view(device_names[index(stream.device)])).add(stream.context);
  stream.green_context != kNone ? row.add(stream.green_context) : row.empty();
  row.add(stream.number);
}

}  // namespace prof::analyzer
