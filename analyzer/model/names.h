// The three forms of a kernel's name. Mangled: as recorded. Full: demangled, with signature and template arguments.
// Short: only the qualified function name; different kernels with equal short names get "#1", "#2" …. `extern "C"`
// and Triton names are the same in all forms. Used by every writer; created once per model.
#pragma once

#include "analyzer/model/trace.h"

#include <string>
#include <string_view>
#include <vector>

namespace prof::analyzer {

enum class NameForm { Short, Full, Mangled };

// "void ns::f<int>(float*)" -> "ns::f". A text that is no C++ signature is returned unchanged.
std::string short_function_name(std::string_view text);

// Demangles names that begin with _Z. Other names, and names that cannot be demangled, are returned unchanged.
std::string demangled_name(std::string_view name);

class KernelNames {
 public:
  explicit KernelNames(const Trace& trace);

  // Valid as long as this object. A kernel without a name is "[unknown kernel]".
  std::string_view name(KernelId kernel, NameForm form) const;
  std::string_view name(const GpuOperation& operation, NameForm form) const;
  // The KernelId that has the kernel's name: that of the GPU's record, else that of the launch.
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

// The name of any GPU operation: the kernel's name, "[CUDA memcpy HtoD]" or "[CUDA memset]".
std::string_view operation_name(const KernelNames& names, const GpuOperation& operation, NameForm form);
// Equal for operations with one name: by the kernel that names kernels, by the kind of copies, one for all memsets.
uint64_t operation_name_key(const KernelNames& names, const GpuOperation& operation);
// operation_name() of every operation with that key.
std::string_view name_of_key(const KernelNames& names, uint64_t key, NameForm form);
// The name that Kineto uses: the kernel's full name, "Memcpy HtoD (Pageable -> Device)", "Memset (Device)".
std::string kineto_name(const KernelNames& names, const GpuOperation& operation);

// CUPTI's copy kinds: "HtoD", "DtoH", "PtoP" …; "?" for unknown numbers. 11, 12 and 13, nsys's numbers for migrations
// of unified memory, are "HtoD", "DtoH" and "DtoD".
std::string_view copy_kind_name(uint32_t copy_kind);
// The same, but a migration of unified memory is "Unified Memory HtoD", as operation_name() tells it from a copy.
std::string_view copy_direction_name(uint32_t copy_kind);
// CUPTI's memory kinds: "Pageable", "Device" …; "Unknown" for 0 and unknown numbers.
std::string_view memory_kind_name(uint32_t memory_kind);

// "cuMemAlloc_v2" -> "cuMemAlloc", "cuLaunchKernel_ptsz" -> "cuLaunchKernel": the name that nvprof and Kineto show.
std::string_view plain_api_name(std::string_view name);

}  // namespace prof::analyzer
