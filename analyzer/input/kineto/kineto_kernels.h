// Kernels of a trace.
#pragma once

#include "analyzer/model/trace.h"

#include <cstddef>
#include <cstdint>
#include <unordered_map>

namespace prof::analyzer {

// KinetoKernels has one row of Trace::kernels for each name and launch shape of the file.
class KinetoKernels {
 public:
  explicit KinetoKernels(Trace& trace) : trace_(trace) {}
  KernelId row(const Kernel& kernel);

 private:
  struct Hash {
    size_t operator()(const Kernel& kernel) const;
  };
  struct Equal {
    bool operator()(const Kernel& a, const Kernel& b) const;
  };
  Trace& trace_;
  std::unordered_map<Kernel, uint32_t, Hash, Equal> rows_;
};

}  // namespace prof::analyzer
