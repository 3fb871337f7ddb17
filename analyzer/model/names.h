// The three forms of a kernel's name. Mangled: as recorded. Full: demangled, with signature and template arguments.
// Short: only the qualified function name; names of different kernels that become equal get "#1", "#2" …
// `extern "C"` and Triton names are the same in all forms. Called by every writer; made once per model.
#pragma once

#include "analyzer/model/trace.h"

#include <string>
#include <string_view>
#include <vector>

namespace prof::analyzer {

enum class NameForm { Short, Full, Mangled };

// "void ns::f<int>(float*)" -> "ns::f". Texts that are no C++ signature come back unchanged.
std::string short_function_name(std::string_view text);

// Demangles what starts with _Z; everything else, and what cannot be demangled, comes back unchanged.
std::string demangled_name(std::string_view name);

class KernelNames {
 public:
  explicit KernelNames(const Trace& trace);

  // Valid as long as this object. A kernel without a name is "[unknown kernel]".
  std::string_view name(KernelId kernel, NameForm form) const;
  std::string_view name(const GpuOperation& operation, NameForm form) const;
  // Where the kernel's name is: in the GPU's record, else in the launch.
  KernelId named_by(const GpuOperation& operation) const;

 private:
  struct Forms {
    std::string full;
    std::string short_name;
  };
  const Trace& trace_;
  std::vector<Forms> by_kernel_name_;  // one entry per distinct name
  std::vector<uint32_t> of_kernel_;    // KernelId -> entry
};

// The name of any GPU operation: the kernel's, "[CUDA memcpy HtoD]" or "[CUDA memset]".
std::string_view operation_name(const KernelNames& names, const GpuOperation& operation, NameForm form);
// The name Kineto gives it: the kernel's full name, "Memcpy HtoD (Pageable -> Device)", "Memset (Device)".
std::string kineto_name(const KernelNames& names, const GpuOperation& operation);

// CUPTI's copy kinds: "HtoD", "DtoD", "PtoP" …; "?" for numbers not known. 11, 12 and 13, nsys's numbers for migrations of
// unified memory, are "HtoD", "DtoH" and "DtoD".
std::string_view copy_kind_name(uint32_t copy_kind);
// CUPTI's memory kinds: "Pageable", "Device" …; "Unknown" for 0 and numbers not known.
std::string_view memory_kind_name(uint32_t memory_kind);

// "cuMemAlloc_v2" -> "cuMemAlloc", "cuLaunchKernel_ptsz" -> "cuLaunchKernel": the name nvprof and Kineto show.
std::string_view plain_api_name(std::string_view name);

}  // namespace prof::analyzer
