// Samples of instructions of kernels, with the reason why a warp does not issue there (PROF_PC_SAMPLING). Only logs
// have them.
#pragma once

#include "analyzer/base/column.h"
#include "analyzer/base/strings.h"
#include "analyzer/model/row_ids.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace prof::analyzer {

// CUPTI counts a sample under its reason. If the scheduler issued no instruction in that cycle, it counts the sample
// under the reason with this ending too: one sample, two counts.
inline constexpr std::string_view kPcNotIssued = "_not_issued";

// The machine code of modules with equal contents, as one log has it.
struct PcCubin {
  ProcessId process{};
  std::string log;   // path of the log; its contents are in the file beside it (preload/format/kept_cubins.h)
  uint64_t crc = 0;  // its key in that file
  uint64_t bytes = 0;
  bool kept = false;  // the file has the contents, if the recording ended in order
};

// One reading of the samples of a context. Times that a period applies to end with it.
struct PcBatchRow {
  ProcessId process{};
  DeviceId device{};
  int64_t time_ns = 0;
  uint32_t period = 0;    // a sample each 2^period cycles of a multiprocessor
  uint64_t total = 0;     // samples, with those that were dropped and those without an instruction
  uint64_t dropped = 0;   // by the hardware
  uint64_t non_user = 0;  // of kernels that are not the program's: without an instruction
  bool buffer_full = false;
};

// Samples of one instruction with one reason in one batch, by process, then by time.
struct PcSampleTable {
  Column<int64_t> time_ns;  // of the batch
  Column<uint32_t> offset;  // of the instruction in its function, bytes
  Column<uint32_t> samples;
  Column<uint32_t> not_issued;  // those of `samples` in whose cycle the warp's scheduler issued no instruction
  Column<StringId> function;    // mangled
  Column<StringId> reason;      // CUPTI's name, without kPcNotIssued
  Column<uint32_t> cubin;       // index into `cubins`; 0: not known
  Column<DeviceId> device;
  Column<uint8_t> period;     // that of the batch
  Column<uint8_t> ambiguous;  // 1: the function may be another one, because a module was unloaded

  std::vector<PcCubin> cubins{PcCubin{}};
  std::vector<PcBatchRow> batches;  // by process, then by time

  size_t size() const { return samples.size(); }
  bool empty() const { return samples.empty(); }
  // The number of cycles of a multiprocessor that a row represents: sums over rows with different periods are of these.
  double cycles(size_t row) const {
    return static_cast<double>(samples[row]) * static_cast<double>(uint64_t{1} << period[row]);
  }
};

}  // namespace prof::analyzer
