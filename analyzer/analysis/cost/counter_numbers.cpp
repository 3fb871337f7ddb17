#include "analyzer/analysis/cost/counter_numbers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>

namespace prof::analyzer {

namespace {

struct TensorType {
  std::string_view source;
  PeakType peak;
  DataType type;
};
// A mixture of narrow types is compared with the peak of the widest.
constexpr TensorType kTensorTypes[] = {
    {"fp64", PeakType::Fp64Matrix, DataType::Fp64}, {"tf32", PeakType::Tf32, DataType::Fp32},
    {"bf16", PeakType::Bf16, DataType::Bf16},       {"fp16", PeakType::Fp16, DataType::Fp16},
    {"fp8", PeakType::Fp8, DataType::Fp8},          {"fp4_fp6_fp8", PeakType::Fp8, DataType::Fp8},
    {"fp4", PeakType::Fp4, DataType::Fp4},          {"int8", PeakType::Int8, DataType::Int8},
};

struct VectorType {
  char letter;
  PeakType peak;
  DataType type;
};
// The vector peak of fp16 is not known: it equals that of fp32 or is twice as high.
constexpr VectorType kVectorTypes[] = {{'f', PeakType::Fp32, DataType::Fp32},
                                       {'d', PeakType::Fp64, DataType::Fp64},
                                       {'h', PeakType::Fp32, DataType::Fp16}};

// "bf16" of "sm__ops_path_tensor_src_bf16_dst_fp32.sum". Empty: another metric, or a metric that counts a part of one.
std::string_view tensor_source(std::string_view metric) {
  constexpr std::string_view kHead = "sm__ops_path_tensor_src_", kTail = ".sum";
  if (!metric.starts_with(kHead) || !metric.ends_with(kTail)) return {};
  metric.remove_prefix(kHead.size());
  metric.remove_suffix(kTail.size());
  const size_t to = metric.find("_dst_");
  if (to == std::string_view::npos) return metric;
  const std::string_view destination = metric.substr(to + 5);
  return destination.find('_') == std::string_view::npos ? metric.substr(0, to) : std::string_view();
}

constexpr uint64_t kTwoTensorPipes = 10;  // compute capability

bool is_older(const Trace& trace, const CounterSet& set) {
  return std::any_of(trace.devices.begin(), trace.devices.end(), [&](const Device& device) {
    if (index(device.process) != set.process || device.ordinal != set.device) return false;
    return std::any_of(device.properties.begin(), device.properties.end(), [](const auto& property) {
      return property.first == "computeMajor" && property.second != 0 && property.second < kTwoTensorPipes;
    });
  });
}

bool is_number(double value) { return std::isfinite(value) && value >= 0; }

}  // namespace

CounterMeaning::CounterMeaning(const Trace& trace, const CounterSet& set)
    : time_(metric_index(trace, set, kCounterTime)),
      tensor_instructions_(metric_index(trace, set, "sm__inst_executed_pipe_tensor.sum")) {
  const uint32_t read = metric_index(trace, set, "dram__bytes_read.sum");
  const uint32_t write = metric_index(trace, set, "dram__bytes_write.sum");
  const uint32_t both = metric_index(trace, set, "dram__bytes.sum");
  if (read != kNone && write != kNone) {
    bytes_ = {read, write};
  } else if (both != kNone) {
    bytes_ = {both};
  }
  for (uint32_t i = 0; i < set.metrics.size(); ++i) {
    const std::string_view source = tensor_source(trace.text(set.metrics[i]));
    if (metric_index(trace, set, trace.text(set.metrics[i])) != i) continue;  // a duplicate name
    for (const TensorType& type : kTensorTypes) {
      if (source == type.source) {
        terms_.push_back({i, 1, type.peak, type.type, true});
        tensor_ = true;
      }
    }
  }
  add_vector_terms(trace, set);
  one_tensor_pipe_ = tensor_instructions_ != kNone && is_older(trace, set);
}

// A type is counted if all three of its instructions are in the set, either per SM (sm) or per SM partition (smsp).
void CounterMeaning::add_vector_terms(const Trace& trace, const CounterSet& set) {
  for (const VectorType& type : kVectorTypes) {
    for (const std::string_view unit : {"sm", "smsp"}) {
      const auto metric = [&](std::string_view op) {
        std::string name(unit);
        name.append("__sass_thread_inst_executed_op_").append(1, type.letter).append(op).append("_pred_on.sum");
        return metric_index(trace, set, name);
      };
      const std::array<uint32_t, 3> of{metric("add"), metric("mul"), metric("fma")};
      if (of[0] == kNone || of[1] == kNone || of[2] == kNone) continue;
      for (size_t i = 0; i < of.size(); ++i) terms_.push_back({of[i], i == 2 ? 2.0 : 1.0, type.peak, type.type, false});
      vector_ = true;
      break;
    }
  }
}

CounterNumbers CounterMeaning::of(std::span<const double> values) const {
  CounterNumbers numbers;
  if (time_ != kNone && is_number(values[time_]) && values[time_] <= kLongestKernelNs) numbers.time_ns = values[time_];
  double bytes = 0;
  for (const uint32_t metric : bytes_) bytes += is_number(values[metric]) ? values[metric] : NAN;
  if (!bytes_.empty() && is_number(bytes)) numbers.bytes = bytes;
  double flops = 0, most = 0;
  std::array<double, 32> of_type{};  // without tensor cores
  for (const Term& term : terms_) {
    const double part = is_number(values[term.metric]) ? term.weight * values[term.metric] : NAN;
    double& sum = of_type[static_cast<size_t>(term.type) + (term.tensor ? 16 : 0)];
    sum += part;
    flops += part;
    if (sum > most) {
      most = sum;
      numbers.type = term.type;
      numbers.peak = term.peak;
    }
  }
  const bool instructions = tensor_instructions_ != kNone && !tensor_;
  numbers.tensor_unknown = instructions && values[tensor_instructions_] != 0;  // or NaN
  if (!terms_.empty() && is_number(flops) && !numbers.tensor_unknown) {
    numbers.flops = flops;
    numbers.tensor_only = !vector_;
    numbers.vector_only = !tensor_ && !one_tensor_pipe_;
  } else {
    numbers.type = DataType::Unknown;
    numbers.peak.reset();
  }
  return numbers;
}

std::vector<CounterMeaning> counter_meanings(const Trace& trace) {
  std::vector<CounterMeaning> meanings;
  for (const CounterSet& set : trace.counters.sets) meanings.emplace_back(trace, set);
  return meanings;
}

}  // namespace prof::analyzer
