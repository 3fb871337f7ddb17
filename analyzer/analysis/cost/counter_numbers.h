// FLOPs, bytes and time out of values of hardware counters, by the names of their metrics:
//
//   tensor cores  Σ sm__ops_path_tensor_src_TYPE[_dst_TYPE].sum      operations: a multiply-add is two
//   vector units  Xadd + Xmul + 2 · Xfma of sm(sp)__sass_thread_inst_executed_op_…_pred_on.sum,  X = f (fp32), d (fp64), h (fp16)
//   bytes         dram__bytes_read.sum + dram__bytes_write.sum, else dram__bytes.sum
//
// Kineto's names for several metrics are not in its traces, but what they stand for: kineto__cuda_core_flops the nine of vector units,
// kineto__tensor_core_insts sm__inst_executed_pipe_tensor.sum. An instruction of tensor cores does what its type and shape say, so there
// are no FLOPs from it; where there was none, those of the vector units are all; from compute capability 10 on some run in
// another pipe (…_tc), so that is only said of devices known to be older.
//
// Metrics that count a part of another (…_sparsity_on, …_realtime) are not added to it. An HFMA2 counts as one instruction of its
// thread for four FLOPs and cannot be told from a scalar one: vector FLOPs of fp16 are at least half of what was done.
#pragma once

#include "analyzer/analysis/cost/device_peaks.h"
#include "analyzer/analysis/cost/op_inputs.h"
#include "analyzer/model/trace.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace prof::analyzer {

struct CounterNumbers {
  std::optional<double> time_ns, flops, bytes;
  bool tensor_only = false;           // of FLOPs: the set has none of the vector units
  bool vector_only = false;           // the set has none of the tensor cores
  bool tensor_unknown = false;        // tensor cores ran, and what they did is not counted: no FLOPs
  DataType type = DataType::Unknown;  // with most of the FLOPs
  std::optional<PeakType> peak;       // of that type
};

// What the metrics of one set stand for.
class CounterMeaning {
 public:
  CounterMeaning(const Trace& trace, const CounterSet& set);
  // A number is absent if a metric is not in the set, or if a value of it is negative or not finite.
  CounterNumbers of(std::span<const double> values) const;
  bool has_flops() const { return !terms_.empty(); }
  bool has_bytes() const { return !bytes_.empty(); }

 private:
  struct Term {
    uint32_t metric;
    double weight;
    PeakType peak;
    DataType type;
    bool tensor;
  };
  void add_vector_terms(const Trace& trace, const CounterSet& set);

  uint32_t time_, tensor_instructions_;
  std::vector<uint32_t> bytes_;
  std::vector<Term> terms_;
  bool tensor_ = false, vector_ = false;
  bool one_tensor_pipe_ = false;  // tensor_instructions_ has all of them
};

// By CounterTable::sets.
std::vector<CounterMeaning> counter_meanings(const Trace& trace);

}  // namespace prof::analyzer
