// FLOPs, bytes and time from values of hardware counters, by the names of their metrics:
//
//   tensor cores  Σ sm__ops_path_tensor_src_TYPE[_dst_TYPE].sum      operations: a multiply-add is two
//   vector units  Xadd + Xmul + 2 · Xfma of sm(sp)__sass_thread_inst_executed_op_…_pred_on.sum,
//                 X = f (fp32), d (fp64), h (fp16)
//   bytes         dram__bytes_read.sum + dram__bytes_write.sum, else dram__bytes.sum
//
// Kineto's traces do not contain its own names for several metrics, but the metrics that they expand to:
// kineto__cuda_core_flops expands to the nine of vector units, kineto__tensor_core_insts to
// sm__inst_executed_pipe_tensor.sum. The FLOPs of a tensor core instruction depend on its type and shape, so a count of
// instructions gives no FLOPs. If that count is 0, the FLOPs of the vector units are all FLOPs. From compute capability
// 10 on, some tensor instructions run in another pipe (…_tc), so this conclusion is drawn only for devices known to
// be older.
//
// Metrics that count a part of another metric (…_sparsity_on, …_realtime) are not added to it. An HFMA2 counts as
// one instruction of its thread although it does four FLOPs, and it cannot be distinguished from a scalar one. Vector
// FLOPs of fp16 are therefore at least half of the real number.
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
  bool tensor_only = false;           // FLOPs exclude vector units: the set has no metrics of them
  bool vector_only = false;           // FLOPs exclude tensor cores: the set has no metrics of them
  bool tensor_unknown = false;        // tensor cores ran, but their FLOPs are not counted: `flops` is empty
  DataType type = DataType::Unknown;  // the type with most of the FLOPs
  std::optional<PeakType> peak;       // of that type
};

// How the metrics of one set become numbers.
class CounterMeaning {
 public:
  CounterMeaning(const Trace& trace, const CounterSet& set);
  // A number is absent if one of its metrics is not in the set, or if the metric's value is negative or not finite.
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
  bool one_tensor_pipe_ = false;  // tensor_instructions_ counts the instructions of all tensor pipes
};

// Indexed as CounterTable::sets.
std::vector<CounterMeaning> counter_meanings(const Trace& trace);

}  // namespace prof::analyzer
