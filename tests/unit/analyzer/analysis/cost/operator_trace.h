// Traces of torch.profiler for tests: operators with shapes and the kernels that they launched.
#pragma once

#include "analyzer/analysis/cost/kernel_costs.h"
#include "tests/unit/analyzer/input/kineto/kineto_text.h"

#include <fmt/format.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace prof::tests {

// Operators on one thread, each with kernels launched inside it.
class TraceText {
 public:
  // Times in µs; `arguments`: members of args.
  TraceText& op(std::string_view name, int begin, int end, std::string_view arguments = "") {
    return event("cpu_op", name, begin, end, 11, fmt::format("\"External id\":{}{}", ++ids_, arguments));
  }
  // An annotation of the program: record_function().
  TraceText& range(std::string_view name, int begin, int end) {
    return event("user_annotation", name, begin, end, 11, fmt::format("\"External id\":{}", ++ids_));
  }
  TraceText& kernel(std::string_view name, int launched, int start, int end, int device = 0,
                    std::string_view arguments = "") {
    ++ids_;
    event("cuda_runtime", "cudaLaunchKernel", launched, launched + 1, 11,
          fmt::format(",\"correlation\":{}", ids_).substr(1));
    text_ += fmt::format(
        R"(,{{"ph":"X","cat":"kernel","name":"{}","pid":{},"tid":7,"ts":{},"dur":{},"args":{{"correlation":{},)"
        R"("device":{},"stream":7,"grid":[1,1,1],"block":[32,1,1]{}}}}})",
        name, device, start, end - start, ids_, device, arguments);
    return *this;
  }
  std::unique_ptr<Trace> import(std::string_view device = "NVIDIA H200") const {
    return import_text(fmt::format(R"({{"deviceProperties":[{{"id":0,"name":"{}","numSms":132}}],"traceEvents":[{}]}})",
                                   device, text_.substr(1)));
  }

 private:
  TraceText& event(std::string_view category, std::string_view name, int begin, int end, int tid,
                   std::string_view arguments) {
    text_ += fmt::format(R"(,{{"ph":"X","cat":"{}","name":"{}","pid":10,"tid":{},"ts":{},"dur":{},"args":{{{}}}}})",
                         category, name, tid, begin, end - begin, arguments);
    return *this;
  }
  std::string text_;
  int ids_ = 0;
};

inline constexpr std::string_view kMm =
    R"(,"Input Dims":[[64,32],[32,16]],"Input type":["float","float"],"Concrete Inputs":["",""])";
inline constexpr uint64_t kMmFlops = 2 * 64 * 32 * 16, kMmBytes = (64 * 32 + 32 * 16 + 64 * 16) * 4;

// The costs by the kernel's full name.
inline std::map<std::string, KernelCost> costs_by_name(const Trace& trace, DataType assumed = DataType::Unknown) {
  const Views views(trace);
  const KernelCosts costs(trace, views, assumed);
  std::map<std::string, KernelCost> found;
  for (uint32_t row = 0; row < trace.operations.size(); ++row)
    found[std::string(views.names().name(trace.operations[row], NameForm::Full))] = costs.of(row);
  return found;
}

}  // namespace prof::tests
